/* SPDX-License-Identifier: BSD-2-Clause */
/* The SA client: queries in, records out, over a scripted umad. */
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "fake_clock.h"
#include "fake_malloc.h"
#include "fake_umad.h"
#include "heard.h"
#include "loop/timer.h"
#include "sa/client.h"
#include "sa/wire.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_sa *sa;

static void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

static struct rcm_gid port_gid(unsigned number)
{
	struct rcm_gid gid = { .raw = { 0xfe, 0x80 } };

	gid.raw[15] = (uint8_t)number;
	return gid;
}

static int ask(unsigned port, const char *name, struct heard *h, struct rcm_sa_query **ret_query)
{
	struct rcm_sa_service_query q = { .port = port_gid(port), .by_name = true,
					  .deadline = rcm_clock_now() + 4 * RCM_NS_PER_S };

	snprintf(q.service_name, sizeof(q.service_name), "%s", name);
	return rcm_sa_umad.service(sa, &q, hear, h, ret_query);
}

static int setup(void **state)
{
	(void)state;
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_umad_start();
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_client_open(&loop, &rcm_fake_umad_ops, &sa), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sa_umad.close(sa);
	rcm_fake_umad_finish();
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void test_client_opens_no_port_before_the_first_question(void **state)
{
	(void)state;
	assert_int_equal(rcm_fake_umad.opens, 0);
}

static void test_client_gives_the_records_of_the_answer(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t records[2][176];

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	assert_int_equal(h.calls, 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_record(7, "disk", records[0]);
	rcm_fake_record(8, "disk", records[1]);
	rcm_fake_umad_answer(&sent, 0, 176, records, sizeof(records));
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 2);
	assert_int_equal(h.total, 2);
	assert_int_equal(h.first.id, 7);
	assert_int_equal(h.first.lease, 600);
	assert_string_equal(h.first.name, "disk");
}

static void test_client_refuses_a_record_that_was_not_asked_for(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t records[2][176];

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_record(7, "disk", records[0]);
	rcm_fake_record(8, "disks", records[1]);
	rcm_fake_umad_answer(&sent, 0, 176, records, sizeof(records));
	turn();
	assert_int_equal(h.status, -EIO);
	assert_string_not_equal(h.text, "");
}

static void test_client_cuts_a_table_to_the_limit_and_tells_the_total(void **state)
{
	enum { MANY = RCM_RESULTS_MAX + 3 };
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t (*records)[176] = calloc(MANY, sizeof(*records));

	(void)state;
	assert_non_null(records);
	for (unsigned i = 0; i < MANY; i++)
		rcm_fake_record(i, "disk", records[i]);
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 176, records, MANY * sizeof(*records));
	turn();
	free(records);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, RCM_RESULTS_MAX);
	assert_int_equal(h.total, MANY);
}

/* The least that answers it. */
static void path_fill(uint8_t path[64], const struct rcm_sa_path_query *q)
{
	memset(path, 0, 64);
	memcpy(path + 8, q->dgid.raw, 16);
	memcpy(path + 24, q->port.raw, 16);
	path[49] = 0x80 | 1;
	path[50] = (uint8_t)(q->pkey >> 8);
	path[51] = (uint8_t)q->pkey;
}

static int status_of_path_with(const struct rcm_sa_path_query *q, unsigned at, uint8_t flip)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t path[64];

	assert_int_equal(rcm_sa_umad.path(sa, q, hear, &h, &query), 0);
	sent = rcm_fake_umad_sent();
	path_fill(path, q);
	path[at] ^= flip;
	rcm_fake_umad_answer(&sent, 0, 0, path, sizeof(path));
	turn();
	return h.status;
}

/* Its ends, its partition, whether it leads back; not what the SA is free to choose. */
static void test_client_refuses_a_path_that_was_not_asked_for(void **state)
{
	struct rcm_sa_path_query q = { .port = port_gid(1), .dgid = port_gid(2), .pkey = 0x8001, .service_id = 7 };

	(void)state;
	assert_int_equal(status_of_path_with(&q, 8 + 15, 1), -EIO);
	assert_int_equal(status_of_path_with(&q, 24 + 15, 1), -EIO);
	assert_int_equal(status_of_path_with(&q, 51, 2), -EIO);
	assert_int_equal(status_of_path_with(&q, 49, 0x80), -EIO);
	assert_int_equal(status_of_path_with(&q, 50, 0x80), 0);
	assert_int_equal(status_of_path_with(&q, 53, 3), 0);
	q.pkey = 0;
	assert_int_equal(status_of_path_with(&q, 51, 2), 0);
}

