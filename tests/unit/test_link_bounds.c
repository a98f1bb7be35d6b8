/* SPDX-License-Identifier: BSD-2-Clause */
/* A port's window of questions in flight at its bounds: what is counted, kept, read and given up exactly when. */
#include <errno.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "fake_umad.h"
#include "sa/link.h"
#include "test.h"

enum { ASKED = 40, HALF = RCM_SA_WINDOW / 2 };

static struct rcm_loop loop;
static struct rcm_link link;
static struct rcm_sa_stats stats;
static struct rcm_link_txn txns[ASKED];
static int statuses[ASKED];		/* 1: not heard */
static uint8_t record[176];
static unsigned changes_fail;		/* the next so many changes of what the loop listens to */

int __real_rcm_source_change(struct rcm_source *source, uint32_t events);
int __wrap_rcm_source_change(struct rcm_source *source, uint32_t events);

int __wrap_rcm_source_change(struct rcm_source *source, uint32_t events)
{
	if (!events || !changes_fail)
		return __real_rcm_source_change(source, events);
	changes_fail--;
	return -ENOMEM;
}

static void hear(struct rcm_link_txn *t, const struct rcm_txn_outcome *outcome)
{
	statuses[t - txns] = outcome->status;
}

static void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

static void pass_ms(unsigned ms)
{
	rcm_fake_clock_advance(ms * RCM_NS_PER_MS);
	turn();
	turn();
}

static void start(unsigned i)
{
	struct rcm_sa_service_query q = { .by_id = true, .service_id = i };

	rcm_wire_ask_service(&q, txns[i].txn.mad);
	rcm_link_ask(&link, &txns[i], rcm_clock_now() + 100 * RCM_NS_PER_S, hear);
}

static struct rcm_fake_sent start_sent(unsigned i)
{
	start(i);
	return rcm_fake_umad_sent();
}

static void answer(const struct rcm_fake_sent *sent)
{
	rcm_fake_umad_answer(sent, 0, sizeof(record), record, sizeof(record));
}

static int setup(void **state)
{
	const struct rcm_gid port = { { 0xfe, 0x80, [15] = 1 } };

	(void)state;
	memset(txns, 0, sizeof(txns));
	memset(&stats, 0, sizeof(stats));
	for (unsigned i = 0; i < ASKED; i++)
		statuses[i] = 1;
	changes_fail = 0;
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_umad_start();
	rcm_fake_record(1, "x", record);
	assert_int_equal(rcm_loop_init(&loop), 0);
	rcm_link_init(&link, &loop, &rcm_fake_umad_ops, &port, &stats);
	return 0;
}

/* Whatever was done, nothing of it is counted any more, and no timer runs. */
static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ASKED; i++)
		rcm_link_cancel(&txns[i]);
	rcm_link_done(&link);
	assert_int_equal(link.active, 0);
	assert_int_equal(rcm_timers_wait_ms(&loop, rcm_clock_now(), -1), -1);
	rcm_fake_umad_finish();
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void test_link_that_is_shut_looks_at_nothing(void **state)
{
	(void)state;
	assert_int_equal(rcm_link_look(&link, true), 0);
	assert_int_equal(rcm_fake_umad.opens, 0);
	assert_int_equal(rcm_fake_umad.looks, 0);
}

/* Told of another SM, one that was not sent yet waits where it is. */
static void test_link_question_in_line_keeps_its_place_when_the_sm_moves(void **state)
{
	struct rcm_fake_sent first = { 0 };

	(void)state;
	for (unsigned i = 0; i < RCM_SA_WINDOW + 2; i++)
		start(i);
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		first = i ? (rcm_fake_umad_sent(), first) : rcm_fake_umad_sent();
	rcm_link_looked(&txns[RCM_SA_WINDOW], 1);
	answer(&first);
	turn();
	assert_int_equal(rcm_fake_umad_sent().mad[63], RCM_SA_WINDOW);
}

/* A place that becomes free before it is told isn't for it any more. */
static void test_link_question_in_line_that_failed_is_not_sent(void **state)
{
	struct rcm_fake_sent first = { 0 };

	(void)state;
	for (unsigned i = 0; i <= RCM_SA_WINDOW; i++)
		start(i);
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		first = i ? (rcm_fake_umad_sent(), first) : rcm_fake_umad_sent();
	rcm_link_looked(&txns[RCM_SA_WINDOW], -ENETDOWN);
	answer(&first);
	turn();
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(statuses[RCM_SA_WINDOW], -ENETDOWN);
}

