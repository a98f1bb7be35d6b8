/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers that are kept (RAI_SA_KEEP_MS) while the fabric gets other LIDs, as host hca2. */
#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <infiniband/umad.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric.h"
#include "test.h"

static struct rdma_cm_id *id;

static unsigned own_lid(void)
{
	umad_port_t info;
	unsigned lid;

	assert_int_equal(umad_get_port(NULL, 0, &info), 0);
	lid = info.base_lid;
	umad_release_port(&info);
	return lid;
}

/* The source LID of the route to it; 0: it isn't found. */
static unsigned route_lid(const char *name)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list;
	unsigned lid = 0;

	if (rdma_resolve_addrinfo(id, NULL, name, &hints))
		return 0;
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	if (list->ai_route_len)
		lid = be16toh(((const struct ibv_path_data *)list->ai_route)->path.slid);
	rdma_freeaddrinfo(list);
	return lid;
}

/* Another SM, which gives LIDs of its own, four to each port. */
static void renumber(void)
{
	const char *folder = getenv("RAI_FABRIC_DIR");
	char path[4096];
	FILE *conf;

	assert_int_equal(rcm_fabric("sm stop"), 0);
	snprintf(path, sizeof(path), "%s/osm.conf", folder);
	conf = fopen(path, "a");
	assert_non_null(conf);
	fputs("lmc 2\nreassign_lids TRUE\n", conf);
	assert_int_equal(fclose(conf), 0);
	snprintf(path, sizeof(path), "%s/sm.hca1/guid2lid", folder);
	unlink(path);
	assert_int_equal(rcm_fabric("sm start"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n live -i 0x61"), 0);
}

static void test_answer_that_is_kept_ends_with_the_lids_it_was_for(void **state)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rai_stats before, after;
	unsigned lid = own_lid();

	(void)state;
	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n live -i 0x61"), 0);
	assert_int_equal(route_lid("live"), lid);
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	assert_int_equal(route_lid("live"), lid);
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(after.sa_queries, before.sa_queries);
	renumber();
	while (own_lid() == lid)
		assert_int_equal(rcm_fabric("on hca2 true"), 0);
	/* The ports were last looked at before all of that. */
	assert_int_equal(route_lid("live"), own_lid());
	assert_int_equal(rdma_destroy_id(id), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_that_is_kept_ends_with_the_lids_it_was_for),
	};

	assert_true(umad_init() >= 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