static void test_client_gives_the_path_as_it_is_on_the_wire(void **state)
{
	struct rcm_sa_path_query q = { .port = port_gid(1), .dgid = port_gid(2), .pkey = 0xffff };
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t path[200] = { 0 };

	(void)state;
	assert_int_equal(rcm_sa_umad.path(sa, &q, hear, &h, &query), 0);
	sent = rcm_fake_umad_sent();
	path_fill(path, &q);
	path[40] = 0x12;
	path[63] = 0x34;
	/* Get is answered with a whole MAD, and its offset is of no meaning. */
	rcm_fake_umad_answer(&sent, 0, 0, path, sizeof(path));
	turn();
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
	assert_memory_equal(h.path, path, 64);
}

static uint8_t told_paths[3][64];
static int told_status;

static void hear_paths(void *arg, const struct rcm_sa_answer *answer)
{
	++*(unsigned *)arg;
	told_status = answer->status;
	memset(told_paths, 0, sizeof(told_paths));
	if (answer->status)
		return;
	assert_int_equal(answer->count, 3);
	memcpy(told_paths, answer->paths, sizeof(told_paths));
}

/* Of a table each has to be as it was asked for, and they follow each other whatever the SA has between them. */
static void test_client_gives_all_paths_of_a_table_or_none(void **state)
{
	struct rcm_sa_path_query q = { .port = port_gid(1), .to_all = true };
	uint8_t records[3][72];
	unsigned calls = 0;

	(void)state;
	for (unsigned wrong = 0; wrong <= 3; wrong++) {
		struct rcm_sa_query *query;
		struct rcm_fake_sent sent;

		memset(records, 0x5a, sizeof(records));
		for (unsigned i = 0; i < 3; i++) {
			q.dgid = port_gid(10 + i);
			path_fill(records[i], &q);
		}
		if (wrong < 3)
			records[wrong][24 + 15] ^= 1;
		assert_int_equal(rcm_sa_umad.path(sa, &q, hear_paths, &calls, &query), 0);
		sent = rcm_fake_umad_sent();
		rcm_fake_umad_answer(&sent, 0, sizeof(records[0]), records, sizeof(records));
		turn();
		assert_int_equal(calls, wrong + 1);
		assert_int_equal(told_status, wrong < 3 ? -EIO : 0);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_memory_equal(told_paths[i], records[i], 64);
}

static void test_client_asks_several_ports_at_once(void **state)
{
	struct rcm_fake_sent sent[3];
	struct rcm_sa_query *query;
	struct heard h[3] = { 0 };
	uint8_t record[176];

	(void)state;
	rcm_fake_record(1, "disk", record);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ask(i + 1, "disk", &h[i], &query), 0);
	assert_int_equal(rcm_fake_umad.open_now, 3);
	for (unsigned i = 0; i < 3; i++)
		sent[i] = rcm_fake_umad_sent();
	/* The last of them first; each has transaction ids of its own. */
	for (unsigned i = 3; i-- > 0;) {
		assert_int_equal(rcm_wire_tid(sent[i].mad), 1);
		rcm_fake_umad_answer(&sent[i], i == 1 ? 0x0300 : 0, 176, record, i == 1 ? 0 : sizeof(record));
		turn();
		assert_int_equal(h[i].calls, 1);
		assert_int_equal(h[i].status, i == 1 ? -ENOENT : 0);
	}
}

static void test_client_keeps_the_status_of_a_refusal(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0x0700, 0, NULL, 0);
	turn();
	assert_int_equal(h.status, -EIO);
	assert_int_equal(h.mad_status, 0x0700);
	assert_non_null(strstr(h.text, "REQ_DENIED"));
}

