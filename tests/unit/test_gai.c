/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of rdma_getaddrinfo(), as rdma-core and getaddrinfo() take them. */
#include <errno.h>
#include <netdb.h>
#include <rdma/rai.h>
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
	for (unsigned bit = 0; bit < 32; bit++) {
		int flag = (int)(1u << bit);

		if (flag & (RAI_SA | RAI_SRV))
			continue;
		assert_int_equal(take_of("10.0.0.1", "http", flag, 0, 0, 0), 0);
		assert_int_equal(gai.hints.flags, flag & (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_DNS));
	}
	assert_int_equal(take_of("host", "http", 0, AF_INET, 99, 0x7777), 0);
	assert_int_equal(gai.eai, 0);
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
	assert_int_equal(take(node + 1, "http", NULL), 0);
	assert_ptr_equal(gai.node, node + 1);
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
	static const char *const names[] = { "1.2.3.256.", ".2.3.256", "1.2.3.256a", "host" };

	(void)state;
	assert_int_equal(take_of("1.2.3.256", NULL, 0, AF_INET, 0, 0), 0);
	assert_int_equal(gai.eai, EAI_NONAME);
	assert_int_equal(take_of("1.2.3.4", NULL, 0, AF_INET, 0, 0), 0);
	assert_int_equal(gai.eai, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(take_of(names[i], NULL, 0, AF_INET, 0, 0), 0);
		assert_int_equal(gai.eai, 0);
	}
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
	/* Of a name there is no destination given, but the source. */
	hints.ai_family = hints.ai_port_space = 0;
	assert_int_equal(take("host", NULL, &hints), 0);
	hints.ai_src_addr = (struct sockaddr *)&in;
	hints.ai_src_len = sizeof(in);
	assert_int_equal(take("host", NULL, &hints), 0);
	assert_int_equal(gai.hints.src.in.sin_port, 5);
	hints.ai_src_len = 4;
	assert_int_equal(take("host", NULL, &hints), -EINVAL);
}

static void test_gai_of_queue_pair_type_and_port_space_asks_for_the_sockets_that_both_have(void **state)
{
	enum { UC = IBV_QPT_UC, UD = IBV_QPT_UD, SEND = IBV_QPT_XRC_SEND, RECV = IBV_QPT_XRC_RECV };
	enum { TCP = RDMA_PS_TCP, UDP = RDMA_PS_UDP, IPOIB = RDMA_PS_IPOIB, STREAM = SOCK_STREAM, DGRAM = SOCK_DGRAM };
	/* What is given, and what it is then; a socket of 0: they contradict. Open: it may be a datagram service, too. */
	static const struct { int type, space, settled_type, settled_space, socket; bool open; } rows[] = {
		{ 0, 0, 0, 0, STREAM, true }, { 0, TCP, 0, TCP, STREAM, false }, { 0, UDP, UD, UDP, DGRAM, false },
		{ 0, IPOIB, UD, IPOIB, DGRAM, false }, { 0, RDMA_PS_IB, 0, RDMA_PS_IB, STREAM, true },
		{ IBV_QPT_RC, 0, IBV_QPT_RC, 0, STREAM, false }, { UC, 0, UC, 0, STREAM, false },
		{ SEND, 0, SEND, 0, STREAM, false }, { RECV, 0, RECV, 0, STREAM, false },
		{ UD, 0, UD, UDP, DGRAM, false }, { UD, 0x77, UD, 0x77, DGRAM, false }, { 99, 0, 99, 0, STREAM, true },
		{ 99, UDP, 99, UDP, DGRAM, false }, { UC, TCP, UC, TCP, STREAM, false }, { UD, UDP, UD, UDP, DGRAM, false },
		{ UD, IPOIB, UD, IPOIB, DGRAM, false }, { UC, 0x77, UC, 0x77, STREAM, false },
		{ IBV_QPT_RC, UDP, 0, 0, 0, false }, { RECV, IPOIB, 0, 0, 0, false }, { UD, TCP, 0, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(take_of("host", "http", 0, 0, rows[i].type, rows[i].space), 0);
		assert_int_equal(gai.eai, rows[i].socket ? 0 : EAI_SOCKTYPE);
		if (gai.eai)
			continue;
		assert_int_equal(gai.hints.socket_type, rows[i].socket);
		assert_int_equal(gai.hints.qp_type, rows[i].settled_type);
		assert_int_equal(gai.hints.port_space, rows[i].settled_space);
		assert_int_equal(rcm_gai_datagram(&gai), rows[i].open);
		assert_int_equal(gai.hints.socket_type, rows[i].open ? DGRAM : rows[i].socket);
	}
}

static void test_gai_open_for_both_is_asked_for_datagrams_where_there_are_no_streams(void **state)
{
	(void)state;
	assert_int_equal(take("host", "tftp", NULL), 0);
	assert_int_equal(gai.hints.socket_type, SOCK_STREAM);
	assert_int_equal(gai.hints.qp_type, 0);
	assert_true(rcm_gai_datagram(&gai));
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
	assert_int_equal(take_of("example.com", "nfs", RAI_SRV, 0, 0, 0), 0);
	assert_int_equal(gai.hints.flags, RAI_SRV);
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
		cmocka_unit_test(test_gai_of_queue_pair_type_and_port_space_asks_for_the_sockets_that_both_have),
		cmocka_unit_test(test_gai_open_for_both_is_asked_for_datagrams_where_there_are_no_streams),
		cmocka_unit_test(test_gai_of_the_sa_is_taken_as_of_a_resolution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
