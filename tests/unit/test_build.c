/* SPDX-License-Identifier: BSD-2-Clause */
/* Making of rdma_addrinfo lists. */
#include <arpa/inet.h>
#include <rdma/rai.h>

#include "addr/build.h"
#include "test.h"

static struct rcm_result results[2];
static struct rdma_addrinfo *list;

static int setup(void **state)
{
	(void)state;
	memset(results, 0, sizeof(results));
	list = NULL;
	rcm_sockaddr_parse("192.0.2.1", AF_INET, &results[0].dst);
	rcm_sockaddr_parse("fe80::1%9", AF_INET6, &results[1].dst);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_addrinfo_free(list);
	return 0;
}

/* F6: all of them, in order, each fully filled. */
static void test_build_chains_all_results_in_order_with_port_and_lengths(void **state)
{
	struct rcm_hints hints = { 0 };
	struct sockaddr_in6 *in6;

	(void)state;
	assert_int_equal(rcm_addrinfo_build(&hints, 7471, results, 2, "canon.example", &list), 0);
	assert_int_equal(list->ai_family, AF_INET);
	assert_int_equal(list->ai_qp_type, IBV_QPT_RC);
	assert_int_equal(list->ai_port_space, RDMA_PS_TCP);
	assert_int_equal(list->ai_dst_len, sizeof(struct sockaddr_in));
	assert_int_equal(((struct sockaddr_in *)list->ai_dst_addr)->sin_port, htons(7471));
	assert_string_equal(list->ai_dst_canonname, "canon.example");
	assert_null(list->ai_src_addr);
	assert_int_equal(list->ai_next->ai_family, AF_INET6);
	assert_int_equal(list->ai_next->ai_dst_len, sizeof(struct sockaddr_in6));
	in6 = (struct sockaddr_in6 *)list->ai_next->ai_dst_addr;
	assert_int_equal(in6->sin6_port, htons(7471));
	assert_int_equal(in6->sin6_scope_id, 9);
	assert_null(list->ai_next->ai_dst_canonname);
	assert_null(list->ai_next->ai_next);
}

static void test_build_passive_gives_source_addresses(void **state)
{
	struct rcm_hints hints = {
		.flags = RAI_PASSIVE, .qp_type = IBV_QPT_UD, .port_space = RDMA_PS_UDP,
	};

	(void)state;
	assert_int_equal(rcm_addrinfo_build(&hints, 53, results, 1, "here", &list), 0);
	assert_null(list->ai_dst_addr);
	assert_int_equal(list->ai_dst_len, 0);
	assert_int_equal(list->ai_src_len, sizeof(struct sockaddr_in));
	assert_int_equal(((struct sockaddr_in *)list->ai_src_addr)->sin_port, htons(53));
	assert_string_equal(list->ai_src_canonname, "here");
	assert_int_equal(list->ai_flags, RAI_PASSIVE);
	assert_int_equal(list->ai_qp_type, IBV_QPT_UD);
	assert_int_equal(list->ai_port_space, RDMA_PS_UDP);
}

static void test_build_source_of_the_hints_goes_before_the_routes(void **state)
{
	struct rcm_hints hints = { 0 };

	(void)state;
	rcm_sockaddr_parse("10.0.0.1", AF_INET, &hints.src);
	rcm_sockaddr_parse("10.0.0.2", AF_INET, &results[0].src);
	rcm_sockaddr_parse("fe80::2%9", AF_INET6, &results[1].src);
	assert_int_equal(rcm_addrinfo_build(&hints, 1, results, 2, NULL, &list), 0);
	assert_true(rcm_sockaddr_equal(list->ai_src_addr, &hints.src.sa));
	assert_int_equal(list->ai_src_len, sizeof(struct sockaddr_in));
	assert_true(rcm_sockaddr_equal(list->ai_next->ai_src_addr, &results[1].src.sa));
}