static void test_client_refuses_at_once_what_it_cannot_ask(void **state)
{
	struct rcm_sa_query *query = (void *)1;
	struct rcm_sa_service_query q = { .by_id = true };
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), -ENODEV);
	rcm_fake_umad.open_ret = -EACCES;
	assert_int_equal(ask(1, "disk", &h, &query), -EACCES);
	turn();
	assert_int_equal(h.calls, 0);
	assert_ptr_equal(query, (void *)1);
}

static void test_client_cancels_one_and_answers_the_other(void **state)
{
	struct rcm_fake_sent first, second;
	struct rcm_sa_query *query;
	struct heard gone = { 0 }, kept = { 0 };
	uint8_t record[176];

	(void)state;
	rcm_fake_record(1, "disk", record);
	assert_int_equal(ask(1, "disk", &gone, &query), 0);
	rcm_sa_umad.cancel(sa, query);
	assert_int_equal(ask(1, "disk", &kept, &query), 0);
	first = rcm_fake_umad_sent();
	second = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&first, 0, 176, record, sizeof(record));
	rcm_fake_umad_answer(&second, 0, 176, record, sizeof(record));
	turn();
	assert_int_equal(gone.calls, 0);
	assert_int_equal(kept.calls, 1);
}

static void test_client_closed_with_questions_under_way_completes_none(void **state)
{
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(ask(1 + i % 2, "disk", &h, &query), 0);
	while (rcm_fake_umad_unseen())
		rcm_fake_umad_sent();
	rcm_sa_umad.close(sa);
	sa = NULL;
	turn();
	assert_int_equal(h.calls, 0);
	assert_int_equal(rcm_timers_wait_ms(&loop, rcm_clock_now(), -1), -1);
}

static void test_client_abandoned_after_a_fork_leaves_the_loop_alone(void **state)
{
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_umad_sent();
	rcm_loop_done(&loop);		/* as good as the parent's */
	rcm_sa_umad.abandon(sa);
	sa = NULL;
	assert_int_equal(h.calls, 0);
	assert_int_equal(rcm_loop_init(&loop), 0);
}

static void test_client_counts_questions_and_repeats(void **state)
{
	struct rcm_sa_stats stats;
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_timeout(&sent);
	turn();
	rcm_fake_umad_sent();
	rcm_sa_umad.stats(sa, &stats);
	assert_int_equal(stats.queries, 2);
	assert_int_equal(stats.retries, 1);
}

static void test_client_finds_a_device_that_came_back_under_another_name(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
	turn();
	assert_string_equal(rcm_fake_umad.opened, "fake0");
	rcm_fake_clock_advance(RCM_SA_IDLE_MS * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_fake_umad.open_now, 0);
	rcm_fake_umad.device = "fake1";
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_umad_sent();
	assert_string_equal(rcm_fake_umad.opened, "fake1");
}

static void test_client_makes_room_for_more_ports_than_it_keeps(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	for (unsigned i = 1; i <= RCM_SA_PORTS_MAX + 1; i++) {
		assert_int_equal(ask(i, "disk", &h, &query), 0);
		sent = rcm_fake_umad_sent();
		rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
		turn();
		assert_int_equal(h.calls, i);
	}
	assert_int_equal(rcm_fake_umad.open_now, RCM_SA_PORTS_MAX);
}

/* Asks through a port that isn't open yet, while the link that tells is still at work. */
static int told_ask;

static void ask_another(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_sa_query *query;

	(void)answer;
	told_ask = ask(RCM_SA_PORTS_MAX + 1, "other", arg, &query);
}

