/* SPDX-License-Identifier: BSD-2-Clause */
/* Services asked of a scripted SA: records, paths, several ports. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/build.h"
#include "asker.h"
#include "base/clock.h"
#include "base/sysfs.h"
#include "fake_sa.h"
#include "fake_sysfs.h"
#include "fake_time.h"
#include "resolve/answer.h"
#include "resolve/accept.h"
#include "resolve/engine.h"
#include "resolve/rank.h"
#include "test.h"
#include "asleep.h"

static struct rcm_asker asker, other;
static struct rdma_addrinfo *list;
static struct rcm_question question;

#define RECORD(n, service_id) { .gid = { { 0xfe, 0x80, [15] = n } }, .pkey = 0x8001, .id = service_id, \
	.name = "storage", .data = { [15] = n } }
#define PATH(from, to) .path = true, .port = from, .dgid = to, .pkey = 0x8001
#define SCRIPT(...) \
	static const struct rcm_fake_sa_step script[] = { __VA_ARGS__ }; \
	rcm_fake_sa_script(script, sizeof(script) / sizeof(*script))

static int setup(void **state)
{
	(void)state;
	question = (struct rcm_question){
		.service = "storage", .hints.flags = RAI_SA, .port = rcm_fake_sa_gid(1),
		.deadline_ms = RCM_DEADLINE_DEFAULT,
	};
	rcm_fake_time_freeze();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_asker_done(&other);
	rcm_addrinfo_free(list);
	list = NULL;
	rcm_fake_time_thaw();
	return !rcm_fake_sa_verify();
}

/* Time passes meanwhile. */
static bool await_outcome(struct rcm_asker *of)
{
	bool came;

	rcm_fake_time_leap(10 * RCM_NS_PER_S);
	came = rcm_asker_wait(of);
	rcm_fake_time_freeze();
	return came;
}

static int ask(void)
{
	int status;

	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	assert_true(await_outcome(&asker));
	status = asker.outcome.status;
	assert_int_equal(rcm_asker_times(&asker), 1);
	if (!status)
		assert_int_equal(rcm_answer_list(asker.outcome.answer, &question.hints, asker.outcome.port,
						 &list), 0);
	return status;
}

static const struct sockaddr_ib *ib(const struct sockaddr *sa)
{
	assert_int_equal(sa->sa_family, AF_IB);
	return (const struct sockaddr_ib *)sa;
}

static unsigned last_byte(const struct sockaddr *sa)
{
	return ib(sa)->sib_addr.sib_raw[15];
}

/* F29: GID, P_Key, service id, mask and route come through as the SA gave them. */
static void test_record_by_name_gives_an_entry_with_route_for_each(void **state)
{
	const struct rdma_addrinfo *second;
	const struct ibv_path_data *route;

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 2, .total = 2,
		 .services = { RECORD(5, 0x1000000000000001), RECORD(6, 0x1000000000000002) } },
	       { PATH(1, 5), .slid = 50 }, { PATH(1, 6), .slid = 60 });
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 2);
	assert_int_equal(list->ai_flags, RAI_SA);
	assert_int_equal(list->ai_port_space, RDMA_PS_IB);
	assert_string_equal(list->ai_dst_canonname, "storage");
	assert_int_equal(last_byte(list->ai_dst_addr), 5);
	assert_int_equal(be16toh(ib(list->ai_dst_addr)->sib_pkey), 0x8001);
	assert_int_equal(be64toh(ib(list->ai_dst_addr)->sib_sid), 0x1000000000000001);
	assert_int_equal(ib(list->ai_dst_addr)->sib_sid_mask, UINT64_MAX);
	assert_int_equal(last_byte(list->ai_src_addr), 1);
	assert_int_equal(be16toh(ib(list->ai_src_addr)->sib_pkey), 0x8001);
	assert_int_equal(be64toh(ib(list->ai_src_addr)->sib_sid), RDMA_IB_PS_IB);
	assert_int_equal(list->ai_route_len, sizeof(*route));
	route = list->ai_route;
	assert_int_equal(route->flags,
			 IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL);
	assert_int_equal(be16toh(route->path.slid), 50);
	second = list->ai_next;
	assert_int_equal(last_byte(second->ai_dst_addr), 6);
	assert_int_equal(be16toh(((const struct ibv_path_data *)second->ai_route)->path.slid), 60);
	assert_null(second->ai_next);
	assert_int_equal(last_byte(&rcm_answer_first(asker.outcome.answer)->sa), 5);
	/* No port is looked at in vain, where one is given and nothing is kept. */
	assert_int_equal(rcm_fake_sa_looks(), 0);
}