static void test_build_flags_of_results_are_passive_or_none(void **state)
{
	struct rcm_hints hints = { .flags = RAI_PASSIVE | RAI_NOROUTE | RAI_FAMILY | RAI_DNS };

	(void)state;
	assert_int_equal(rcm_addrinfo_build(&hints, 1, results, 1, NULL, &list), 0);
	assert_int_equal(list->ai_flags, RAI_PASSIVE);
	rcm_addrinfo_free(list);
	hints.flags = RAI_NOROUTE | RAI_NUMERICHOST;
	assert_int_equal(rcm_addrinfo_build(&hints, 1, results, 1, NULL, &list), 0);
	assert_int_equal(list->ai_flags, 0);
}

/* Nothing was resolved: what is 0 stays so. */
static void test_build_of_what_was_given_changes_nothing(void **state)
{
	struct rcm_hints hints = { .flags = RAI_NOROUTE, .qp_type = IBV_QPT_UD };

	(void)state;
	results[0].as_given = true;
	assert_int_equal(rcm_addrinfo_build(&hints, 0, results, 1, NULL, &list), 0);
	assert_int_equal(list->ai_flags, RAI_NOROUTE);
	assert_int_equal(list->ai_family, AF_UNSPEC);
	assert_int_equal(list->ai_qp_type, IBV_QPT_UD);
	assert_int_equal(list->ai_port_space, 0);
	assert_int_equal(list->ai_dst_len, sizeof(struct sockaddr_in));
	assert_null(list->ai_src_addr);
	rcm_addrinfo_free(list);
	hints = (struct rcm_hints){ .family = AF_IB, .port_space = RDMA_PS_IPOIB };
	results[0].src = results[1].dst;
	assert_int_equal(rcm_addrinfo_build(&hints, 7, results, 1, NULL, &list), 0);
	assert_int_equal(list->ai_family, AF_IB);
	assert_int_equal(list->ai_qp_type, 0);
	assert_int_equal(list->ai_port_space, RDMA_PS_IPOIB);
	assert_true(rcm_sockaddr_equal(list->ai_dst_addr, &results[0].dst.sa));
	assert_int_equal(list->ai_src_len, sizeof(struct sockaddr_in6));
	assert_true(rcm_sockaddr_equal(list->ai_src_addr, &results[1].dst.sa));
	rcm_addrinfo_free(list);
	results[0].dst.sa.sa_family = AF_UNSPEC;
	assert_int_equal(rcm_addrinfo_build(&hints, 7, results, 1, NULL, &list), 0);
	assert_null(list->ai_dst_addr);
	assert_null(rcm_addrinfo_srv(list));
}

static void test_build_source_of_the_hints_is_left_out_for_other_families(void **state)
{
	struct rcm_hints hints = { 0 };

	(void)state;
	rcm_sockaddr_parse("10.0.0.1", AF_INET, &hints.src);
	assert_int_equal(rcm_addrinfo_build(&hints, 1, results, 2, NULL, &list), 0);
	assert_null(list->ai_next->ai_src_addr);
	assert_int_equal(list->ai_next->ai_src_len, 0);
}

/* F29: GID, P_Key, service id and mask come through unchanged. */
static void test_build_of_the_sa_keeps_service_id_and_carries_the_route(void **state)
{
	struct rcm_hints hints = { .flags = RAI_SA | RAI_PASSIVE, .port_space = RDMA_PS_TCP };
	struct ibv_path_data path = { .flags = 7, .path.slid = 5 };
	const struct ibv_path_data *route;

	(void)state;
	rcm_sockaddr_ib(&results[0].dst, (const uint8_t[16]){ 1, 2 }, 0x8001, 99, UINT64_MAX);
	rcm_sockaddr_ib(&results[1].dst, (const uint8_t[16]){ 3, 4 }, 0x8001, 98, UINT64_MAX);
	results[1].route = &path;
	results[1].routes = 1;
	assert_int_equal(rcm_addrinfo_build(&hints, 0, results, 2, "storage", &list), 0);
	assert_int_equal(list->ai_flags, RAI_SA);
	assert_int_equal(list->ai_family, AF_IB);
	assert_int_equal(list->ai_port_space, RDMA_PS_IB);
	assert_string_equal(list->ai_dst_canonname, "storage");
	assert_true(rcm_sockaddr_equal(list->ai_dst_addr, &results[0].dst.sa));
	assert_int_equal(list->ai_route_len, 0);
	route = list->ai_next->ai_route;
	assert_int_equal(list->ai_next->ai_route_len, sizeof(path));
	assert_memory_equal(route, &path, sizeof(path));
}

