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
	assert_int_equal(rcm_fabric_records("hca3", "-n fire -i 0x700 -c %d", IDS), 0);
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
		assert_uint_in_range(which, 0, IDS - 1);
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

/* What the next SM is to do otherwise. */
static void configure(const char *lines)
{
	char path[4096];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/osm.conf", getenv("RAI_FABRIC_DIR"));
	conf = fopen(path, "a");
	assert_non_null(conf);
	fputs(lines, conf);
	assert_int_equal(fclose(conf), 0);
}

/* Another SM, which gives LIDs of its own, four to each port. */
static void renumber(void)
{
	const char *folder = getenv("RAI_FABRIC_DIR");
	char path[4096];

	configure("lmc 2\nreassign_lids TRUE\n");
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
	while (rcm_fabric_records("hca2", "-n up -i 0x1"))
		;
	ask_all();
	expect_all(0);
}

/* ---- Partitions that change, and what is published meanwhile ---- */

enum { HALF = IDS / 2, LIMITED = 0x7fff, FULL = 0xffff, ONE = 0x8001 };

/* The subnet manager reads them anew. */
static void partitions(const char *hca2_default, bool one)
{
	char path[4096];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/partitions.conf", getenv("RAI_FABRIC_DIR"));
	conf = fopen(path, "w");
	assert_non_null(conf);
	fprintf(conf, "Default=0x7fff,ipoib : ALL=full, 0x0000000000100003=%s ;\n%s", hca2_default,
		one ? "p1=0x0001 : ALL=full ;\n" : "");
	assert_int_equal(fclose(conf), 0);
	assert_int_equal(rcm_fabric("sm reload"), 0);
}

/* Whether it is in the port's table. */
static bool has_pkey(unsigned pkey)
{
	umad_port_t info;
	bool has = false;

	assert_int_equal(umad_get_port(NULL, 0, &info), 0);
	for (unsigned i = 0; i < info.pkeys_size; i++)
		has = has || info.pkeys[i] == pkey;
	umad_release_port(&info);
	return has;
}

/* The first half asks for records of the default partition, the other for those of another. */
static void ask_one(unsigned which)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char service[32];

	snprintf(service, sizeof(service), "%#x", (which < HALF ? 0x700 : 0x800 - HALF) + which);
	assert_int_equal(rdma_resolve_addrinfo(ids[which], NULL, service, &hints), 0);
}

/* A record has the partition's P_Key, and a path, where it has one, is in that partition. */
static void expect_in_partition(unsigned which)
{
	unsigned number = (which < HALF ? FULL : ONE) & LIMITED;
	struct rdma_addrinfo *list;
	const struct sockaddr_ib *to;

	assert_int_equal(rdma_query_addrinfo(ids[which], &list), 0);
	to = (const struct sockaddr_ib *)list->ai_dst_addr;
	assert_int_equal(be16toh(to->sib_pkey) & LIMITED, number);
	if (list->ai_route_len)
		assert_int_equal(be16toh(((const struct ibv_path_data *)list->ai_route)->path.pkey) & LIMITED, number);
	rdma_freeaddrinfo(list);
}

/* The event that is next: which id's, or IDS: one of the service that is published; and its status. */
static unsigned take(int *ret_status)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	unsigned which = 0;

	assert_int_equal(poll(&p, 1, (SECONDS + 10) * 1000), 1);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	*ret_status = event->status;
	if (event->event == (int)RAI_EVENT_SERVICE)
		which = IDS;
	while (which < IDS && ids[which] != event->id)
		which++;
	rdma_ack_cm_event(event);
	return which;
}

/* Each has its answer and asks again, until the port's table has the P_Key, or hasn't. What is in the default partition is
 * found all the time. */
static void ask_until(unsigned pkey, bool there)
{
	int status;

	while (has_pkey(pkey) != there)
		for (unsigned i = 0; i < IDS; i++) {
			unsigned which = take(&status);

			if (which == IDS) {
				assert_int_equal(status, 0);
				continue;
			}
			assert_true(!status || (which >= HALF && status == -ENOENT));
			if (!status)
				expect_in_partition(which);
			ask_one(which);
		}
}

static void take_all(void)
{
	int status;

	for (unsigned left = IDS; left;)
		left -= take(&status) < IDS;
}

/* The P_Key of the record that is published, as another host may see it. */
static unsigned published_pkey(const char *name)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_NOROUTE }, *list;
	struct rai_service_record record = { .pkey = 0 };

	if (rdma_getaddrinfo(NULL, name, &hints, &list))
		return 0;
	assert_int_equal(rai_addrinfo_service(list, &record), 0);
	assert_null(list->ai_next);
	rdma_freeaddrinfo(list);
	return record.pkey;
}

static void until_published(const char *name, unsigned pkey)
{
	for (unsigned i = 0; published_pkey(name) != pkey; i++) {
		if (i == SECONDS * 10)
			fail_msg("%s is published with P_Key %#x, not %#x", name, published_pkey(name), pkey);
		poll(NULL, 0, 100);
	}
}