static void test_record_has_the_rest_of_what_was_registered(void **state)
{
	struct rcm_sa_service_record record = RECORD(5, 1);
	const struct rcm_service_rest *rest;
	static struct rcm_fake_sa_step script[] = {
		{ .port = 1, .name = "storage", .count = 1, .total = 1 }, { .path = true, .port = 1, .dgid = 5, .slid = 50 },
	};

	(void)state;
	record.pkey = 0;
	record.lease = 120;
	script[0].services[0] = record;
	rcm_fake_sa_script(script, 2);
	assert_int_equal(ask(), 0);
	rest = rcm_addrinfo_service(list);
	assert_int_equal(rest->pkey, 0);
	assert_int_equal(rest->lease, 120);
	assert_string_equal(rest->name, "storage");
	assert_memory_equal(rest->data, record.data, sizeof(rest->data));
}

static void test_record_that_is_not_accepted_is_none(void **state)
{
	const struct rcm_gid six = rcm_fake_sa_gid(6);

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 3, .total = 3,
		 .services = { RECORD(5, 1), RECORD(6, 2), RECORD(7, 3) } },
	       { PATH(1, 6), .slid = 60 });
	assert_int_equal(rcm_accept_new(false, &six, 1, &question.accept), 0);
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 1);
	assert_int_equal(last_byte(list->ai_dst_addr), 6);
	assert_null(list->ai_next);
	rcm_accept_put(question.accept);
}

static void test_records_of_which_none_is_accepted_are_enoent_and_told_how_many(void **state)
{
	const struct rcm_gid eight = rcm_fake_sa_gid(8);

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 2, .total = 2, .services = { RECORD(5, 1), RECORD(6, 2) } });
	assert_int_equal(rcm_accept_new(false, &eight, 1, &question.accept), 0);
	assert_int_equal(ask(), -ENOENT);
	assert_non_null(strstr(asker.outcome.text, "2 such records, of which none is accepted"));
	rcm_accept_put(question.accept);
}

static void test_only_record_that_is_not_accepted_is_enoent_and_told_as_one(void **state)
{
	const struct rcm_gid eight = rcm_fake_sa_gid(8);

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } });
	assert_int_equal(rcm_accept_new(false, &eight, 1, &question.accept), 0);
	assert_int_equal(ask(), -ENOENT);
	assert_non_null(strstr(asker.outcome.text, "one such record, which is not accepted"));
	rcm_accept_put(question.accept);
}

/* Who accepts other records must not get what was found for somebody else. */
static void test_record_lookup_that_accepts_less_is_not_shared(void **state)
{
	const struct rcm_gid six = rcm_fake_sa_gid(6);

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .ms = 50, .count = 2, .total = 2,
		 .services = { RECORD(5, 1), RECORD(6, 2) } },
	       { .port = 1, .name = "storage", .ms = 50, .count = 2, .total = 2,
		 .services = { RECORD(5, 1), RECORD(6, 2) } });
	question.hints.flags |= RAI_NOROUTE;
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	assert_int_equal(rcm_accept_new(false, &six, 1, &question.accept), 0);
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_accept_put(question.accept);
	assert_true(await_outcome(&asker) && await_outcome(&other));
	assert_int_equal(asker.outcome.arg, 1);
	assert_int_equal(other.outcome.arg, 2);
}

static void test_record_by_id_is_asked_by_id_and_named_by_the_record(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .id = 0x1234, .count = 1, .total = 1, .services = { RECORD(5, 0x1234) } },
	       { PATH(1, 5), .slid = 50 });
	question.service = "0x1234";
	question.hints.by_id = true;
	question.hints.service_id = 0x1234;
	assert_int_equal(ask(), 0);
	assert_string_equal(list->ai_dst_canonname, "storage");
}

static void test_record_without_route_wanted_asks_for_no_path(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } });
	question.hints.flags |= RAI_NOROUTE;
	assert_int_equal(ask(), 0);
	assert_int_equal(list->ai_route_len, 0);
	assert_null(list->ai_route);
}

