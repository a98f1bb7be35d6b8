/* SPDX-License-Identifier: BSD-2-Clause */
/* A port's window of questions in flight, its opening, loss and idleness. */
#include <errno.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "fake_umad.h"
#include "sa/link.h"
#include "test.h"

enum { ASKED = 40 };

static struct rcm_loop loop;
static struct rcm_link link;
static struct rcm_sa_stats stats;
static struct rcm_link_txn txns[ASKED];
static int statuses[ASKED];		/* 1: not heard */
static unsigned order[ASKED], heard;
static uint8_t record[176];

static void hear(struct rcm_link_txn *t, const struct rcm_txn_outcome *outcome)
{
	statuses[t - txns] = outcome->status;
	order[heard++] = (unsigned)(t - txns);
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

static void start(unsigned i, unsigned deadline_ms)
{
	struct rcm_sa_service_query q = { .by_id = true, .service_id = i };

	rcm_wire_ask_service(&q, txns[i].txn.mad);
	rcm_link_ask(&link, &txns[i], rcm_clock_now() + deadline_ms * RCM_NS_PER_MS, hear);
}

static void answer(const struct rcm_fake_sent *sent)
{
	rcm_fake_umad_answer(sent, 0, sizeof(record), record, sizeof(record));
}

static int setup(void **state)
{
	const struct rcm_gid port = { { 0xfe, 0x80, [15] = 1 } };

	(void)state;
	heard = 0;
	memset(txns, 0, sizeof(txns));
	memset(&stats, 0, sizeof(stats));
	for (unsigned i = 0; i < ASKED; i++)
		statuses[i] = 1;
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_umad_start();
	rcm_fake_record(1, "x", record);
	assert_int_equal(rcm_loop_init(&loop), 0);
	rcm_link_init(&link, &loop, &rcm_fake_umad_ops, &port, &stats);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ASKED; i++)
		rcm_link_cancel(&txns[i]);
	rcm_link_done(&link);
	rcm_fake_umad_finish();
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void test_link_sends_no_more_than_its_window_and_the_rest_in_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ASKED; i++)
		start(i, 4000);
	assert_int_equal(rcm_fake_umad_unseen(), RCM_SA_WINDOW);
	for (unsigned i = 0; i < ASKED; i++) {
		struct rcm_fake_sent sent = rcm_fake_umad_sent();

		assert_int_equal(sent.mad[63], i);
		answer(&sent);
		turn();
		assert_int_equal(order[i], i);
		assert_int_equal(statuses[i], 0);
	}
	assert_int_equal(heard, ASKED);
}

static void test_link_question_that_waits_in_line_keeps_its_deadline(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= RCM_SA_WINDOW; i++) {
		start(i, i < RCM_SA_WINDOW ? 4000 : 100);
		if (i < RCM_SA_WINDOW)
			rcm_fake_umad_sent();
	}
	pass_ms(99);
	assert_int_equal(heard, 0);
	pass_ms(1);
	assert_int_equal(heard, 1);
	assert_int_equal(statuses[RCM_SA_WINDOW], -ETIMEDOUT);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
}

static void test_link_question_cancelled_in_line_is_never_sent(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	for (unsigned i = 0; i < RCM_SA_WINDOW + 2; i++)
		start(i, 4000);
	rcm_link_cancel(&txns[RCM_SA_WINDOW]);
	sent = rcm_fake_umad_sent();
	answer(&sent);
	turn();
	for (unsigned i = 1; i < RCM_SA_WINDOW; i++)
		rcm_fake_umad_sent();
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.mad[63], RCM_SA_WINDOW + 1);
}

/* The kernel can't be told; an SA that is well answers soon. */
static void test_link_question_cancelled_in_flight_keeps_its_place_for_a_moment(void **state)
{
	struct rcm_fake_sent sent[RCM_SA_WINDOW];

	(void)state;
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++) {
		start(i, 4000);
		sent[i] = rcm_fake_umad_sent();
	}
	rcm_link_cancel(&txns[0]);
	rcm_link_cancel(&txns[1]);
	start(20, 4000);
	start(21, 4000);
	turn();
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	rcm_fake_umad_timeout(&sent[0]);
	turn();
	assert_int_equal(rcm_fake_umad_sent().mad[63], 20);
	pass_ms(200);
	assert_int_equal(rcm_fake_umad_sent().mad[63], 21);
	assert_int_equal(heard, 0);
}

/* A window of them, and the SA silent: the next question doesn't wait for the time they were given. */
static void test_link_questions_cancelled_under_way_hold_up_no_other(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++) {
		start(i, 4000);
		rcm_fake_umad_sent();
	}
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		rcm_link_cancel(&txns[i]);
	start(20, 4000);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	pass_ms(200);
	sent = rcm_fake_umad_sent();
	/* By a port opened anew: the kernel has nothing of the others any more. */
	assert_int_equal(rcm_fake_umad.opens, 2);
	answer(&sent);
	turn();
	assert_int_equal(statuses[20], 0);
}