static void test_client_told_of_an_outcome_can_not_free_the_link_that_tells(void **state)
{
	struct rcm_sa_service_query q = { .port = port_gid(1), .by_name = true, .service_name = "disk",
					  .deadline = rcm_clock_now() + RCM_NS_PER_MS };
	struct heard h = { 0 };
	struct rcm_sa_query *query;

	(void)state;
	for (unsigned i = 2; i <= RCM_SA_PORTS_MAX; i++) {
		assert_int_equal(ask(i, "disk", &h, &query), 0);
		rcm_fake_umad_sent();
	}
	/* By its timer, by an answer. */
	for (unsigned i = 0; i < 2; i++) {
		struct rcm_fake_sent sent;

		assert_int_equal(rcm_sa_umad.service(sa, &q, ask_another, &h, &query), 0);
		sent = rcm_fake_umad_sent();
		told_ask = 1;
		if (i)
			rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
		else
			rcm_fake_clock_advance(2 * RCM_NS_PER_MS);
		turn();
		assert_int_equal(told_ask, -EMFILE);
		q.deadline = 0;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int publish(bool remove, struct heard *h)
{
	struct rcm_sa_publication p = {
		.port = port_gid(1), .remove = remove, .deadline = rcm_clock_now() + 4 * RCM_NS_PER_S,
		.record = { .id = 7, .gid = port_gid(1), .pkey = 0xffff, .lease = 120, .name = "disk" },
	};
	struct rcm_sa_query *query;

	return rcm_sa_umad.publish(sa, &p, hear, h, &query);
}

/* Asks, and has the SA say this to it. */
static void publish_answered(bool remove, uint8_t method, uint8_t status, struct heard *h)
{
	struct rcm_fake_sent sent;
	uint8_t mad[256];

	assert_int_equal(publish(remove, h), 0);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.mad[3], remove ? 0x15 : 0x02);
	memcpy(mad, sent.mad, sizeof(mad));
	mad[3] = method;
	mad[4] = status;
	rcm_fake_umad_bytes(&sent, mad, sizeof(mad));
	turn();
	assert_int_equal(h->calls, 1);
}

static void test_client_publishes_and_tells_that_the_sa_agreed(void **state)
{
	struct heard h = { 0 };

	(void)state;
	publish_answered(false, 0x81, 0, &h);
	assert_int_equal(h.status, 0);
}

static void test_client_publishing_keeps_the_status_of_a_refusal(void **state)
{
	struct heard h = { 0 };

	(void)state;
	publish_answered(false, 0x81, 0x02, &h);
	assert_int_equal(h.status, -EIO);
	assert_int_equal(h.mad_status, 0x0200);
	assert_non_null(strstr(h.text, "REQ_INVALID"));
}

static void test_client_deleting_what_is_not_there_is_enoent(void **state)
{
	struct heard h = { 0 };

	(void)state;
	publish_answered(true, 0x95, 0x03, &h);
	assert_int_equal(h.status, -ENOENT);
}

/* Its publisher has to set it there, and not to wait for somebody else to. */
static void test_client_says_at_once_that_a_new_sm_lacks_a_record_of_the_asker(void **state)
{
	struct rcm_sa_service_query q = {
		.port = port_gid(1), .by_id = true, .service_id = 7, .by_gid = true, .by_pkey = true, .gid = port_gid(1), .pkey = 0xffff,
		.deadline = rcm_clock_now() + 4 * RCM_NS_PER_S,
	};
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 176, "", 0);
	turn();
	assert_int_equal(h.status, -ENOENT);
	rcm_fake_umad.sm_lid = 2;
	rcm_fake_clock_advance(2 * RCM_NS_PER_S);
	q.deadline = rcm_clock_now() + 4 * RCM_NS_PER_S;
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 176, "", 0);
	turn();
	assert_int_equal(h.calls, 2);
	assert_int_equal(h.status, -ENOENT);
}

static void test_client_tells_that_an_answer_was_too_large(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 0, NULL, 0);
	rcm_fake_umad.recv_ret = -EMSGSIZE;
	turn();
	rcm_fake_umad.recv_ret = 0;
	assert_int_equal(h.status, -EIO);
	assert_true(h.too_large);
}

/* ---- Ports that change while questions are under way ---- */

enum { UNDER_WAY = RCM_SA_WINDOW + 4 };

static struct heard under_way[UNDER_WAY];

/* More than the window lets be sent. */
static void ask_many(void)
{
	struct rcm_sa_query *query;

	memset(under_way, 0, sizeof(under_way));
	for (unsigned i = 0; i < UNDER_WAY; i++)
		assert_int_equal(ask(1, "disk", &under_way[i], &query), 0);
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		rcm_fake_umad_sent();
}

static void assert_all_down(void)
{
	for (unsigned i = 0; i < UNDER_WAY; i++) {
		assert_int_equal(under_way[i].calls, 1);
		assert_int_equal(under_way[i].status, -ENETDOWN);
		assert_non_null(strstr(under_way[i].text, "fake0/1 is down"));
	}
}