static unsigned route_slid(const struct rdma_addrinfo *ai)
{
	return be16toh(((const struct ibv_path_data *)ai->ai_route)->path.slid);
}

/* A policy of the fabric may give each service of a host, and each traffic class, another path. */
static void test_record_path_is_asked_for_with_service_id_and_traffic_class(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 2, .total = 2, .services = { RECORD(5, 1), RECORD(5, 2) } },
	       { PATH(1, 5), .id = 1, .traffic_class = 0x28, .slid = 51 },
	       { PATH(1, 5), .id = 2, .traffic_class = 0x28, .slid = 52 });
	question.traffic_class = 0x28;
	assert_int_equal(ask(), 0);
	assert_int_equal(route_slid(list), 50 + be64toh(ib(list->ai_dst_addr)->sib_sid));
	assert_int_equal(route_slid(list->ai_next), 50 + be64toh(ib(list->ai_next->ai_dst_addr)->sib_sid));
	assert_int_not_equal(route_slid(list), route_slid(list->ai_next));
}

/* What can't be reached is last, however much its publisher prefers it. */
static void test_record_with_a_path_comes_before_those_without(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 3, .total = 3,
		 .services = { RECORD(5, 1), RECORD(6, 1), RECORD(7, 1) } },
	       { PATH(1, 5), .status = -ENOENT }, { PATH(1, 6), .slid = 60 }, { PATH(1, 7), .slid = 70 });
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 3);
	assert_int_equal(last_byte(list->ai_dst_addr), 6);
	assert_int_equal(last_byte(list->ai_next->ai_dst_addr), 7);
	assert_int_equal(last_byte(list->ai_next->ai_next->ai_dst_addr), 5);
	assert_int_equal(last_byte(&rcm_answer_first(asker.outcome.answer)->sa), 6);
}

/* A partition that the port is a full member of, then the publisher's preference, whatever the SA's order. */
static void test_record_order_is_partition_then_preference(void **state)
{
	static const unsigned wanted[] = { 7, 5, 6 };
	const struct rdma_addrinfo *ai;

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 3, .total = 3,
		 .services = { RECORD(6, 1), RECORD(5, 1), { .gid = { { 0xfe, 0x80, [15] = 7 } }, .pkey = 0x0002,
			       .id = 1, .name = "storage", .data = { [15] = 9 } } } });
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/ib0/ports/1/state", "4: ACTIVE");
	rcm_fake_sysfs_add("class/infiniband/ib0/ports/1/gids/0", "fe80::1");
	rcm_fake_sysfs_add("class/infiniband/ib0/ports/1/pkeys/0", "0x0001");
	rcm_fake_sysfs_add("class/infiniband/ib0/ports/1/pkeys/1", "0x8002");
	question.hints.flags |= RAI_NOROUTE;
	assert_int_equal(ask(), 0);
	ai = list;
	for (unsigned i = 0; i < 3; i++, ai = ai->ai_next)
		assert_int_equal(last_byte(ai->ai_dst_addr), wanted[i]);
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(NULL);
}

/* The first of four alike, asked for by many clients: none has more than half, and each always the same. */
static void test_record_order_of_equals_differs_by_client_and_stays(void **state)
{
	unsigned first[4] = { 0 };

	(void)state;
	for (unsigned client = 1; client <= 40; client++) {
		struct rcm_gid port = rcm_fake_sa_gid((uint8_t)client);
		unsigned best = 0;

		for (unsigned n = 1; n < 4; n++) {
			struct rcm_gid a = rcm_fake_sa_gid((uint8_t)(100 + best));
			struct rcm_gid b = rcm_fake_sa_gid((uint8_t)(100 + n));

			if (rcm_rank_spread(&port, &b, 7) < rcm_rank_spread(&port, &a, 7))
				best = n;
		}
		first[best]++;
	}
	for (unsigned n = 0; n < 4; n++)
		assert_uint_in_range(first[n], 3, 20);
}

/* The partition of the path is where it can be connected. */
static void test_record_without_pkey_gets_that_of_its_path(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1,
		 .services = { { .gid = { { 0xfe, 0x80, [15] = 5 } }, .id = 1, .name = "storage" } } },
	       { .path = true, .port = 1, .dgid = 5, .pkey = 0, .slid = 50, .path_pkey = 0x8003, .traffic_class = 0 });
	assert_int_equal(ask(), 0);
	assert_int_equal(be16toh(ib(list->ai_dst_addr)->sib_pkey), 0x8003);
	assert_int_equal(be16toh(ib(list->ai_src_addr)->sib_pkey), 0x8003);
}

