/* SPDX-License-Identifier: BSD-2-Clause */
/* The name whose SRV records are asked for. */
#include "addr/owner.h"

#include <errno.h>
#include <rdma/rai.h>

#include "test.h"

static char owner[RCM_NODE_MAX + 1];

static int make(const char *node, const char *service, int port_space)
{
	const struct rdma_addrinfo given = { .ai_flags = RAI_SRV, .ai_port_space = port_space };
	struct rcm_hints hints;

	assert_int_equal(rcm_hints_check(node ? node : "x", service && *service ? service : "x", &given, &hints), 0);
	return rcm_owner_make(node, service, &hints, owner);
}

static void test_owner_is_service_and_protocol_before_the_domain(void **state)
{
	static const struct { const char *node, *service; int space; const char *owner; } rows[] = {
		{ "example.com", "nfs", 0, "_nfs._tcp.example.com" },
		{ "example.com", "nfs", RDMA_PS_TCP, "_nfs._tcp.example.com" },
		{ "example.com", "nfs", RDMA_PS_IB, "_nfs._tcp.example.com" },
		{ "example.com", "nfs", RDMA_PS_UDP, "_nfs._udp.example.com" },
		{ "example.com", "nfs", RDMA_PS_IPOIB, "_nfs._udp.example.com" },
		{ "example.com.", "_nfs", 0, "_nfs._tcp.example.com." },
		{ "example.com", "_nfs._sctp", RDMA_PS_UDP, "_nfs._sctp.example.com" },
		{ "_nfs._tcp.example.com", NULL, RDMA_PS_UDP, "_nfs._tcp.example.com" },
		{ ".", "nfs", 0, "_nfs._tcp." },
		{ ".", "_nfs._udp", 0, "_nfs._udp." },
		{ "web.service.consul", NULL, 0, "web.service.consul" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(make(rows[i].node, rows[i].service, rows[i].space), 0);
		assert_string_equal(owner, rows[i].owner);
	}
}

static void test_owner_of_what_makes_none_is_refused(void **state)
{
	(void)state;
	assert_int_equal(make(NULL, "nfs", 0), -EINVAL);
	assert_int_equal(make("example.com", "", 0), -EINVAL);
	assert_int_equal(make("example.com", "nfs.udp", 0), -EINVAL);
	assert_int_equal(make("_nfs._tcp.example.com", "nfs", 0), -EINVAL);
	assert_int_equal(rcm_owner_make("", "nfs", &(struct rcm_hints){ 0 }, owner), -EINVAL);
}

static void test_owner_longer_than_a_name_is_refused(void **state)
{
	char node[RCM_NODE_MAX + 1], service[65];

	(void)state;
	memset(service, 's', sizeof(service));
	service[62] = '\0';
	assert_int_equal(make("example.com", service, 0), 0);
	service[62] = 's';
	service[63] = '\0';
	assert_int_equal(make("example.com", service, 0), -ENAMETOOLONG);
	/* With its own "_" it may have one more; with a protocol it is of two labels. */
	service[0] = '_';
	assert_int_equal(make("example.com", service, 0), 0);
	service[63] = 's';
	service[64] = '\0';
	assert_int_equal(make("example.com", service, 0), -ENAMETOOLONG);
	memcpy(service + 58, "._tcp", 5);
	assert_int_equal(make("example.com", service, 0), 0);
	memset(node, 'n', sizeof(node));
	node[RCM_NODE_MAX - 10] = '\0';
	assert_int_equal(make(node, "nfs", 0), 0);
	assert_int_equal(strlen(owner), RCM_NODE_MAX);
	node[RCM_NODE_MAX - 10] = 'n';
	node[RCM_NODE_MAX - 9] = '\0';
	assert_int_equal(make(node, "nfs", 0), -ENAMETOOLONG);
	memset(node, 'n', RCM_NODE_MAX);
	node[RCM_NODE_MAX] = '\0';
	assert_int_equal(make(node, NULL, 0), 0);
	assert_string_equal(owner, node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_is_service_and_protocol_before_the_domain),
		cmocka_unit_test(test_owner_of_what_makes_none_is_refused),
		cmocka_unit_test(test_owner_longer_than_a_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