static void test_build_of_the_sa_keeps_the_rest_of_each_record(void **state)
{
	struct rcm_hints hints = { .flags = RAI_SA };
	struct rcm_service_rest rest = { .pkey = 0x8001, .lease = 120, .name = "storage", .data = { 1, [63] = 2 } };

	(void)state;
	rcm_sockaddr_ib(&results[0].dst, (const uint8_t[16]){ 1, 2 }, 0x8001, 99, UINT64_MAX);
	rcm_sockaddr_ib(&results[1].dst, (const uint8_t[16]){ 3, 4 }, 0x8001, 98, UINT64_MAX);
	results[1].service = &rest;
	assert_int_equal(rcm_addrinfo_build(&hints, 0, results, 2, "storage", &list), 0);
	assert_memory_equal(rcm_addrinfo_service(list->ai_next), &rest, sizeof(rest));
	assert_int_equal(rcm_addrinfo_service(list)->lease, 0);
}

enum { FULL = 3, ROUTES = 2 };

static struct ibv_path_data paths[FULL][ROUTES];
static struct rcm_service_rest services[FULL];
static struct rcm_srv_rest srvs[FULL];

static void fill(struct rcm_result full[FULL], int flags)
{
	for (unsigned i = 0; i < FULL; i++) {
		const uint8_t to[16] = { 0xfe, [15] = (uint8_t)(1 + i) }, from[16] = { 0xfe, [15] = (uint8_t)(101 + i) };

		full[i] = (struct rcm_result){ .route = paths[i], .routes = ROUTES };
		rcm_sockaddr_ib(&full[i].dst, to, 0x8001, 90 + i, UINT64_MAX);
		rcm_sockaddr_ib(&full[i].src, from, 0x8001, 0, 0);
		memset(paths[i], (int)(11 + i), sizeof(paths[i]));
		memset(&services[i], (int)(21 + i), sizeof(services[i]));
		memset(&srvs[i], (int)(31 + i), sizeof(srvs[i]));
		srvs[i].target[sizeof(srvs[i].target) - 1] = '\0';
		full[i].service = flags & RAI_SA ? &services[i] : NULL;
		full[i].srv = flags & RAI_SRV ? &srvs[i] : NULL;
	}
}

/* All is of one block of memory: each has a place of its own. */
static void test_build_with_all_that_there_can_be_keeps_every_part(void **state)
{
	static const int of[] = { 0, RAI_SA, RAI_SRV };
	struct rcm_result full[FULL];

	(void)state;
	for (size_t f = 0; f < sizeof(of) / sizeof(*of); f++) {
		struct rcm_hints hints = { .flags = of[f], .family = AF_IB };
		const struct rdma_addrinfo *ai;
		unsigned i = 0;

		fill(full, of[f]);
		assert_int_equal(rcm_addrinfo_build(&hints, 7, full, FULL, "canon.example", &list), 0);
		for (ai = list; ai; ai = ai->ai_next, i++) {
			const struct sockaddr_ib *dst = (struct sockaddr_ib *)ai->ai_dst_addr;

			assert_memory_equal(&dst->sib_addr, &full[i].dst.ib.sib_addr, 16);
			assert_true(rcm_sockaddr_equal(ai->ai_src_addr, &full[i].src.sa));
			assert_int_equal(ai->ai_dst_len, sizeof(*dst));
			assert_int_equal(ai->ai_src_len, sizeof(*dst));
			assert_int_equal(ai->ai_route_len, sizeof(paths[i]));
			assert_memory_equal(ai->ai_route, paths[i], sizeof(paths[i]));
			assert_int_equal(!!rcm_addrinfo_service(ai), of[f] == RAI_SA);
			if (of[f] == RAI_SA)
				assert_memory_equal(rcm_addrinfo_service(ai), &services[i], sizeof(services[i]));
			assert_int_equal(!!rcm_addrinfo_srv(ai), of[f] == RAI_SRV);
			if (of[f] == RAI_SRV) {
				assert_memory_equal(rcm_addrinfo_srv(ai), &srvs[i], sizeof(srvs[i]));
				assert_string_equal(ai->ai_dst_canonname, srvs[i].target);
				assert_int_equal(be64toh(dst->sib_sid) & 0xffff, srvs[i].port);
			}
		}
		assert_int_equal(i, FULL);
		if (of[f] != RAI_SRV)
			assert_string_equal(list->ai_dst_canonname, "canon.example");
		assert_null(list->ai_src_canonname);
		rcm_addrinfo_free(list);
		list = NULL;
	}
}