static void test_record_whose_route_can_not_be_had_is_given_without(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 3, .total = 3,
		 .services = { RECORD(5, 1), RECORD(6, 2), RECORD(7, 3) } },
	       { PATH(1, 5), .status = -ENOENT }, { PATH(1, 6), .start = -ENOMEM }, { PATH(1, 7) });
	assert_int_equal(ask(), 0);
	assert_string_equal(asker.outcome.text, "service storage at the SA: 3 records, 3 without a path");
	assert_int_equal(asker.outcome.arg, 3);
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next)
		assert_int_equal(ai->ai_route_len, 0);
}

static void test_record_list_that_the_sa_cut_tells_the_total(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 9000, .services = { RECORD(5, 1) } },
	       { PATH(1, 5), .slid = 1 });
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 9000);
	assert_int_equal(asker.outcome.answer->count, 1);
}

static void test_record_failure_has_the_mad_status_and_a_text(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .status = -EIO, .mad_status = 0x0700, .text = "denied" });
	assert_int_equal(ask(), -EIO);
	assert_int_equal(asker.outcome.arg, 0x0700);
	assert_string_equal(asker.outcome.text, "service storage at the SA: denied");
}

static void test_record_of_a_port_that_can_not_be_used_fails_with_that(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .start = -EACCES });
	assert_int_equal(ask(), -EACCES);
	assert_int_equal(asker.outcome.arg, 0);
	assert_string_equal(asker.outcome.text, "service storage at the SA: Permission denied");
}

static const struct rcm_sa_port four_ports[] = {
	{ .device = "ib0", .number = 1, .infiniband = true, .active = true, .gid = { { 0xfe, 0x80, [15] = 1 } } },
	{ .device = "ib0", .number = 2, .infiniband = true, .active = false, .gid = { { 0xfe, 0x80, [15] = 2 } } },
	{ .device = "eth0", .number = 1, .infiniband = false, .active = true, .gid = { { 0xfe, 0x80, [15] = 3 } } },
	{ .device = "ib1", .number = 1, .infiniband = true, .active = true, .gid = { { 0xfe, 0x80, [15] = 4 } } },
};

static void ask_all_ports(unsigned count)
{
	rcm_fake_sa_set_ports(four_ports, count);
	question.port = (struct rcm_gid){ 0 };
}

/* F25: asked in parallel, not one after another. */
static void test_record_without_port_asks_all_active_infiniband_ports_and_merges(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) }, .ms = 30 },
	       { .port = 4, .name = "storage", .count = 2, .total = 2, .services = { RECORD(5, 1), RECORD(6, 2) } },
	       { PATH(1, 5), .slid = 15 }, { PATH(4, 5), .slid = 45 }, { PATH(4, 6), .slid = 46 });
	ask_all_ports(4);
	assert_int_equal(ask(), 0);
	/* A record once, whichever port answered first, with the routes of both. */
	assert_int_equal(asker.outcome.arg, 2);
	assert_int_equal(last_byte(list->ai_src_addr), 1);
	assert_int_equal(list->ai_route_len, 2 * sizeof(struct ibv_path_data));
	assert_int_equal(route_slid(list), 15);
	assert_int_equal(be16toh(((struct ibv_path_data *)list->ai_route)[1].path.slid), 45);
	assert_int_equal(((struct ibv_path_data *)list->ai_route)[1].flags,
			 IBV_PATH_FLAG_ALTERNATE | IBV_PATH_FLAG_BIDIRECTIONAL);
	assert_int_equal(last_byte(list->ai_next->ai_src_addr), 4);
	assert_null(list->ai_next->ai_next);
}

static void test_record_had_through_one_port_makes_up_for_another_that_failed(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .status = -ETIMEDOUT, .ms = 5 },
	       { .port = 4, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { PATH(4, 5), .slid = 45 });
	ask_all_ports(4);
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 1);
}

/* Silence is never taken for "no such service". */
/* Whose port went down between the record and its path. */
static void test_record_whose_port_goes_down_has_the_route_of_another(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { .port = 4, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { PATH(1, 5), .status = -ENETDOWN }, { PATH(4, 5), .slid = 45 });
	ask_all_ports(4);
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 1);
	assert_null(list->ai_next);
	assert_int_equal(last_byte(list->ai_src_addr), 4);
	assert_int_equal(list->ai_route_len, sizeof(struct ibv_path_data));
	assert_int_equal(route_slid(list), 45);
}