static void test_link_questions_cancelled_one_after_the_other_all_free_their_places(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RCM_SA_WINDOW; i++) {
		start(i, 100000);
		rcm_fake_umad_sent();
		rcm_link_cancel(&txns[i]);
		pass_ms(10);
	}
	assert_int_equal(link.slots.used, RCM_SA_WINDOW);
	for (unsigned i = 0; i < 200; i++)
		pass_ms(1);
	assert_int_equal(link.slots.used, 0);
}

static void test_link_whose_device_fails_opens_it_again_and_asks_again(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(0, 4000);
	start(1, 4000);
	rcm_fake_umad_sent();
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, sizeof(record), record, sizeof(record));
	turn();
	assert_int_equal(statuses[1], 0);
	rcm_fake_umad.recv_ret = -EIO;
	assert_int_equal(eventfd_write(rcm_fake_umad_ops.fd(link.way.umad), 1), 0);
	turn();
	rcm_fake_umad.recv_ret = 0;
	assert_null(link.way.umad);
	assert_int_equal(rcm_fake_umad.open_now, 0);
	pass_ms(40);
	assert_int_equal(rcm_fake_umad.opens, 2);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.mad[63], 0);
	answer(&sent);
	turn();
	assert_int_equal(statuses[0], 0);
}

/* Whatever is said of it by what is read. */
static void test_link_whose_device_hangs_up_closes_it(void **state)
{
	static const uint32_t ends[] = { RCM_BROKEN, RCM_HANGUP };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned fails = 0; fails < 2; fails++) {
			assert_int_equal(rcm_link_open(&link), 0);
			rcm_fake_umad.recv_ret = fails ? -ENOMEM : 0;
			link.source.ready(&link.source, RCM_READABLE);
			assert_non_null(link.way.umad);
			link.source.ready(&link.source, RCM_READABLE | ends[i]);
			rcm_fake_umad.recv_ret = 0;
			assert_null(link.way.umad);
			assert_int_equal(rcm_fake_umad.open_now, 0);
		}
	}
}

static void test_link_whose_device_is_gone_fails_its_questions(void **state)
{
	(void)state;
	start(0, 4000);
	rcm_fake_umad_sent();
	rcm_fake_umad.recv_ret = -ENODEV;
	rcm_fake_umad.open_ret = -ENODEV;
	assert_int_equal(eventfd_write(rcm_fake_umad_ops.fd(link.way.umad), 1), 0);
	turn();
	pass_ms(40);
	assert_int_equal(heard, 1);
	assert_int_equal(statuses[0], -ENODEV);
}

static void test_link_that_never_takes_a_question_gives_up(void **state)
{
	(void)state;
	rcm_fake_umad.send_ret = -EIO;
	start(0, 4000);
	for (unsigned i = 0; i < 20; i++)
		pass_ms(20);
	assert_int_equal(heard, 1);
	assert_int_equal(statuses[0], -EIO);
}

static void test_link_answer_that_is_too_large_fails_its_question_alone(void **state)
{
	struct rcm_fake_sent first, second;

	(void)state;
	start(0, 4000);
	start(1, 4000);
	first = rcm_fake_umad_sent();
	second = rcm_fake_umad_sent();
	rcm_fake_umad.recv_ret = -EMSGSIZE;
	rcm_fake_umad_bytes(&first, first.mad, 256);
	turn();
	rcm_fake_umad.recv_ret = 0;
	assert_int_equal(statuses[0], -EIO);
	assert_int_equal(statuses[1], 1);
	pass_ms(40);
	second = rcm_fake_umad_sent();
	answer(&second);
	turn();
	assert_int_equal(statuses[1], 0);
}