static void test_client_told_of_a_port_that_went_down_fails_what_waits_there_at_once(void **state)
{
	(void)state;
	ask_many();
	rcm_fake_umad.address_ret = -ENETDOWN;
	rcm_sa_umad.look(sa);
	assert_int_equal(under_way[0].calls, 0);
	turn();
	assert_all_down();
}

static void test_client_whose_answers_stay_out_sees_by_itself_that_the_port_went_down(void **state)
{
	(void)state;
	ask_many();
	rcm_fake_umad.address_ret = -ENETDOWN;
	rcm_fake_clock_advance(199 * RCM_NS_PER_MS);
	turn();
	turn();
	assert_int_equal(under_way[0].calls, 0);
	rcm_fake_clock_advance(1 * RCM_NS_PER_MS);
	turn();
	turn();
	assert_all_down();
	assert_int_equal(rcm_fake_umad.doubts, 0);
}

static void test_client_told_of_another_sm_asks_that_at_once(void **state)
{
	struct rcm_fake_sent sent;
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t record[176];

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	assert_int_equal(rcm_fake_umad_sent().to.lid, 1);
	rcm_fake_umad.sm_lid = 7;
	rcm_sa_umad.look(sa);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.to.lid, 7);
	rcm_fake_record(7, "disk", record);
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, 0);
}

static void test_client_told_of_a_port_that_is_as_it_was_asks_nothing_again(void **state)
{
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_umad_sent();
	rcm_sa_umad.look(sa);
	turn();
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	assert_int_equal(h.calls, 0);
}

/* Whoever has asked already needs nothing that has run out here. */
static void test_client_that_lacks_what_to_look_with_waits_for_the_answers(void **state)
{
	static const int wants[] = { -ENODEV, -EMFILE, -ENFILE, -ENOMEM };
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 };
	uint8_t record[176];

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		rcm_fake_umad.address_ret = wants[i];
		rcm_sa_umad.look(sa);
		turn();
	}
	rcm_fake_clock_advance(200 * RCM_NS_PER_MS);
	turn();
	turn();
	assert_int_equal(h.calls, 0);
	rcm_fake_record(7, "disk", record);
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, 0);
}

/* Between two questions nobody looks at a port. */
static void test_client_without_questions_looks_at_no_port(void **state)
{
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	uint8_t record[176];
	struct rcm_fake_sent sent;
	unsigned looks;

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_record(7, "disk", record);
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	turn();
	looks = rcm_fake_umad.looks;
	for (unsigned i = 0; i < 10; i++) {
		rcm_fake_clock_advance(RCM_NS_PER_S / 4);
		turn();
		rcm_sa_umad.look(sa);
	}
	assert_int_equal(rcm_fake_umad.looks, looks);
	rcm_fake_clock_advance(RCM_SA_IDLE_MS * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_timers_wait_ms(&loop, rcm_clock_now(), -1), -1);
}

static void nothing(struct rcm_timer *timer)
{
	(void)timer;
}

/* A look may take a moment, and what is due soon does without it; but not for ever. */
static void test_client_puts_a_look_off_three_times_where_something_is_due_soon(void **state)
{
	struct rcm_timer soon = { 0 };
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 };
	uint8_t record[176];

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		unsigned looks;

		assert_int_equal(ask(1, "disk", &h, &query), 0);
		sent = rcm_fake_umad_sent();
		looks = rcm_fake_umad.looks;
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(rcm_fake_umad.looks, looks);
			rcm_fake_clock_advance((i ? 50 : 200) * RCM_NS_PER_MS);
			rcm_timer_stop(&loop, &soon);
			rcm_timer_start(&loop, &soon, rcm_clock_now() + 20 * RCM_NS_PER_MS, nothing);
			turn();
		}
		assert_int_equal(rcm_fake_umad.looks, looks + 1);
		rcm_fake_record(7, "disk", record);
		rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
		turn();
		assert_int_equal(h.calls, round + 1);
	}
	rcm_timer_stop(&loop, &soon);
}