static void test_resolutions_and_a_service_go_on_while_partitions_change(void **state)
{
	struct rai_service service = { .name = "moving", .id = 0x900, .lease_s = 600 };
	uint64_t registration;

	(void)state;
	partitions("full", true);
	while (!has_pkey(ONE))
		assert_int_equal(rcm_fabric("on hca2 true"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n default -i 0x700 -c %d", HALF), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n one -i 0x800 -c %d -p %#x", HALF, ONE), 0);
	assert_int_equal(rai_service_register(ids[0], &service, &registration), 0);
	until_published("moving", FULL);
	for (unsigned i = 0; i < IDS; i++)
		ask_one(i);
	for (unsigned round = 0; round < 3; round++) {
		partitions("full", false);
		ask_until(ONE, false);
		assert_int_equal(published_pkey("0x800"), 0);
		partitions("full", true);
		ask_until(ONE, true);
		assert_int_equal(published_pkey("0x800"), ONE);
	}
	/* The default membership is the service's, which goes with it. */
	partitions("limited", true);
	ask_until(FULL, false);
	until_published("moving", LIMITED);
	partitions("full", true);
	ask_until(FULL, true);
	until_published("moving", FULL);
	take_all();
	/* All of it is there, with routes. */
	for (unsigned i = 0; i < IDS; i++)
		ask_one(i);
	for (unsigned i = 0; i < IDS; i++) {
		int status;
		unsigned which = take(&status);

		assert_uint_in_range(which, 0, IDS - 1);
		assert_int_equal(status, 0);
		expect_in_partition(which);
	}
}

/* ---- A subnet that gets another prefix ---- */

/* How many records the SA has of that name, all of that prefix. */
static unsigned published_in(const char *name, const uint8_t prefix[8])
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_NOROUTE }, *list, *ai;
	unsigned count = 0;

	if (rdma_getaddrinfo(NULL, name, &hints, &list))
		return 0;
	for (ai = list; ai; ai = ai->ai_next)
		count += !memcmp(((const struct sockaddr_ib *)ai->ai_dst_addr)->sib_addr.sib_raw, prefix, 8);
	rdma_freeaddrinfo(list);
	return count;
}

static void until_published_in(const char *name, const uint8_t prefix[8])
{
	for (unsigned i = 0; !published_in(name, prefix); i++) {
		if (i == SECONDS * 10)
			fail_msg("%s isn't published at the new GID", name);
		poll(NULL, 0, 100);
	}
}

/* The id is bound to a GID that the port hasn't any more. */
static void test_service_goes_on_at_the_new_gid_where_the_prefix_changes(void **state)
{
	static const uint8_t before[8] = { 0xfe, 0x80 }, after[8] = { 0xfe, 0xc0, [6] = 0x12, 0x34 };
	struct rai_service service = { .name = "prefixed", .id = 0x901, .lease_s = 600 };
	uint64_t registration;

	(void)state;
	assert_int_equal(rai_service_register(ids[0], &service, &registration), 0);
	until_published_in("prefixed", before);
	register_all();
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_all();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	configure("subnet_prefix 0xfec0000000001234\n");
	assert_int_equal(rcm_fabric("sm start"), 0);
	until_published_in("prefixed", after);
	assert_int_equal(published_in("prefixed", before), 0);
	assert_int_equal(rcm_fabric("on hca3 \"$RAI_FABRIC_BUILD/cli/rai\" resolve --sa prefixed >&2"), 0);
	/* One event each, whatever it says of a port that isn't called so any more. */
	take_all();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	static const struct CMUnitTest standby[] = {
		TEST(test_resolutions_under_way_when_the_master_is_killed_are_answered_by_the_standby),
	}, lids[] = {
		TEST(test_resolutions_under_way_when_lids_change_have_routes_of_the_new_ones),
	}, pkeys[] = {
		TEST(test_resolutions_and_a_service_go_on_while_partitions_change),
	}, prefix[] = {
		TEST(test_service_goes_on_at_the_new_gid_where_the_prefix_changes),
	}, cable[] = {
		TEST(test_resolutions_under_way_when_the_cable_is_out_fail_and_succeed_when_it_is_in_again),
	};

	if (argc != 2 || umad_init() < 0)
		return 2;
	if (!strcmp(argv[1], "standby"))
		return cmocka_run_group_tests(standby, NULL, NULL);
	if (!strcmp(argv[1], "lids"))
		return cmocka_run_group_tests(lids, NULL, NULL);
	if (!strcmp(argv[1], "pkeys"))
		return cmocka_run_group_tests(pkeys, NULL, NULL);
	if (!strcmp(argv[1], "prefix"))
		return cmocka_run_group_tests(prefix, NULL, NULL);
	return cmocka_run_group_tests(cable, NULL, NULL);
}