/* Each closes the port, which is no fault of the device's. */
static void test_link_answers_that_are_too_large_leave_the_others_their_time(void **state)
{
	enum { LARGE = 6 };
	struct rcm_fake_sent sent;

	(void)state;
	for (unsigned i = 0; i <= LARGE; i++)
		start(i, 4000);
	for (unsigned i = 0; i < LARGE; i++) {
		sent = rcm_fake_umad_sent();
		while (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
		rcm_fake_umad.recv_ret = -EMSGSIZE;
		rcm_fake_umad_bytes(&sent, sent.mad, 256);
		turn();
		rcm_fake_umad.recv_ret = 0;
		assert_int_equal(heard, i + 1);
		assert_int_equal(statuses[order[i]], -EIO);
		pass_ms(1);
	}
	sent = rcm_fake_umad_sent();
	answer(&sent);
	turn();
	assert_int_equal(heard, LARGE + 1);
	assert_int_equal(statuses[order[LARGE]], 0);
}

static void test_link_without_questions_closes_its_port_and_opens_it_for_the_next(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(0, 4000);
	sent = rcm_fake_umad_sent();
	answer(&sent);
	turn();
	pass_ms(RCM_SA_IDLE_MS - 1);
	assert_int_equal(rcm_fake_umad.open_now, 1);
	pass_ms(1);
	assert_int_equal(rcm_fake_umad.open_now, 0);
	start(1, 4000);
	sent = rcm_fake_umad_sent();
	answer(&sent);
	turn();
	assert_int_equal(statuses[1], 0);
	assert_int_equal(rcm_fake_umad.opens, 2);
}

static void test_link_that_may_not_be_opened_is_eacces(void **state)
{
	(void)state;
	rcm_fake_umad.open_ret = -EPERM;
	assert_int_equal(rcm_link_open(&link), -EACCES);
	rcm_fake_umad.open_ret = -EACCES;
	assert_int_equal(rcm_link_open(&link), -EACCES);
}

/* The message stays in the kernel, whose descriptor stays readable. */
static void test_link_without_memory_for_a_message_rests_and_then_reads_it(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(0, 4000);
	sent = rcm_fake_umad_sent();
	answer(&sent);
	rcm_fake_umad.recv_ret = -ENOMEM;
	for (unsigned i = 0; i < 10; i++)
		turn();
	assert_int_equal(rcm_fake_umad.recvs, 1);
	rcm_fake_umad.recv_ret = 0;
	pass_ms(100);
	assert_int_equal(statuses[0], 0);
}

/* What it says counts from then on, until there is another SM. */
static void test_link_asks_its_sa_once_how_long_it_takes_where_an_answer_is_late(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	rcm_fake_umad.response_time = 18;	/* 1.07 s */
	start(0, 30000);
	sent = rcm_fake_umad_sent();
	pass_ms(249);
	assert_int_equal(rcm_fake_umad.infos, 0);
	for (unsigned i = 0; i < 1890; i++) {
		pass_ms(1);
		assert_int_equal(rcm_fake_umad_unseen(), 0);
	}
	assert_int_equal(rcm_fake_umad.infos, 1);
	answer(&sent);
	turn();
	assert_int_equal(statuses[0], 0);
	link.pace.seen = 0;
	start(1, 30000);
	rcm_fake_umad_sent();
	pass_ms(2140);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	pass_ms(1080);
	assert_int_equal(rcm_fake_umad_unseen(), 1);
	assert_int_equal(rcm_fake_umad.infos, 1);
	rcm_fake_umad_sent();
	rcm_fake_umad.sm_lid = 5;
	pass_ms(7000);
	rcm_fake_umad_sent();
	start(2, 30000);
	rcm_fake_umad_sent();
	pass_ms(400);
	assert_int_equal(rcm_fake_umad.infos, 2);
}

static void test_link_whose_sa_says_nothing_of_its_time_asks_as_ever(void **state)
{
	(void)state;
	start(0, 30000);
	rcm_fake_umad_sent();
	pass_ms(400);
	assert_int_equal(rcm_fake_umad.infos, 1);
	pass_ms(350);
	assert_int_equal(rcm_fake_umad_unseen(), 1);
	rcm_fake_umad_sent();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_link_sends_no_more_than_its_window_and_the_rest_in_order),
		TEST(test_link_question_that_waits_in_line_keeps_its_deadline),
		TEST(test_link_question_cancelled_in_line_is_never_sent),
		TEST(test_link_question_cancelled_in_flight_keeps_its_place_for_a_moment),
		TEST(test_link_questions_cancelled_under_way_hold_up_no_other),
		TEST(test_link_questions_cancelled_one_after_the_other_all_free_their_places),
		TEST(test_link_whose_device_fails_opens_it_again_and_asks_again),
		TEST(test_link_whose_device_hangs_up_closes_it),
		TEST(test_link_whose_device_is_gone_fails_its_questions),
		TEST(test_link_that_never_takes_a_question_gives_up),
		TEST(test_link_answer_that_is_too_large_fails_its_question_alone),
		TEST(test_link_answers_that_are_too_large_leave_the_others_their_time),
		TEST(test_link_without_questions_closes_its_port_and_opens_it_for_the_next),
		TEST(test_link_that_may_not_be_opened_is_eacces),
		TEST(test_link_asks_its_sa_once_how_long_it_takes_where_an_answer_is_late),
		TEST(test_link_whose_sa_says_nothing_of_its_time_asks_as_ever),
		TEST(test_link_without_memory_for_a_message_rests_and_then_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