/* Cancelled, and the time over that its place was kept. */
static struct rcm_fake_sent stale(unsigned i)
{
	struct rcm_fake_sent sent = start_sent(i);

	rcm_link_cancel(&txns[i]);
	pass_ms(200);
	return sent;
}

/* What the kernel has for nobody may be half a window, without what it has said since that it has no more. */
static void test_link_opens_its_port_anew_for_half_a_window_of_stale_questions(void **state)
{
	struct rcm_fake_sent sent = stale(0);

	(void)state;
	assert_int_equal(link.stale, 1);
	/* The first is the last there is; one more was not counted. */
	for (unsigned i = 0; i < 2; i++) {
		answer(&sent);
		turn();
		assert_int_equal(link.stale, 0);
	}
	for (unsigned i = 0; i < HALF - 1; i++) {
		assert_int_equal(link.stale, i);
		sent = stale(i);
	}
	answer(&sent);
	turn();
	assert_int_equal(link.stale, HALF - 2);
	stale(HALF);
	assert_int_equal(link.stale, HALF - 1);
	assert_int_equal(rcm_fake_umad.opens, 1);
	stale(HALF + 1);
	assert_int_equal(link.stale, 0);
	assert_int_equal(rcm_fake_umad.open_now, 0);
	start_sent(HALF + 2);
	assert_int_equal(rcm_fake_umad.opens, 2);
}

static void test_link_believes_an_address_for_a_second_exactly(void **state)
{
	(void)state;
	assert_int_equal(start_sent(0).to.lid, 1);
	rcm_fake_umad.sm_lid = 5;
	rcm_fake_clock_advance(RCM_NS_PER_S - 1);
	assert_int_equal(start_sent(1).to.lid, 1);
	rcm_fake_clock_advance(1);
	assert_int_equal(start_sent(2).to.lid, 5);
}

/* What says that its descriptor or device is of no more use ends the port; what the question or the moment lacks doesn't. */
static void test_link_gives_its_port_up_for_what_is_wrong_with_that(void **state)
{
	static const struct {
		int error;
		bool given_up;
	} cases[] = {
		{ -EIO, true }, { -ENODEV, true }, { -EBADF, true }, { -ENOMEM, false }, { -EINVAL, false },
		{ -EAGAIN, false }, { -ENXIO, false }, { -ECHILD, false },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(rcm_link_open(&link), 0);
		rcm_fake_umad.send_ret = cases[i].error;
		start(i);
		assert_int_equal(!link.way.umad, cases[i].given_up);
		rcm_fake_umad.send_ret = 0;
		rcm_link_cancel(&txns[i]);
	}
}

/* No more can have come than was asked for; and where nothing was, there may be one that nobody waits for. */
static void test_link_reads_as_often_as_it_has_asked(void **state)
{
	struct rcm_fake_sent sent = start_sent(0);

	(void)state;
	answer(&sent);
	turn();
	assert_int_equal(statuses[0], 0);
	assert_int_equal(rcm_fake_umad.recvs, 1);
	for (unsigned i = 0; i < 2; i++)
		answer(&sent);
	for (unsigned i = 0; i < 2; i++) {
		turn();
		assert_int_equal(rcm_fake_umad.recvs, 2 + i);
	}
}

static void test_link_that_ends_behind_an_answer_gives_that_and_closes(void **state)
{
	struct rcm_fake_sent sent = start_sent(0);

	(void)state;
	answer(&sent);
	link.source.ready(&link.source, RCM_READABLE | RCM_BROKEN);
	assert_int_equal(statuses[0], 0);
	assert_null(link.way.umad);
}

/* Without memory twice: first for the message, then for listening again. */
static void test_link_rests_for_20_ms_until_it_can_listen_again(void **state)
{
	struct rcm_fake_sent sent = start_sent(0);

	(void)state;
	answer(&sent);
	rcm_fake_umad.recv_ret = -ENOMEM;
	turn();
	rcm_fake_umad.recv_ret = 0;
	changes_fail = 1;
	pass_ms(19);
	assert_int_equal(changes_fail, 1);
	pass_ms(1);
	assert_int_equal(changes_fail, 0);
	assert_int_equal(statuses[0], 1);
	pass_ms(19);
	assert_int_equal(statuses[0], 1);
	pass_ms(1);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(link.source_timer.state, RCM_TIMER_IDLE);
}