/* As long as the look may take. */
static void test_client_looks_at_once_where_nothing_is_due_for_50_ms(void **state)
{
	struct rcm_timer soon = { 0 };
	struct rcm_sa_query *query;
	struct heard h = { 0 };
	unsigned looks;

	(void)state;
	for (unsigned ms = 49; ms <= 50; ms++) {
		assert_int_equal(ask(1, "disk", &h, &query), 0);
		rcm_fake_umad_sent();
		looks = rcm_fake_umad.looks;
		rcm_fake_clock_advance(200 * RCM_NS_PER_MS);
		rcm_timer_start(&loop, &soon, rcm_clock_now() + ms * RCM_NS_PER_MS, nothing);
		turn();
		for (unsigned i = 0; i < 5; i++)
			turn();
		assert_int_equal(rcm_fake_umad.looks, looks + (ms == 50));
		rcm_timer_stop(&loop, &soon);
		rcm_sa_umad.close(sa);
		assert_int_equal(rcm_client_open(&loop, &rcm_fake_umad_ops, &sa), 0);
	}
}

/* A port is looked at for an answer that stays out, not for one that was asked for a moment ago. */
static void test_client_looks_for_a_question_200_ms_after_it_was_asked(void **state)
{
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 };
	unsigned looks;

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
	turn();
	rcm_fake_clock_advance(RCM_NS_PER_MS);
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_umad_sent();
	looks = rcm_fake_umad.looks;
	rcm_fake_clock_advance(199 * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_fake_umad.looks, looks);
	rcm_fake_clock_advance(40 * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_fake_umad.looks, looks);
	assert_int_equal(h.calls, 1);
}

/* Every 200 ms from the first question on, whichever come since; and of another port's answers that says nothing. */
static void test_client_looks_every_200_ms_at_ports_whose_answers_stay_out(void **state)
{
	struct heard h = { 0 }, later = { 0 };
	struct rcm_sa_query *query;
	unsigned looks;

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_clock_advance(100 * RCM_NS_PER_MS);
	assert_int_equal(ask(2, "disk", &later, &query), 0);
	for (unsigned i = 0; i < 2; i++)
		rcm_fake_umad_sent();
	looks = rcm_fake_umad.looks;
	rcm_fake_clock_advance(100 * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_fake_umad.looks, looks + 1);
	rcm_fake_clock_advance(199 * RCM_NS_PER_MS);
	turn();
	assert_int_equal(rcm_fake_umad.looks, looks + 1);
	/* Put off for what is due, three times at most; those who ask again look, too. */
	for (unsigned ms = 0; ms <= 160; ms += 10) {
		rcm_fake_clock_advance((ms ? 10 : 1) * RCM_NS_PER_MS);
		turn();
	}
	assert_int_equal(rcm_fake_umad.looks - rcm_fake_umad.doubts, looks + 3);
	assert_int_equal(h.calls + later.calls, 0);
	while (rcm_fake_umad_unseen())
		rcm_fake_umad_sent();
}

static void test_client_fails_what_waits_at_the_port_that_went_down_alone(void **state)
{
	struct heard h = { 0 }, other = { 0 };
	struct rcm_sa_query *query;

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	rcm_fake_clock_advance(100 * RCM_NS_PER_MS);
	assert_int_equal(ask(2, "disk", &other, &query), 0);
	for (unsigned i = 0; i < 2; i++)
		rcm_fake_umad_sent();
	rcm_fake_umad.address_ret = -ENETDOWN;
	rcm_fake_clock_advance(100 * RCM_NS_PER_MS);
	turn();
	turn();
	assert_int_equal(h.status, -ENETDOWN);
	assert_int_equal(other.calls, 0);
}

/* Where all three are said it is the asker's own: any other may be there in a moment. */
static void test_client_waits_for_records_of_a_new_sm_that_may_be_anothers(void **state)
{
	(void)state;
	for (unsigned by = 0; by < 8; by++) {
		struct rcm_sa_service_query q = {
			.port = port_gid(1), .by_id = by & 1, .by_gid = by & 2, .by_pkey = by & 4, .gid = port_gid(1),
			.deadline = rcm_clock_now() + 4 * RCM_NS_PER_S,
		};
		struct rcm_sa_query *query;
		struct rcm_fake_sent sent;
		struct heard h = { 0 };

		assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), 0);
		rcm_fake_umad_sent();
		rcm_fake_umad.sm_lid++;
		rcm_sa_umad.look(sa);
		sent = rcm_fake_umad_sent();
		rcm_fake_umad_answer(&sent, 0, 176, "", 0);
		turn();
		assert_int_equal(h.calls, by == 7);
		if (by != 7)
			rcm_sa_umad.cancel(sa, query);
	}
}

