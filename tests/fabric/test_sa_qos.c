/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes on a fabric whose policy gives one service a service level of its own (qos-policy.conf). */
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <endian.h>
#include <rdma/rai.h>

#include "fabric.h"
#include "test.h"

/* The service level of the route to a service that is registered with this id. */
static unsigned level_of(const char *name, const char *id_text)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;
	const struct ibv_path_data *route;
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id;
	unsigned level;

	assert_int_equal(rcm_fabric_records("hca3", "-n %s -i %s", name, id_text), 0);
	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, NULL, name, &hints), 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	assert_int_equal(list->ai_route_len, sizeof(*route));
	route = list->ai_route;
	level = be16toh(route->path.qosclass_sl) & 0xf;
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_destroy_id(id), 0);
	return level;
}

static void test_route_has_the_service_level_that_the_policy_gives_its_service(void **state)
{
	(void)state;
	assert_int_equal(level_of("fast", "0x77"), 3);
	assert_int_equal(level_of("plain", "0x78"), 0);
}

/* The record is found, the path is in the partition that both ends share, and both addresses say which. */
static void test_route_to_a_record_without_pkey_names_a_partition(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;
	struct sockaddr_ib own = { .sib_family = AF_IB };
	const struct ibv_path_data *route;
	struct rdma_cm_id *id;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n nokey -i 0x79 -p 0"), 0);
	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, NULL, "nokey", &hints), 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	assert_int_equal(list->ai_route_len, sizeof(*route));
	route = list->ai_route;
	assert_int_not_equal(route->path.pkey, 0);
	assert_int_equal(((struct sockaddr_ib *)list->ai_dst_addr)->sib_pkey, route->path.pkey);
	assert_int_equal(((struct sockaddr_ib *)list->ai_src_addr)->sib_pkey, route->path.pkey);
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_destroy_id(id), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_route_has_the_service_level_that_the_policy_gives_its_service),
		cmocka_unit_test(test_route_to_a_record_without_pkey_names_a_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