static void test_link_closed_while_it_rests_has_no_timers(void **state)
{
	(void)state;
	start_sent(0);
	rcm_fake_umad.recv_ret = -ENOMEM;
	link.source.ready(&link.source, RCM_READABLE);
	assert_int_equal(link.source_timer.state, RCM_TIMER_WAITING);
	assert_int_equal(link.slots_timer.state, RCM_TIMER_WAITING);
	link.source.ready(&link.source, RCM_READABLE | RCM_HANGUP);
	rcm_fake_umad.recv_ret = 0;
	assert_null(link.way.umad);
	assert_int_equal(link.source_timer.state, RCM_TIMER_IDLE);
	assert_int_equal(link.slots_timer.state, RCM_TIMER_IDLE);
}

/* How long an SA takes is known by what it answers. */
static void test_link_takes_silence_for_no_measure(void **state)
{
	struct rcm_fake_sent sent = start_sent(0);

	(void)state;
	rcm_fake_clock_advance(40 * RCM_NS_PER_MS);
	rcm_fake_umad_timeout(&sent);
	turn();
	assert_int_equal(link.pace.seen, 0);
	sent = rcm_fake_umad_sent();
	rcm_fake_clock_advance(30 * RCM_NS_PER_MS);
	answer(&sent);
	turn();
	assert_int_equal(link.pace.seen, 30 * RCM_NS_PER_MS);
}

static void test_link_news_that_are_too_large_fail_their_question(void **state)
{
	struct rcm_fake_sent sent = start_sent(0);

	(void)state;
	rcm_fake_umad_timeout(&sent);
	rcm_fake_umad.recv_ret = -EMSGSIZE;
	turn();
	rcm_fake_umad.recv_ret = 0;
	assert_int_equal(statuses[0], -EIO);
}

/* Asked how long it may take, an SA that refuses, or has nothing to say, isn't asked again by the next question. */
static void test_link_asks_no_second_time_how_long_it_takes_what_answered(void **state)
{
	(void)state;
	for (unsigned none = 0; none < 2; none++) {
		rcm_fake_umad.infos_none = none;
		for (unsigned i = 0; i < 2; i++) {
			struct rcm_fake_sent sent = start_sent(i);

			pass_ms(450);
			assert_int_equal(rcm_fake_umad.infos, none + 1);
			rcm_fake_umad_timeout(&sent);
			turn();
			rcm_fake_umad_sent();
			assert_int_equal(rcm_fake_umad.infos, none + 1);
			rcm_link_cancel(&txns[i]);
			pass_ms(200);
		}
		rcm_pace_forget(&link.pace);
	}
}

/* Nor while that is under way, to an SM of before. */
static void test_link_asks_one_question_at_a_time_how_long_it_takes(void **state)
{
	(void)state;
	rcm_fake_umad.infos_lost = true;
	start_sent(0);
	pass_ms(400);
	assert_int_equal(rcm_fake_umad.infos, 1);
	rcm_fake_umad.sm_lid = 5;
	assert_int_equal(rcm_link_look(&link, false), 1);
	start_sent(1);
	pass_ms(400);
	assert_int_equal(link.active, 3);
	while (rcm_fake_umad_unseen())
		rcm_fake_umad_sent();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_link_that_is_shut_looks_at_nothing),
		TEST(test_link_question_in_line_keeps_its_place_when_the_sm_moves),
		TEST(test_link_question_in_line_that_failed_is_not_sent),
		TEST(test_link_opens_its_port_anew_for_half_a_window_of_stale_questions),
		TEST(test_link_believes_an_address_for_a_second_exactly),
		TEST(test_link_gives_its_port_up_for_what_is_wrong_with_that),
		TEST(test_link_reads_as_often_as_it_has_asked),
		TEST(test_link_that_ends_behind_an_answer_gives_that_and_closes),
		TEST(test_link_rests_for_20_ms_until_it_can_listen_again),
		TEST(test_link_closed_while_it_rests_has_no_timers),
		TEST(test_link_takes_silence_for_no_measure),
		TEST(test_link_news_that_are_too_large_fail_their_question),
		TEST(test_link_asks_no_second_time_how_long_it_takes_what_answered),
		TEST(test_link_asks_one_question_at_a_time_how_long_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