static void test_record_failing_on_all_ports_tells_what_leaves_most_open(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .status = -ETIMEDOUT, .text = "silent" },
	       { .port = 4, .name = "storage", .status = -ENOENT, .mad_status = 0x0300, .text = "none" });
	ask_all_ports(4);
	assert_int_equal(ask(), -ETIMEDOUT);
	assert_string_equal(asker.outcome.text, "service storage at the SA: silent");
	assert_true(rcm_fake_sa_verify());
	rcm_fake_sa_script((const struct rcm_fake_sa_step[]){
		{ .port = 1, .name = "storage", .start = -EACCES },
		{ .port = 4, .name = "storage", .status = -ENOENT, .mad_status = 0x0300, .text = "none" },
	}, 2);
	assert_int_equal(ask(), -ENOENT);
	assert_int_equal(asker.outcome.arg, 0x0300);
	assert_true(rcm_fake_sa_verify());
	rcm_fake_sa_script(NULL, 0);
}

/* F23: which device is missing, in words. */
static void test_record_without_any_active_port_has_no_device(void **state)
{
	(void)state;
	rcm_fake_sa_script(NULL, 0);
	rcm_fake_sa_set_ports(&four_ports[1], 2);
	question.port = (struct rcm_gid){ 0 };
	assert_int_equal(ask(), -ENODEV);
	assert_string_equal(asker.outcome.text, "service storage at the SA: no active InfiniBand port");
	assert_int_equal(asker.outcome.arg, 0);
}

static void test_record_paths_late_at_the_deadline_are_left_out(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 2, .total = 2, .services = { RECORD(5, 1), RECORD(6, 2) } },
	       { PATH(1, 5), .slid = 50 }, { PATH(1, 6), .ms = RCM_FAKE_SA_NEVER });
	question.deadline_ms = 150;
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 2);
	assert_int_equal(list->ai_route_len, sizeof(struct ibv_path_data));
	assert_int_equal(list->ai_next->ai_route_len, 0);
	assert_int_equal(rcm_fake_sa_cancelled(), 1);
}

static void test_record_ports_late_at_the_deadline_are_left_out(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .ms = RCM_FAKE_SA_NEVER },
	       { .port = 4, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { PATH(4, 5), .slid = 45 });
	ask_all_ports(4);
	question.deadline_ms = 150;
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 1);
}

/* F31: the back end gives up just before, and so it is the one to say why. */
static void test_record_back_end_is_given_the_deadline(void **state)
{
	uint64_t begun = rcm_clock_now();

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .status = -EBUSY, .mad_status = 1, .ms = RCM_FAKE_SA_AT_DEADLINE },
	       { .port = 1, .name = "storage", .status = -ENOENT });
	question.deadline_ms = 100;
	assert_int_equal(ask(), -EBUSY);
	assert_uint_in_range(rcm_fake_sa_deadline(), begun + 98 * RCM_NS_PER_MS, begun + 99 * RCM_NS_PER_MS);
	question.deadline_ms = RCM_DEADLINE_DEFAULT;
	begun = rcm_clock_now();
	assert_int_equal(ask(), -ENOENT);
	assert_uint_in_range(rcm_fake_sa_deadline(), begun + 3990 * RCM_NS_PER_MS, begun + 3999 * RCM_NS_PER_MS);
}

/* F25: equal queries are shared while in flight, and not kept. */
static void test_record_lookups_that_are_equal_are_shared_but_not_kept(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) }, .ms = 30 },
	       { PATH(1, 5), .slid = 50 },
	       { .port = 1, .name = "storage", .status = -ENOENT });
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	assert_int_equal(ask(), 0);
	assert_true(await_outcome(&other));
	assert_ptr_equal(other.outcome.answer, asker.outcome.answer);
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	assert_true(await_outcome(&other));
	assert_int_equal(other.outcome.status, -ENOENT);
}