/* The SA was asked through this port. */
static void test_build_of_the_sa_has_the_source_of_the_record_not_of_the_hints(void **state)
{
	struct rcm_hints hints = { .flags = RAI_SA };
	struct rcm_result full[FULL];

	(void)state;
	fill(full, RAI_SA);
	rcm_sockaddr_ib(&hints.src, (const uint8_t[16]){ 9 }, 0x8001, 0, 0);
	assert_int_equal(rcm_addrinfo_build(&hints, 0, full, 1, NULL, &list), 0);
	assert_true(rcm_sockaddr_equal(list->ai_src_addr, &full[0].src.sa));
	assert_null(list->ai_dst_canonname);
}

static void test_build_of_a_name_has_no_record(void **state)
{
	struct rdma_addrinfo theirs = { .ai_flags = RAI_SA }, srv = { .ai_flags = RAI_SRV };
	struct rcm_hints hints = { .flags = RAI_PASSIVE };

	(void)state;
	assert_int_equal(rcm_addrinfo_build(&hints, 53, results, 1, NULL, &list), 0);
	assert_null(rcm_addrinfo_service(list));
	assert_null(rcm_addrinfo_srv(list));
	/* What others made is not ours. */
	assert_null(rcm_addrinfo_service(&theirs));
	theirs.ai_dst_addr = &results[0].dst.sa;
	assert_null(rcm_addrinfo_service(&theirs));
	assert_null(rcm_addrinfo_srv(&theirs));
	assert_null(rcm_addrinfo_srv(&srv));
}

static void test_build_of_a_gid_makes_the_service_id_from_port_space_and_port(void **state)
{
	struct rcm_hints hints = { .family = AF_IB };
	struct sockaddr_ib *ib;

	(void)state;
	rcm_sockaddr_ib(&results[0].dst, (const uint8_t[16]){ 1 }, 0xffff, 0, 0);
	assert_int_equal(rcm_addrinfo_build(&hints, 7471, results, 1, NULL, &list), 0);
	ib = (struct sockaddr_ib *)list->ai_dst_addr;
	assert_int_equal(be64toh(ib->sib_sid), 0x1060000 + 7471);
	assert_int_equal(be64toh(ib->sib_sid_mask), UINT64_MAX);
	rcm_addrinfo_free(list);
	assert_int_equal(rcm_addrinfo_build(&hints, 0, results, 1, NULL, &list), 0);
	ib = (struct sockaddr_ib *)list->ai_dst_addr;
	assert_int_equal(be64toh(ib->sib_sid_mask), RDMA_IB_IP_PS_MASK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_build_chains_all_results_in_order_with_port_and_lengths,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_passive_gives_source_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_source_of_the_hints_goes_before_the_routes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_flags_of_results_are_passive_or_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_what_was_given_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_source_of_the_hints_is_left_out_for_other_families,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_the_sa_keeps_service_id_and_carries_the_route,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_the_sa_keeps_the_rest_of_each_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_with_all_that_there_can_be_keeps_every_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_the_sa_has_the_source_of_the_record_not_of_the_hints,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_a_name_has_no_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_of_a_gid_makes_the_service_id_from_port_space_and_port,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
