/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of rdma_getaddrinfo(), as rdma-core and getaddrinfo() take them. */
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "addr/gai.h"
#include "test.h"

static struct rcm_gai gai;

static int take(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	gai = (struct rcm_gai){ .node = node, .service = service };
	return rcm_gai_take(&gai, hints);
}

static int take_of(const char *node, const char *service, int flags, int family, int type, int space)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags, .ai_family = family, .ai_qp_type = type, .ai_port_space = space,
	};

	return take(node, service, &hints);
}

static void test_gai_with_nothing_at_all_is_refused(void **state)
{
	(void)state;
	assert_int_equal(take(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(take("host", NULL, NULL), 0);
	assert_string_equal(gai.node, "host");
	assert_int_equal(gai.eai, 0);
}

static void test_gai_passes_over_what_nobody_knows(void **state)
{
	(void)state;
	assert_int_equal(take_of("host", "http", 0x40 | RAI_PASSIVE, AF_INET, 99, 0x7777), 0);
	assert_int_equal(gai.eai, 0);
	assert_int_equal(gai.hints.flags, RAI_PASSIVE);
	assert_int_equal(gai.hints.qp_type, 99);
	assert_int_equal(gai.hints.port_space, 0x7777);
}

static void test_gai_with_an_empty_service_asks_for_port_0(void **state)
{
	(void)state;
	assert_int_equal(take("host", "", NULL), 0);
	assert_string_equal(gai.service, "0");
}

static void test_gai_whose_node_cannot_be_looked_up_asks_for_the_service_first(void **state)
{
	char node[300];

	(void)state;
	memset(node, 'a', sizeof(node));
	node[254] = '\0';
	assert_int_equal(take(node, "http", NULL), 0);
	assert_null(gai.node);
	assert_string_equal(gai.service, "http");
	assert_int_equal(gai.eai, EAI_NONAME);
	assert_int_equal(take_of("", NULL, 0, 0, 0, 0), 0);
	assert_int_equal(gai.eai, EAI_NONAME);
	assert_int_equal(take_of("host", "http", RAI_NUMERICHOST, 0, 0, 0), 0);
	assert_null(gai.node);
	assert_int_equal(gai.eai, EAI_NONAME);
}

static void test_gai_digits_of_no_address_are_no_name_of_ipv4(void **state)
{
	(void)state;
	assert_int_equal(take_of("1.2.3.256", NULL, 0, AF_INET, 0, 0), 0);
	assert_int_equal(gai.eai, EAI_NONAME);
	assert_int_equal(take_of("1.2.3.4", NULL, 0, AF_INET, 0, 0), 0);
	assert_int_equal(gai.eai, 0);
	assert_int_equal(take_of("1.2.3.256.", NULL, 0, AF_INET, 0, 0), 0);
	assert_int_equal(gai.eai, 0);
	assert_int_equal(take_of("1.2.3.256", NULL, 0, AF_UNSPEC, 0, 0), 0);
	assert_int_equal(gai.eai, 0);
}

static void test_gai_with_af_ib_filters_for_a_gid_alone(void **state)
{
	(void)state;
	assert_int_equal(take_of("fe80::1", NULL, RAI_FAMILY | RAI_NUMERICHOST, AF_IB, 0, 0), 0);
	assert_int_equal(gai.hints.family, AF_IB);
	assert_int_equal(take_of("fe80::1", NULL, RAI_FAMILY, AF_IB, 0, 0), 0);
	assert_int_equal(gai.hints.family, AF_UNSPEC);
	assert_int_equal(take_of("192.0.2.1", NULL, RAI_FAMILY | RAI_NUMERICHOST, AF_IB, 0, 0), 0);
	assert_int_equal(gai.eai, EAI_NONAME);
}

static void test_gai_of_a_family_or_sockets_that_are_none_ends_at_once(void **state)
{
	(void)state;
	assert_int_equal(take_of("host", "http", 0, AF_UNIX, 0, 0), 0);
	assert_int_equal(gai.eai, EAI_FAMILY);
	assert_null(gai.service);
	assert_int_equal(take_of("host", "http", 0, 0, IBV_QPT_UD, RDMA_PS_TCP), 0);
	assert_int_equal(gai.eai, EAI_SOCKTYPE);
	assert_null(gai.service);
}

static void test_gai_hints_alone_are_taken_as_they_are(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = 5 };
	struct rdma_addrinfo hints = {
		.ai_flags = 0x40, .ai_family = AF_UNIX, .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP,
		.ai_dst_addr = (struct sockaddr *)&in, .ai_dst_len = sizeof(in),
	};

	(void)state;
	assert_int_equal(take(NULL, NULL, &hints), 0);
	assert_int_equal(gai.eai, 0);
	assert_int_equal(gai.hints.flags, 0x40);
	assert_int_equal(gai.hints.family, AF_UNIX);
	assert_int_equal(gai.hints.qp_type, IBV_QPT_UD);
	assert_int_equal(gai.hints.port_space, RDMA_PS_TCP);
	assert_int_equal(gai.dst.in.sin_port, 5);
	hints.ai_dst_len = 4;
	assert_int_equal(take(NULL, NULL, &hints), -EINVAL);
	assert_int_equal(take("host", NULL, &hints), 0);
}

static void test_gai_looks_services_up_by_type_then_by_space(void **state)
{
	(void)state;
	assert_int_equal(take_of("host", "http", 0, 0, IBV_QPT_XRC_SEND, 0), 0);
	assert_int_equal(gai.hints.socket_type, SOCK_STREAM);
	assert_false(rcm_gai_datagram(&gai));
	assert_int_equal(take_of("host", "http", 0, 0, 0, RDMA_PS_IPOIB), 0);
	assert_int_equal(gai.hints.socket_type, SOCK_DGRAM);
	assert_int_equal(gai.hints.qp_type, IBV_QPT_UD);
	assert_false(rcm_gai_datagram(&gai));
	assert_int_equal(take_of("host", "http", 0, 0, IBV_QPT_UD, 0), 0);
	assert_int_equal(gai.hints.port_space, RDMA_PS_UDP);
}

static void test_gai_open_for_both_is_asked_for_datagrams_where_there_are_no_streams(void **state)
{
	(void)state;
	assert_int_equal(take("host", "tftp", NULL), 0);
	assert_int_equal(gai.hints.socket_type, SOCK_STREAM);
	assert_int_equal(gai.hints.qp_type, 0);
	assert_true(rcm_gai_datagram(&gai));
	assert_int_equal(gai.hints.socket_type, SOCK_DGRAM);
	assert_int_equal(gai.hints.qp_type, IBV_QPT_UD);
	assert_int_equal(gai.hints.port_space, RDMA_PS_UDP);
	assert_false(rcm_gai_datagram(&gai));
}

static void test_gai_of_the_sa_is_taken_as_of_a_resolution(void **state)
{
	(void)state;
	assert_int_equal(take_of("host", "http", RAI_SA, 0, 0, 0), -ENOTSUP);
	assert_int_equal(take_of(NULL, "http", RAI_SA | 0x40, 0, 0, 0), -EINVAL);
	assert_int_equal(take_of(NULL, "storage", RAI_SA, 0, 0, 0), 0);
	assert_int_equal(gai.hints.flags, RAI_SA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gai_with_nothing_at_all_is_refused),
		cmocka_unit_test(test_gai_passes_over_what_nobody_knows),
		cmocka_unit_test(test_gai_with_an_empty_service_asks_for_port_0),
		cmocka_unit_test(test_gai_whose_node_cannot_be_looked_up_asks_for_the_service_first),
		cmocka_unit_test(test_gai_digits_of_no_address_are_no_name_of_ipv4),
		cmocka_unit_test(test_gai_with_af_ib_filters_for_a_gid_alone),
		cmocka_unit_test(test_gai_of_a_family_or_sockets_that_are_none_ends_at_once),
		cmocka_unit_test(test_gai_hints_alone_are_taken_as_they_are),
		cmocka_unit_test(test_gai_looks_services_up_by_type_then_by_space),
		cmocka_unit_test(test_gai_open_for_both_is_asked_for_datagrams_where_there_are_no_streams),
		cmocka_unit_test(test_gai_of_the_sa_is_taken_as_of_a_resolution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