/* More destinations than a port's window: others' questions wait for no more than one window of them. */
static void test_record_lookup_leaves_room_in_line_for_others(void **state)
{
	static struct rcm_sa_service_record many[RCM_SA_WINDOW + 4];
	static struct rcm_fake_sa_step steps[1 + RCM_SA_WINDOW + 4];

	(void)state;
	steps[0] = (struct rcm_fake_sa_step){
		.port = 1, .name = "storage", .count = RCM_SA_WINDOW + 4, .total = RCM_SA_WINDOW + 4, .many = many,
	};
	for (uint8_t i = 0; i < RCM_SA_WINDOW + 4; i++) {
		many[i] = (struct rcm_sa_service_record)RECORD(20 + i, 1);
		steps[1 + i] = (struct rcm_fake_sa_step){
			PATH(1, 20 + i), .slid = 1, .ms = i < RCM_SA_WINDOW ? 100 : 0,
		};
	}
	rcm_fake_sa_script(steps, sizeof(steps) / sizeof(*steps));
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_fake_sa_wait_asked(1 + RCM_SA_WINDOW);
	usleep(20000);
	assert_int_equal(rcm_fake_sa_asked(), 1 + RCM_SA_WINDOW);
	assert_true(await_outcome(&asker));
	assert_int_equal(asker.outcome.arg, RCM_SA_WINDOW + 4);
}

/* Who has more time than the lookup was given asks on, however early that ended. */
static void test_record_lookup_that_ended_for_want_of_time_is_asked_on_by_others(void **state)
{
	static const int wants[] = { -EBUSY, -ETIMEDOUT };

	(void)state;
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const struct rcm_fake_sa_step script[] = {
			{ .port = 1, .name = "storage", .status = wants[i], .mad_status = 1, .late = true, .ms = 20 },
			{ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
			{ PATH(1, 5), .slid = 50 },
		};

		rcm_fake_sa_script(script, sizeof(script) / sizeof(*script));
		question.deadline_ms = 1000;
		assert_int_equal(rcm_asker_start(&other, &question), 0);
		question.deadline_ms = 4000;
		assert_int_equal(ask(), 0);
		assert_true(await_outcome(&other));
		assert_int_equal(other.outcome.status, 0);
		assert_true(rcm_fake_sa_verify());
		rcm_addrinfo_free(list);
		list = NULL;
	}
}

static void test_record_lookup_that_failed_late_for_another_reason_ends_all(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .status = -EIO, .mad_status = 1, .late = true, .ms = 20 });
	question.deadline_ms = 1000;
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	question.deadline_ms = 4000;
	assert_int_equal(ask(), -EIO);
	assert_true(await_outcome(&other));
	assert_int_equal(other.outcome.status, -EIO);
}

static void test_record_lookup_cancelled_cancels_all_its_queries(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 2, .total = 2, .services = { RECORD(5, 1), RECORD(6, 2) } },
	       { .port = 4, .name = "storage", .ms = RCM_FAKE_SA_NEVER },
	       { PATH(1, 5), .ms = RCM_FAKE_SA_NEVER }, { PATH(1, 6), .ms = RCM_FAKE_SA_NEVER });
	ask_all_ports(4);
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_fake_sa_wait_asked(4);
	rcm_request_cancel(asker.request);
	assert_true(await_outcome(&asker));
	assert_int_equal(asker.outcome.status, -ECANCELED);
	assert_int_equal(rcm_fake_sa_cancelled(), 3);
}

/* ---- With RAI_SA_KEEP_MS, which is read once: in a process of its own ---- */

/* F27: no answer older than a change of the ports. */
static void test_record_answers_kept_are_dropped_when_a_port_changes(void **state)
{
	struct rcm_sa_port port = four_ports[0];

	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(6, 1) } });
	question.hints.flags |= RAI_NOROUTE;
	rcm_fake_sa_set_ports(&port, 1);
	assert_int_equal(ask(), 0);
	rcm_addrinfo_free(list);
	assert_int_equal(ask(), 0);
	assert_int_equal(last_byte(list->ai_dst_addr), 5);
	rcm_addrinfo_free(list);
	port.active = false;
	rcm_fake_sa_set_ports(&port, 1);
	rcm_fake_time_advance(150 * RCM_NS_PER_MS);	/* the ports are looked at every 100 ms */
	assert_int_equal(ask(), 0);
	assert_int_equal(last_byte(list->ai_dst_addr), 6);
}

static unsigned pkeys;

static int look(const struct rcm_gid *gid, bool with_pkeys, struct rcm_publish_port *ret_port)
{
	assert_true(with_pkeys);
	*ret_port = (struct rcm_publish_port){ .gid = *gid, .pkeys = pkeys };
	return 0;
}

