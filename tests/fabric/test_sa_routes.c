/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes of RAI_SA are what the SA answers to the kernel's own question for a connection (docs/af-ib.md), whatever the
 * fabric's partitions, policy, LMC and prefix: tests/fabric/meson.build has a world for each. */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <infiniband/umad.h>
#include <rdma/rai.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric.h"
#include "test.h"

/* From 64 on the routes are one question (docs/limits.md). */
enum { MANY = 66, CLASS_SA = 3, SA_QP = 1, MAD_LEN = 256 };

static int port, agent;
static umad_port_t info;
static void *umad;

static void put(uint8_t *at, uint64_t value, size_t size)
{
	while (size--) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

static void gid_of(unsigned host, uint8_t ret_gid[16])
{
	rcm_fabric_gid(host, ret_gid);
	memcpy(ret_gid, &info.gid_prefix, 8);
}

static int open_umad(void **state)
{
	(void)state;
	assert_true(umad_init() >= 0);
	port = umad_open_port(NULL, 0);
	assert_true(port >= 0);
	assert_int_equal(umad_get_port(NULL, 0, &info), 0);
	agent = umad_register(port, CLASS_SA, 2, 1, NULL);
	assert_true(agent >= 0);
	umad = umad_alloc(1, umad_size() + MAD_LEN);
	assert_non_null(umad);
	return 0;
}

/* PathRecord Get with DGID, SGID, P_Key, one path, reversible, service id, traffic class; false: there is none. */
static bool ask_as_the_kernel(const uint8_t dgid[16], uint16_t pkey, uint64_t id, uint8_t ret_path[64])
{
	uint8_t sgid[16], *mad = umad_get_mad(umad);
	int len = MAD_LEN;
	static uint32_t tid = 1;

	gid_of(2, sgid);
	memset(mad, 0, MAD_LEN);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = 1;
	put(mad + 12, ++tid, 4);
	put(mad + 16, 0x35, 2);
	put(mad + 48, 1 | 2 | 1 << 2 | 1 << 3 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13, 8);
	put(mad + 56, id, 8);
	memcpy(mad + 64, dgid, 16);
	memcpy(mad + 80, sgid, 16);
	mad[105] = 0x80 | 1;
	put(mad + 106, pkey, 2);
	umad_set_addr(umad, (int)info.sm_lid, SA_QP, (int)info.sm_sl, (int)0x80010000);
	assert_int_equal(umad_send(port, agent, umad, MAD_LEN, 10000, 3), 0);
	assert_true(umad_recv(port, umad, &len, 60000) >= 0);
	assert_int_equal(umad_status(umad), 0);
	memcpy(ret_path, mad + 56, 64);
	return !mad[4] && !mad[5];
}

static void publish(const char *name, unsigned id, unsigned pkey, unsigned hosts)
{
	char gid[INET6_ADDRSTRLEN];
	uint8_t raw[16];

	gid_of(3, raw);
	inet_ntop(AF_INET6, raw, gid, sizeof(gid));
	assert_int_equal(rcm_fabric_records("hca3", "-n %s -i %u -p %u -g %s -c %u -s 2", name, id, pkey, gid, hosts), 0);
}

/* Each of the service's entries has the route of the kernel's question, and the addresses say its partition. */
static void assert_routes_are_the_kernels(const char *name, unsigned count)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id;
	unsigned seen = 0;

	gid_of(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, NULL, name, &hints), 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next, seen++) {
		const struct sockaddr_ib *dst = (const struct sockaddr_ib *)ai->ai_dst_addr;
		const struct ibv_path_data *route = ai->ai_route;
		uint8_t path[64];

		assert_int_equal(ai->ai_route_len, sizeof(*route));
		assert_int_equal(dst->sib_pkey, route->path.pkey);
		assert_true(ask_as_the_kernel(dst->sib_addr.sib_raw, be16toh(dst->sib_pkey), be64toh(dst->sib_sid), path));
		assert_memory_equal(&route->path, path, sizeof(path));
	}
	assert_int_equal(seen, count);
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_destroy_id(id), 0);
}

/* 0x77 is the id that the policy knows. */
static void test_routes_are_the_answers_to_the_kernels_question(void **state)
{
	static const unsigned ids[] = { 0x77, 0x78 };
	bool partitions = getenv("RAI_TEST_PARTITIONS") != NULL;
	unsigned pkeys[] = { 0xffff, 0, 0x8001, 0x8002 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned p = 0; p < (partitions ? 4 : 2); p++) {
			char name[32];

			snprintf(name, sizeof(name), "one-%u-%u", i, p);
			publish(name, ids[i], pkeys[p], 1);
			assert_routes_are_the_kernels(name, 1);
			snprintf(name, sizeof(name), "many-%u-%u", i, p);
			publish(name, ids[i], pkeys[p], MANY);
			assert_routes_are_the_kernels(name, MANY);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_routes_are_the_answers_to_the_kernels_question, open_umad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
