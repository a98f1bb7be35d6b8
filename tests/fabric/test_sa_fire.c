/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolutions under way while the fabric changes, through the library as host hca2: each has one event, by its deadline, and
 * that is what the fabric has by then. Each test has a world of its own: test_sa_fire GROUP.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric.h"
#include "test.h"

enum { IDS = 60, SECONDS = 60 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *ids[IDS];

static int setup(void **state)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	uint32_t ms = SECONDS * 1000;

	(void)state;
	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	for (unsigned i = 0; i < IDS; i++) {
		assert_int_equal(rdma_create_id(channel, &ids[i], NULL, RDMA_PS_IB), 0);
		assert_int_equal(rdma_bind_addr(ids[i], (struct sockaddr *)&own), 0);
		assert_int_equal(rdma_set_option(ids[i], RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < IDS; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(channel);
	return 0;
}

/* "fire0" to "fire59", as the SA of now has them. */
static void register_all(void)
{
	assert_int_equal(rcm_fabric("register hca3 -q -n fire -i 0x700 -c %d", IDS), 0);
}

/* No two are equal: more than a port's window of them are under way, the others in line. */
static void ask_all(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char service[32];

	for (unsigned i = 0; i < IDS; i++) {
		snprintf(service, sizeof(service), "%#x", 0x700 + i);
		assert_int_equal(rdma_resolve_addrinfo(ids[i], NULL, service, &hints), 0);
	}
}

static unsigned own_lid(void)
{
	umad_port_t info;
	unsigned lid;

	assert_int_equal(umad_get_port(NULL, 0, &info), 0);
	lid = info.base_lid;
	umad_release_port(&info);
	return lid;
}

/* Each has one event, with that status; with 0 a route from the LID that the port has now. */
static void expect_all(int status)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_addrinfo *list;
	struct rdma_cm_event *event;
	bool seen[IDS] = { false };
	unsigned lid = own_lid();

	for (unsigned i = 0; i < IDS; i++) {
		unsigned which = 0;

		assert_int_equal(poll(&p, 1, (SECONDS + 10) * 1000), 1);
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		while (which < IDS && ids[which] != event->id)
			which++;
		assert_in_range(which, 0, IDS - 1);
		assert_false(seen[which]);
		seen[which] = true;
		assert_int_equal(event->status, status);
		rdma_ack_cm_event(event);
		if (status)
			continue;
		assert_int_equal(rdma_query_addrinfo(ids[which], &list), 0);
		assert_true(list->ai_route_len > 0);
		assert_int_equal(be16toh(((const struct ibv_path_data *)list->ai_route)->path.slid), lid);
		rdma_freeaddrinfo(list);
	}
	assert_int_equal(poll(&p, 1, 0), 0);
}

static void test_resolutions_under_way_when_the_master_is_killed_are_answered_by_the_standby(void **state)
{
	(void)state;
	assert_int_equal(rcm_fabric("sm start hca3"), 0);
	register_all();
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_all();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	/* It has none of the other's records. */
	register_all();
	expect_all(0);
}

/* Another SM, which gives LIDs of its own, four to each port. */
static void renumber(void)
{
	const char *folder = getenv("RAI_FABRIC_DIR");
	char path[4096];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/osm.conf", folder);
	conf = fopen(path, "a");
	assert_non_null(conf);
	fputs("lmc 2\nreassign_lids TRUE\n", conf);
	assert_int_equal(fclose(conf), 0);
	snprintf(path, sizeof(path), "%s/sm.hca1/guid2lid", folder);
	unlink(path);
	assert_int_equal(rcm_fabric("sm start"), 0);
}

static void test_resolutions_under_way_when_lids_change_have_routes_of_the_new_ones(void **state)
{
	unsigned lid = own_lid();

	(void)state;
	register_all();
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_all();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	renumber();
	while (own_lid() == lid)
		assert_int_equal(rcm_fabric("on hca2 true"), 0);
	register_all();
	expect_all(0);
}

/* What waits in line, and what was sent. */
static void test_resolutions_under_way_when_the_cable_is_out_fail_and_succeed_when_it_is_in_again(void **state)
{
	(void)state;
	register_all();
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_all();
	assert_int_equal(rcm_fabric("link down hca2"), 0);
	expect_all(-ENETDOWN);
	assert_int_equal(rcm_fabric("link up hca2"), 0);
	assert_int_equal(rcm_fabric("sm continue"), 0);
	while (rcm_fabric("register hca2 -q -n up -i 0x1"))
		;
	ask_all();
	expect_all(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	static const struct CMUnitTest standby[] = {
		TEST(test_resolutions_under_way_when_the_master_is_killed_are_answered_by_the_standby),
	}, lids[] = {
		TEST(test_resolutions_under_way_when_lids_change_have_routes_of_the_new_ones),
	}, cable[] = {
		TEST(test_resolutions_under_way_when_the_cable_is_out_fail_and_succeed_when_it_is_in_again),
	};

	if (argc != 2 || umad_init() < 0)
		return 2;
	if (!strcmp(argv[1], "standby"))
		return cmocka_run_group_tests(standby, NULL, NULL);
	if (!strcmp(argv[1], "lids"))
		return cmocka_run_group_tests(lids, NULL, NULL);
	return cmocka_run_group_tests(cable, NULL, NULL);
}