static void test_client_gives_as_many_records_as_are_wanted(void **state)
{
	struct rcm_sa_service_query q = { .port = port_gid(1), .by_name = true, .service_name = "disk", .most = 2 };
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 };
	uint8_t records[3][176];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		rcm_fake_record(i, "disk", records[i]);
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 176, records, sizeof(records));
	turn();
	assert_int_equal(h.count, 2);
	assert_int_equal(h.total, 3);
}

static void test_client_tells_of_a_path_that_is_refused_or_has_no_memory(void **state)
{
	struct rcm_sa_path_query q = { .port = port_gid(1), .to_all = true };
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 };
	uint8_t record[72] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rcm_sa_umad.path(sa, &q, hear, &h, &query), 0);
		sent = rcm_fake_umad_sent();
		q.dgid = port_gid(2);
		path_fill(record, &q);
		rcm_fake_umad_answer(&sent, i ? 0 : 0x0700, sizeof(record), record, i ? sizeof(record) : 0);
		if (i)
			rcm_fake_malloc_fail(1);
		turn();
		assert_true(rcm_fake_malloc_calm());
		assert_int_equal(h.calls, i + 1);
		assert_int_equal(h.status, i ? -ENOMEM : -EIO);
	}
}

/* Of each kind, on a port that is open. */
static int ask_kind(unsigned kind, struct heard *h, struct rcm_sa_query **ret_query)
{
	struct rcm_sa_path_query path = { .port = port_gid(1), .deadline = rcm_clock_now() + RCM_NS_PER_S };

	return kind == 0 ? ask(1, "disk", h, ret_query) : kind == 1 ? publish(false, h) :
	       rcm_sa_umad.path(sa, &path, hear, h, ret_query);
}

/* Whatever kind it was; and what there isn't is closed, and abandoned, as well. */
static void test_client_cancels_a_question_of_each_kind(void **state)
{
	struct rcm_sa_publication p = { .port = port_gid(1), .record = { .id = 7, .name = "disk" } };
	struct rcm_sa_path_query path = { .port = port_gid(1) };
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_sa_umad.path(sa, &path, hear, &h, &query), 0);
	rcm_fake_umad_sent();
	rcm_sa_umad.cancel(sa, query);
	assert_int_equal(rcm_sa_umad.publish(sa, &p, hear, &h, &query), 0);
	rcm_fake_umad_sent();
	rcm_sa_umad.cancel(sa, query);
	rcm_fake_clock_advance(RCM_NS_PER_S);
	turn();
	turn();
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	rcm_sa_umad.close(NULL);
	rcm_sa_umad.abandon(NULL);
}

