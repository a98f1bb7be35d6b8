/* SPDX-License-Identifier: BSD-2-Clause */
/* Checking of a resolution's arguments. */
#include <errno.h>

#include <rdma/rai.h>
#include <sys/socket.h>

#include "addr/hints.h"
#include "test.h"

static struct rcm_hints out;

static int check(const char *node, const char *service, int flags, int family, int qp_type, int space)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags, .ai_family = family, .ai_qp_type = qp_type, .ai_port_space = space,
	};

	return rcm_hints_check(node, service, &hints, &out);
}

static void filled(char *buf, size_t len)
{
	memset(buf, 'a', len);
	buf[len] = '\0';
}

static void test_hints_with_nothing_to_resolve_are_refused(void **state)
{
	struct rdma_addrinfo hints = { 0 };

	(void)state;
	assert_int_equal(rcm_hints_check(NULL, NULL, NULL, &out), -EINVAL);
	assert_int_equal(rcm_hints_check(NULL, NULL, &hints, &out), 0);
	assert_int_equal(rcm_hints_check("host", NULL, NULL, &out), 0);
	assert_int_equal(rcm_hints_check(NULL, "http", NULL, &out), 0);
}

static void test_hints_with_empty_strings_are_refused(void **state)
{
	(void)state;
	assert_int_equal(rcm_hints_check("", "http", NULL, &out), -EINVAL);
	assert_int_equal(rcm_hints_check("host", "", NULL, &out), -EINVAL);
	assert_int_equal(check(NULL, "", RAI_SA, 0, 0, 0), -EINVAL);
}

static void test_hints_with_an_unknown_flag_or_family_are_refused(void **state)
{
	(void)state;
	assert_int_equal(check("host", NULL, 0, AF_UNIX, 0, 0), -EINVAL);
	for (unsigned bit = 0; bit < 32; bit++) {
		int flag = (int)(1u << bit);
		bool known = flag & (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_SA | RAI_DNS | RAI_SRV);

		assert_int_equal(check(flag == RAI_SA ? NULL : "10.0.0.1", "storage", flag, 0, 0, 0), known ? 0 : -EINVAL);
		if (known)
			assert_int_equal(out.flags, flag);
	}
}

static void test_hints_for_srv_records_want_a_domain_and_nothing_that_contradicts(void **state)
{
	(void)state;
	assert_int_equal(check("dom", "nfs", RAI_SRV, 0, 0, 0), 0);
	assert_int_equal(check("dom", NULL, RAI_SRV | RAI_DNS | RAI_NOROUTE, AF_INET6, 0, RDMA_PS_UDP), 0);
	assert_int_equal(check(NULL, "nfs", RAI_SRV, 0, 0, 0), -EINVAL);
	assert_int_equal(check(NULL, NULL, RAI_SRV, 0, 0, 0), -EINVAL);
	assert_int_equal(check("dom", "nfs", RAI_SRV | RAI_PASSIVE, 0, 0, 0), -EINVAL);
	assert_int_equal(check("10.0.0.1", "nfs", RAI_SRV | RAI_NUMERICHOST, 0, 0, 0), -EINVAL);
	assert_int_equal(check("dom", "nfs", RAI_SRV | RAI_FAMILY, AF_IB, 0, 0), -EINVAL);
	assert_int_equal(check(NULL, "nfs", RAI_SRV | RAI_SA, 0, 0, 0), -ENOTSUP);
}

