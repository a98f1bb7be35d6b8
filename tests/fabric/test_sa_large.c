/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric of 2,000 hosts, as host hca2: a service on most of them, one of very many records, sweeps under way. */
#include <infiniband/ib.h>
#include <rdma/rai.h>
#include <stdio.h>

#include "fabric.h"
#include "test.h"

enum { HOSTS = 1700, RECORDS = 10000, SHOWN = 4096, ROUNDS = 4 };

static struct rdma_cm_id *bound_id(void)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id = NULL;

	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	return id;
}

/* Returns how many there are; *ret_found is how many the SA had, *ret_routes how many have a route. */
static unsigned resolve(struct rdma_cm_id *id, const char *name, int flags, uint64_t *ret_found, unsigned *ret_routes)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | flags }, *list;
	unsigned count = 0;

	assert_int_equal(rdma_resolve_addrinfo(id, NULL, name, &hints), 0);
	*ret_found = id->event->param.arg;
	*ret_routes = 0;
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next, count++)
		*ret_routes += ai->ai_route_len > 0;
	rdma_freeaddrinfo(list);
	return count;
}

static void test_service_of_most_hosts_has_a_route_to_each(void **state)
{
	struct rdma_cm_id *id = bound_id();
	struct rai_stats before, after;
	unsigned routes;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca2", "-n farm -i 0x5000 -g fe80::10:1 -c %d -s 2", HOSTS), 0);
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	assert_int_equal(resolve(id, "farm", 0, &found, &routes), HOSTS);
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(found, HOSTS);
	assert_int_equal(routes, HOSTS);
	/* Records and paths, and repeats of those where the machine is busy. */
	assert_uint_in_range(after.sa_queries - before.sa_queries, 2, 40);
	assert_int_equal(rdma_destroy_id(id), 0);
}

static void test_service_of_very_many_records_tells_how_many(void **state)
{
	struct rdma_cm_id *id = bound_id();
	unsigned routes;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n heap -i 0x100000 -c %d", RECORDS), 0);
	assert_int_equal(resolve(id, "heap", RAI_NOROUTE, &found, &routes), SHOWN);
	assert_int_equal(found, RECORDS);
	/* One among them is found as any other. */
	assert_int_equal(resolve(id, "0x101234", 0, &found, &routes), 1);
	assert_int_equal(routes, 1);
	assert_int_equal(rdma_destroy_id(id), 0);
}

static void test_service_is_found_while_the_sm_sweeps(void **state)
{
	struct rdma_cm_id *id = bound_id();
	unsigned routes;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n one -i 0x51"), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		int pid = rcm_fabric_start("link %s hca%u", i % 2 ? "up" : "down", 20 + i / 2);

		for (unsigned asked = 0; asked < 20; asked++)
			assert_int_equal(resolve(id, "one", 0, &found, &routes), 1);
		assert_int_equal(rcm_fabric_wait(pid), 0);
	}
	assert_int_equal(rdma_destroy_id(id), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_of_most_hosts_has_a_route_to_each),
		cmocka_unit_test(test_service_of_very_many_records_tells_how_many),
		cmocka_unit_test(test_service_is_found_while_the_sm_sweeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