static void test_client_without_memory_refuses_at_once_and_answers_the_others(void **state)
{
	struct rcm_sa_query *query, *none = NULL;
	struct rcm_fake_sent sent;
	struct heard h = { 0 }, refused = { 0 };
	struct rcm_sa *other = NULL;
	uint8_t record[176];

	(void)state;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_client_open(&loop, &rcm_fake_umad_ops, &other), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_null(other);
	/* The port's link. */
	rcm_fake_malloc_fail(1);
	assert_int_equal(ask(1, "disk", &refused, &none), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_int_equal(rcm_fake_umad.opens, 0);
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	for (unsigned kind = 0; kind < 3; kind++) {
		rcm_fake_malloc_fail(1);
		assert_int_equal(ask_kind(kind, &refused, &none), -ENOMEM);
		assert_true(rcm_fake_malloc_calm());
		assert_null(none);
	}
	sent = rcm_fake_umad_sent();
	rcm_fake_record(7, "disk", record);
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(refused.calls, 0);
	/* What the answer is to be told in. */
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	rcm_fake_malloc_fail(1);
	turn();
	assert_true(rcm_fake_malloc_calm());
	assert_int_equal(h.calls, 2);
	assert_int_equal(h.status, -ENOMEM);
}

/* Its address was read a moment ago, by another file. */
static void test_client_asks_a_port_that_was_lost_and_opened_again_where_its_sm_is_now(void **state)
{
	struct rcm_sa_query *query;
	struct rcm_fake_sent sent;
	struct heard h = { 0 }, next = { 0 };
	uint8_t record[176];

	(void)state;
	assert_int_equal(ask(1, "disk", &h, &query), 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_record(7, "disk", record);
	rcm_fake_umad_answer(&sent, 0, 176, record, sizeof(record));
	turn();
	assert_int_equal(h.calls, 1);
	rcm_fake_umad.recv_ret = -EIO;
	assert_int_equal(eventfd_write(rcm_fake_umad_ops.fd(sent.umad), 1), 0);
	turn();
	assert_int_equal(rcm_fake_umad.open_now, 0);
	rcm_fake_umad.recv_ret = 0;
	rcm_fake_umad.sm_lid = 9;
	assert_int_equal(ask(1, "disk", &next, &query), 0);
	assert_int_equal(rcm_fake_umad_sent().to.lid, 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_client_without_memory_refuses_at_once_and_answers_the_others),
		TEST(test_client_asks_a_port_that_was_lost_and_opened_again_where_its_sm_is_now),
		TEST(test_client_publishes_and_tells_that_the_sa_agreed),
		TEST(test_client_publishing_keeps_the_status_of_a_refusal),
		TEST(test_client_deleting_what_is_not_there_is_enoent),
		TEST(test_client_says_at_once_that_a_new_sm_lacks_a_record_of_the_asker),
		TEST(test_client_opens_no_port_before_the_first_question),
		TEST(test_client_tells_that_an_answer_was_too_large),
		TEST(test_client_told_of_a_port_that_went_down_fails_what_waits_there_at_once),
		TEST(test_client_whose_answers_stay_out_sees_by_itself_that_the_port_went_down),
		TEST(test_client_told_of_another_sm_asks_that_at_once),
		TEST(test_client_told_of_a_port_that_is_as_it_was_asks_nothing_again),
		TEST(test_client_that_lacks_what_to_look_with_waits_for_the_answers),
		TEST(test_client_without_questions_looks_at_no_port),
		TEST(test_client_puts_a_look_off_three_times_where_something_is_due_soon),
		TEST(test_client_looks_at_once_where_nothing_is_due_for_50_ms),
		TEST(test_client_looks_every_200_ms_at_ports_whose_answers_stay_out),
		TEST(test_client_fails_what_waits_at_the_port_that_went_down_alone),
		TEST(test_client_waits_for_records_of_a_new_sm_that_may_be_anothers),
		TEST(test_client_gives_as_many_records_as_are_wanted),
		TEST(test_client_tells_of_a_path_that_is_refused_or_has_no_memory),
		TEST(test_client_cancels_a_question_of_each_kind),
		TEST(test_client_looks_for_a_question_200_ms_after_it_was_asked),
		TEST(test_client_gives_the_records_of_the_answer),
		TEST(test_client_refuses_a_record_that_was_not_asked_for),
		TEST(test_client_cuts_a_table_to_the_limit_and_tells_the_total),
		TEST(test_client_gives_the_path_as_it_is_on_the_wire),
		TEST(test_client_gives_all_paths_of_a_table_or_none),
		TEST(test_client_asks_several_ports_at_once),
		TEST(test_client_keeps_the_status_of_a_refusal),
		TEST(test_client_refuses_at_once_what_it_cannot_ask),
		TEST(test_client_cancels_one_and_answers_the_other),
		TEST(test_client_closed_with_questions_under_way_completes_none),
		TEST(test_client_abandoned_after_a_fork_leaves_the_loop_alone),
		TEST(test_client_counts_questions_and_repeats),
		TEST(test_client_finds_a_device_that_came_back_under_another_name),
		TEST(test_client_makes_room_for_more_ports_than_it_keeps),
		TEST(test_client_told_of_an_outcome_can_not_free_the_link_that_tells),
		TEST(test_client_refuses_a_path_that_was_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