static void test_hints_of_queue_pair_type_and_port_space_settle_each_other_or_are_refused(void **state)
{
	enum { RC = IBV_QPT_RC, UC = IBV_QPT_UC, UD = IBV_QPT_UD, SEND = IBV_QPT_XRC_SEND, RECV = IBV_QPT_XRC_RECV };
	enum { TCP = RDMA_PS_TCP, UDP = RDMA_PS_UDP, IPOIB = RDMA_PS_IPOIB, IB = RDMA_PS_IB };
	enum { STREAM = SOCK_STREAM, DGRAM = SOCK_DGRAM, NONE = -1 };
	/* What is given, and what it is then; a socket of NONE: they contradict, or one of them is none. */
	static const struct { int type, space, settled_type, settled_space, socket; } rows[] = {
		{ 0, 0, 0, 0, 0 }, { 0, TCP, RC, TCP, STREAM }, { 0, UDP, UD, UDP, DGRAM },
		{ 0, IPOIB, UD, IPOIB, DGRAM }, { 0, IB, RC, IB, STREAM }, { 0, 77, 0, 0, NONE },
		{ RC, 0, RC, TCP, STREAM }, { RC, TCP, RC, TCP, STREAM }, { RC, UDP, 0, 0, NONE },
		{ RC, IPOIB, 0, 0, NONE }, { RC, IB, RC, IB, STREAM }, { RC, 77, 0, 0, NONE },
		{ UC, 0, UC, TCP, STREAM }, { UC, TCP, UC, TCP, STREAM }, { UC, UDP, 0, 0, NONE },
		{ UD, 0, UD, UDP, DGRAM }, { UD, TCP, 0, 0, NONE }, { UD, UDP, UD, UDP, DGRAM },
		{ UD, IPOIB, UD, IPOIB, DGRAM }, { UD, IB, UD, IB, DGRAM }, { UD, 77, 0, 0, NONE },
		{ SEND, 0, SEND, TCP, STREAM }, { SEND, TCP, SEND, TCP, STREAM }, { SEND, UDP, 0, 0, NONE },
		{ RECV, 0, RECV, TCP, STREAM }, { RECV, IB, RECV, IB, STREAM }, { RECV, IPOIB, 0, 0, NONE },
		{ 77, 0, 0, 0, NONE }, { 77, TCP, 0, 0, NONE }, { 77, UDP, 0, 0, NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int ret = check("host", NULL, 0, 0, rows[i].type, rows[i].space);

		assert_int_equal(ret, rows[i].socket == NONE ? -EINVAL : 0);
		if (ret)
			continue;
		assert_int_equal(out.qp_type, rows[i].settled_type);
		assert_int_equal(out.port_space, rows[i].settled_space);
		assert_int_equal(out.socket_type, rows[i].socket);
	}
}

static void test_hints_numeric_host_takes_numbers_of_any_family_only(void **state)
{
	(void)state;
	assert_int_equal(check("host", NULL, RAI_NUMERICHOST, 0, 0, 0), -EINVAL);
	assert_int_equal(check("127.0.0.1", NULL, RAI_NUMERICHOST, 0, 0, 0), 0);
	assert_int_equal(check("127.0.0.1", NULL, RAI_NUMERICHOST, AF_INET6, 0, 0), 0);
	assert_int_equal(check("fe80::1", NULL, RAI_NUMERICHOST | RAI_FAMILY, AF_IB, 0, 0), 0);
	assert_int_equal(check("127.0.0.1", NULL, RAI_NUMERICHOST | RAI_FAMILY, AF_IB, 0, 0), -EINVAL);
}

static void test_hints_of_a_node_over_253_characters_are_too_long(void **state)
{
	char node[300];

	(void)state;
	filled(node, 253);
	assert_int_equal(rcm_hints_check(node, NULL, NULL, &out), 0);
	filled(node, 254);
	assert_int_equal(rcm_hints_check(node, NULL, NULL, &out), -ENAMETOOLONG);
}

static void test_hints_of_the_sa_need_a_service_and_exclude_names(void **state)
{
	(void)state;
	assert_int_equal(check(NULL, NULL, RAI_SA, 0, 0, 0), -EINVAL);
	assert_int_equal(check("host", "storage", RAI_SA, 0, 0, 0), -ENOTSUP);
	assert_int_equal(check(NULL, "storage", RAI_SA | RAI_DNS, 0, 0, 0), -ENOTSUP);
	assert_int_equal(check(NULL, "storage", RAI_SA, 0, 0, 0), 0);
	assert_false(out.by_id);
}

static void test_hints_of_the_sa_tell_ids_from_names(void **state)
{
	char service[80];

	(void)state;
	assert_int_equal(check(NULL, "0x1000000000000001", RAI_SA, 0, 0, 0), 0);
	assert_true(out.by_id);
	assert_int_equal(out.service_id, 0x1000000000000001);
	assert_int_equal(check(NULL, "18446744073709551616", RAI_SA, 0, 0, 0), -EINVAL);
	filled(service, 63);
	assert_int_equal(check(NULL, service, RAI_SA, 0, 0, 0), 0);
	filled(service, 64);
	assert_int_equal(check(NULL, service, RAI_SA, 0, 0, 0), -ENAMETOOLONG);
	/* However a number is written. */
	memset(service, '0', 78);
	strcpy(service + 78, "7");
	assert_int_equal(check(NULL, service, RAI_SA, 0, 0, 0), 0);
	assert_int_equal(out.service_id, 7);
}

static void test_hints_source_address_is_copied_and_checked(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = 5 };
	struct rdma_addrinfo hints = { .ai_src_addr = (struct sockaddr *)&in, .ai_src_len = sizeof(in) };

	(void)state;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), 0);
	in.sin_port = 0;
	assert_int_equal(out.src.in.sin_port, 5);
	hints.ai_src_len = 8;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), -EINVAL);
	hints.ai_src_len = sizeof(in);
	in.sin_family = AF_UNIX;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), -EINVAL);
	in.sin_family = AF_UNSPEC;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), 0);
	assert_int_equal(out.src.sa.sa_family, AF_UNSPEC);
	hints.ai_src_len = sizeof(in.sin_family);
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), 0);
	hints.ai_src_len = 1;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), -EINVAL);
	hints.ai_src_len = sizeof(in);
	hints.ai_src_addr = NULL;
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), -EINVAL);
	in.sin_family = AF_INET;
	hints = (struct rdma_addrinfo){ .ai_src_addr = (struct sockaddr *)&in };
	assert_int_equal(rcm_hints_check("host", NULL, &hints, &out), 0);
	assert_int_equal(out.src.sa.sa_family, AF_UNSPEC);
}

static void test_hints_refused_leave_the_output_alone(void **state)
{
	(void)state;
	memset(&out, 0x5a, sizeof(out));
	assert_int_equal(check("host", NULL, 0x40, 0, 0, 0), -EINVAL);
	assert_int_equal(check("host", NULL, 0, 0, IBV_QPT_UD, RDMA_PS_TCP), -EINVAL);
	assert_int_equal(out.flags, 0x5a5a5a5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints_with_nothing_to_resolve_are_refused),
		cmocka_unit_test(test_hints_with_empty_strings_are_refused),
		cmocka_unit_test(test_hints_with_an_unknown_flag_or_family_are_refused),
		cmocka_unit_test(test_hints_for_srv_records_want_a_domain_and_nothing_that_contradicts),
		cmocka_unit_test(test_hints_of_queue_pair_type_and_port_space_settle_each_other_or_are_refused),
		cmocka_unit_test(test_hints_numeric_host_takes_numbers_of_any_family_only),
		cmocka_unit_test(test_hints_of_a_node_over_253_characters_are_too_long),
		cmocka_unit_test(test_hints_of_the_sa_need_a_service_and_exclude_names),
		cmocka_unit_test(test_hints_of_the_sa_tell_ids_from_names),
		cmocka_unit_test(test_hints_source_address_is_copied_and_checked),
		cmocka_unit_test(test_hints_refused_leave_the_output_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