static void test_record_answers_kept_are_dropped_when_a_pkey_changes(void **state)
{
	(void)state;
	SCRIPT({ .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(5, 1) } },
	       { .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(6, 1) } });
	question.hints.flags |= RAI_NOROUTE;
	rcm_fake_sa_set_ports(four_ports, 1);
	/* What was kept before is of other ports. */
	rcm_fake_time_advance(150 * RCM_NS_PER_MS);
	assert_int_equal(ask(), 0);
	rcm_addrinfo_free(list);
	pkeys = 1;
	assert_int_equal(ask(), 0);
	assert_int_equal(last_byte(list->ai_dst_addr), 5);
	rcm_addrinfo_free(list);
	rcm_fake_time_advance(10 * RCM_NS_PER_S);
	assert_int_equal(ask(), 0);
	assert_int_equal(last_byte(list->ai_dst_addr), 6);
}

static void test_record_answers_are_kept_where_configured(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	if (wrapped())
		skip();	/* exec of itself */
	rcm_fake_sa_script(NULL, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("RAI_SA_KEEP_MS", "60000", 1);
		execl("/proc/self/exe", "test_record", "kept", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The kernel's client gives records that weren't asked for: they are left out. */
static void test_listing_has_the_records_that_were_asked_for_by_gid_without_paths(void **state)
{
	static const struct rcm_listing listing = { .by_pkey = true, .pkey = 0x8001 };
	struct rcm_sa_service_record nameless = RECORD(5, 9), foreign = RECORD(4, 9);
	static struct rcm_fake_sa_step script[] = {
		{ .port = 1, .listing = true, .pkey = 0x8001, .count = 4, .total = 4 },
	};

	(void)state;
	nameless.name[0] = 0;
	foreign.pkey = 0x8002;
	memcpy(script[0].services, (struct rcm_sa_service_record[]) { RECORD(6, 1), nameless, RECORD(5, 1), foreign },
	       sizeof(script[0].services));
	rcm_fake_sa_script(script, 1);
	question.service = NULL;
	question.listing = &listing;
	question.hints = (struct rcm_hints){ .flags = RAI_SA | RAI_NOROUTE, .listing = true };
	assert_int_equal(ask(), 0);
	assert_int_equal(asker.outcome.arg, 3);
	assert_null(list->ai_dst_canonname);
	assert_null(list->ai_route);
	assert_int_equal(last_byte(list->ai_dst_addr), 5);
	assert_int_equal(be64toh(ib(list->ai_dst_addr)->sib_sid), 1);
	assert_string_equal(rcm_addrinfo_service(list)->name, "storage");
	assert_int_equal(be64toh(ib(list->ai_next->ai_dst_addr)->sib_sid), 9);
	assert_string_equal(rcm_addrinfo_service(list->ai_next)->name, "");
	assert_int_equal(last_byte(list->ai_next->ai_next->ai_dst_addr), 6);
	assert_null(list->ai_next->ai_next->ai_next);
}

static void test_listing_longer_than_the_limit_is_cut_and_tells_how_many_there_were(void **state)
{
	static const struct rcm_listing listing = { 0 };
	struct rcm_sa_service_record *many = calloc(RCM_LISTED_MAX + 1, sizeof(*many));

	(void)state;
	assert_non_null(many);
	for (unsigned i = 0; i <= RCM_LISTED_MAX; i++)
		many[i] = (struct rcm_sa_service_record)RECORD(5, 1 + i);
	question.service = NULL;
	question.listing = &listing;
	question.hints = (struct rcm_hints){ .flags = RAI_SA | RAI_NOROUTE, .listing = true };
	for (unsigned count = RCM_LISTED_MAX; count <= RCM_LISTED_MAX + 1; count++) {
		struct rcm_fake_sa_step step = {
			.port = 1, .listing = true, .count = count, .total = count, .many = many,
		};

		rcm_fake_sa_script(&step, 1);
		assert_int_equal(rcm_asker_start(&asker, &question), 0);
		assert_true(await_outcome(&asker));
		assert_int_equal(asker.outcome.status, 0);
		assert_int_equal(asker.outcome.arg, count);
		assert_int_equal(asker.outcome.answer->count, RCM_LISTED_MAX);
		assert_true(rcm_fake_sa_verify());
	}
	free(many);
}

static void test_listing_by_name_id_and_gid_asks_for_all_of_them(void **state)
{
	const struct rcm_listing listing = { .by_gid = true, .gid = rcm_fake_sa_gid(5) };

	(void)state;
	SCRIPT({ .port = 1, .listing = true, .name = "storage", .id = 7, .gid = 5, .status = -ENOENT, .mad_status = 0x0300,
		 .text = "none" });
	question.listing = &listing;
	question.hints = (struct rcm_hints){ .flags = RAI_SA | RAI_NOROUTE, .listing = true, .by_id = true, .service_id = 7 };
	assert_int_equal(ask(), -ENOENT);
	assert_string_equal(asker.outcome.text, "service storage at the SA: none");
}

static void test_listing_without_a_name_that_fails_says_so_in_words(void **state)
{
	static const struct rcm_listing listing;

	(void)state;
	SCRIPT({ .port = 1, .listing = true, .status = -ETIMEDOUT, .text = "silent" });
	question.service = NULL;
	question.listing = &listing;
	question.hints = (struct rcm_hints){ .flags = RAI_SA | RAI_NOROUTE, .listing = true };
	assert_int_equal(ask(), -ETIMEDOUT);
	assert_string_equal(asker.outcome.text, "services at the SA: silent");
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest kept[] = {
		T(test_record_answers_kept_are_dropped_when_a_port_changes),
		T(test_record_answers_kept_are_dropped_when_a_pkey_changes),
	};
	const struct CMUnitTest tests[] = {
		T(test_record_by_name_gives_an_entry_with_route_for_each),
		T(test_record_has_the_rest_of_what_was_registered),
		T(test_record_that_is_not_accepted_is_none),
		T(test_records_of_which_none_is_accepted_are_enoent_and_told_how_many),
		T(test_only_record_that_is_not_accepted_is_enoent_and_told_as_one),
		T(test_record_lookup_that_accepts_less_is_not_shared),
		T(test_record_by_id_is_asked_by_id_and_named_by_the_record),
		T(test_record_without_route_wanted_asks_for_no_path),
		T(test_record_path_is_asked_for_with_service_id_and_traffic_class),
		T(test_record_with_a_path_comes_before_those_without),
		T(test_record_order_is_partition_then_preference),
		T(test_record_order_of_equals_differs_by_client_and_stays),
		T(test_record_without_pkey_gets_that_of_its_path),
		T(test_record_lookup_leaves_room_in_line_for_others),
		T(test_record_whose_route_can_not_be_had_is_given_without),
		T(test_record_list_that_the_sa_cut_tells_the_total),
		T(test_record_failure_has_the_mad_status_and_a_text),
		T(test_record_of_a_port_that_can_not_be_used_fails_with_that),
		T(test_record_without_port_asks_all_active_infiniband_ports_and_merges),
		T(test_record_had_through_one_port_makes_up_for_another_that_failed),
		T(test_record_whose_port_goes_down_has_the_route_of_another),
		T(test_record_failing_on_all_ports_tells_what_leaves_most_open),
		T(test_record_without_any_active_port_has_no_device),
		T(test_record_paths_late_at_the_deadline_are_left_out),
		T(test_record_ports_late_at_the_deadline_are_left_out),
		T(test_record_back_end_is_given_the_deadline),
		T(test_record_lookups_that_are_equal_are_shared_but_not_kept),
		T(test_record_lookup_that_ended_for_want_of_time_is_asked_on_by_others),
		T(test_record_lookup_that_failed_late_for_another_reason_ends_all),
		T(test_record_lookup_cancelled_cancels_all_its_queries),
		T(test_record_answers_are_kept_where_configured),
		T(test_listing_has_the_records_that_were_asked_for_by_gid_without_paths),
		T(test_listing_longer_than_the_limit_is_cut_and_tells_how_many_there_were),
		T(test_listing_by_name_id_and_gid_asks_for_all_of_them),
		T(test_listing_without_a_name_that_fails_says_so_in_words),
	};

	rcm_fake_time_use();
	rcm_engine_use(&(struct rcm_backends){ .sa = &rcm_fake_sa, .sa_ports = rcm_fake_sa_ports, .port_look = look });
	if (argc > 1 && !strcmp(argv[1], "kept"))
		return cmocka_run_group_tests(kept, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
