/* SPDX-License-Identifier: BSD-2-Clause */
/* One question to an SA through a link: what is sent, when, and what becomes of every kind of answer and of none. */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/tell.h"
#include "fake_clock.h"
#include "fake_umad.h"
#include "sa/link.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_link link;
static struct rcm_sa_stats stats;
static struct rcm_link_txn txn;
static uint8_t record[176];

/* What the completion told. */
static struct {
	unsigned calls;
	int status;
	uint16_t mad_status;
	size_t count;
	char text[200];
} heard;

static void hear(struct rcm_link_txn *t, const struct rcm_txn_outcome *outcome)
{
	assert_ptr_equal(t, &txn);
	heard.calls++;
	heard.status = outcome->status;
	heard.mad_status = outcome->mad_status;
	heard.count = outcome->answer.count;
	snprintf(heard.text, sizeof(heard.text), "%s", outcome->text ? outcome->text : "");
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

static uint64_t in_ms(unsigned ms)
{
	return rcm_clock_now() + ms * RCM_NS_PER_MS;
}

static void start(unsigned deadline_ms)
{
	struct rcm_sa_service_query q = { .by_name = true, .service_name = "x" };

	rcm_wire_ask_service(&q, txn.txn.mad);
	rcm_link_ask(&link, &txn, deadline_ms ? in_ms(deadline_ms) : 0, hear);
}

/* The answer to the oldest question. */
static void answer(uint16_t status)
{
	struct rcm_fake_sent sent = rcm_fake_umad_sent();

	rcm_fake_umad_answer(&sent, status, sizeof(record), record, status ? 0 : sizeof(record));
	turn();
}

static int setup(void **state)
{
	const struct rcm_gid port = { { 0xfe, 0x80, [15] = 1 } };

	(void)state;
	memset(&heard, 0, sizeof(heard));
	memset(&txn, 0, sizeof(txn));
	memset(&stats, 0, sizeof(stats));
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_umad_start();
	rcm_fake_record(1, "x", record);
	assert_int_equal(rcm_loop_init(&loop), 0);
	rcm_link_init(&link, &loop, &rcm_fake_umad_ops, &port, &stats);
	assert_int_equal(rcm_link_open(&link), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_link_cancel(&txn);
	rcm_link_done(&link);
	rcm_fake_umad_finish();
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void test_link_txn_that_is_answered_has_its_records(void **state)
{
	(void)state;
	start(4000);
	assert_int_equal(heard.calls, 0);
	answer(0);
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, 0);
	assert_int_equal(heard.count, 1);
	assert_int_equal(stats.queries, 1);
	assert_int_equal(stats.retries, 0);
}

static void test_link_txn_ids_start_at_1_and_skip_0(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	assert_int_equal(rcm_wire_tid(sent.mad), 1);
	rcm_link_cancel(&txn);
	link.slots.last_tid = UINT32_MAX;
	start(4000);
	sent = rcm_fake_umad_sent();
	/* 1 is still taken: the kernel has the cancelled question. */
	assert_int_equal(rcm_wire_tid(sent.mad), 2);
}

/* F25: an SA that is flooded is asked less and less often. */
static void test_link_txn_met_with_busy_is_asked_again_after_a_growing_pause(void **state)
{
	static const uint16_t statuses[] = { 0x0001, 0x0100, 0x0001 };
	unsigned pause = 50;

	(void)state;
	start(4000);
	for (unsigned i = 0; i < 3; i++, pause *= 2) {
		answer(statuses[i]);
		assert_int_equal(heard.calls, 0);
		pass_ms(pause - 1);
		assert_int_equal(rcm_fake_umad_unseen(), 0);
		pass_ms(pause + 2);
		assert_int_equal(rcm_fake_umad_unseen(), 1);
	}
	answer(0);
	assert_int_equal(heard.status, 0);
	assert_int_equal(stats.queries, 4);
	assert_int_equal(stats.retries, 3);
}

static void test_link_txn_met_with_busy_through_every_retry_is_ebusy(void **state)
{
	(void)state;
	start(2000);
	for (unsigned i = 0; i < 100 && !heard.calls; i++) {
		if (rcm_fake_umad_unseen())
			answer(0x0001);
		pass_ms(50);
	}
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, -EBUSY);
	assert_int_equal(heard.mad_status, 0x0001);
	assert_non_null(strstr(heard.text, "was busy, asked "));
	assert_true(stats.queries > 4);
}

static void test_link_txn_met_with_silence_is_asked_again_with_a_new_id_and_more_patience(void **state)
{
	struct rcm_fake_sent first, second;

	(void)state;
	start(10000);
	first = rcm_fake_umad_sent();
	pass_ms(499);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	pass_ms(251);
	second = rcm_fake_umad_sent();
	pass_ms(999);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	pass_ms(501);
	rcm_fake_umad_sent();
	assert_int_not_equal(rcm_wire_tid(first.mad), rcm_wire_tid(second.mad));
	assert_memory_equal(first.mad + 16, second.mad + 16, 240);
	rcm_fake_umad_answer(&second, 0, sizeof(record), record, sizeof(record));
	turn();
	assert_int_equal(heard.status, 0);
}

/* A slow SA answers each question it was asked; it is listened to until the deadline. */
static void test_link_txn_answer_to_any_of_its_questions_counts(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 3; which++) {
		struct rcm_fake_sent sent[3];

		start(4000);
		for (unsigned i = 0; i < 3; i++) {
			sent[i] = rcm_fake_umad_sent();
			assert_int_equal(sent[i].agent, i);
			pass_ms(i ? 1500 : 750);
		}
		if (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
		assert_int_equal(sent[0].timeout_ms, 4000);
		rcm_fake_umad_answer(&sent[which], 0, sizeof(record), record, sizeof(record));
		turn();
		assert_int_equal(heard.calls, which + 1);
		assert_int_equal(heard.status, 0);
		link.pace.seen = 0;
		pass_ms(1000);
		assert_int_equal(link.slots.used, 0);
	}
}

/* So that an SA which takes 0.9 s for each is asked each once. */
static void test_link_txn_of_an_sa_known_to_be_slow_is_asked_again_later(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		start(10000);
		sent = rcm_fake_umad_sent();
		pass_ms(900);
		assert_int_equal(rcm_fake_umad_unseen(), !i);
		if (!i)
			rcm_fake_umad_sent();
		rcm_fake_umad_answer(&sent, 0, sizeof(record), record, sizeof(record));
		turn();
		assert_int_equal(heard.status, 0);
	}
}
/* F25: those who asked in the same moment don't ask again in the same moment. */
static void test_link_txn_patience_is_not_always_the_same(void **state)
{
	struct rcm_fake_sent sent;
	unsigned least = UINT32_MAX, most = 0, ms;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		start(10000);
		rcm_fake_umad_sent();
		for (ms = 0; !rcm_fake_umad_unseen(); ms++)
			pass_ms(1);
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
		sent = rcm_fake_umad_sent();
		rcm_fake_umad_answer(&sent, 0, sizeof(record), record, sizeof(record));
		turn();
		pass_ms(200);
		link.stale = 0;
	}
	assert_uint_in_range(least, 500, 560);
	assert_uint_in_range(most, 690, 750);
}

static void test_link_txn_met_with_silence_throughout_is_etimedout_at_the_deadline_and_never_enoent(void **state)
{
	(void)state;
	start(1000);
	for (unsigned i = 0; i < 999; i++) {
		pass_ms(1);
		while (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
		assert_int_equal(heard.calls, 0);
	}
	pass_ms(1);
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, -ETIMEDOUT);
	assert_non_null(strstr(heard.text, "no answer from the SA at LID 1"));
}

static void test_link_txn_busy_first_and_silent_then_is_etimedout(void **state)
{
	(void)state;
	start(1000);
	answer(0x0001);
	for (unsigned i = 0; i < 100 && !heard.calls; i++) {
		if (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
		pass_ms(50);
	}
	assert_int_equal(heard.status, -ETIMEDOUT);
}

/* The kernel frees some requests without a word. */
static void test_link_txn_the_kernel_never_tells_of_is_asked_again(void **state)
{
	(void)state;
	start(10000);
	rcm_fake_umad_sent();
	pass_ms(750);
	assert_int_equal(rcm_fake_umad_unseen(), 1);
	answer(0);
	assert_int_equal(heard.status, 0);
	pass_ms(200);
	assert_int_equal(link.slots.used, 0);
}

/* However long an SA is known to take: from then on its answer would be nobody's. */
static void test_link_txn_of_a_slow_sa_is_asked_again_when_the_kernel_listens_no_more(void **state)
{
	(void)state;
	link.pace.seen = 60 * RCM_NS_PER_S;
	start(100000);
	rcm_fake_umad_sent();
	pass_ms(16099);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
	pass_ms(1);
	assert_int_equal(rcm_fake_umad_unseen(), 1);
	answer(0);
	assert_int_equal(heard.status, 0);
}

/* Of a question that nobody waits for any more. */
static void test_link_txn_answer_that_is_late_is_dropped(void **state)
{
	struct rcm_fake_sent first, second;

	(void)state;
	start(100);
	first = rcm_fake_umad_sent();
	pass_ms(100);
	assert_int_equal(heard.status, -ETIMEDOUT);
	start(10000);
	second = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&first, 0x0300, 0, NULL, 0);
	turn();
	assert_int_equal(heard.calls, 1);
	rcm_fake_umad_answer(&second, 0, sizeof(record), record, sizeof(record));
	turn();
	assert_int_equal(heard.status, 0);
}

static void test_link_txn_answer_that_comes_twice_is_taken_once(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, sizeof(record), record, sizeof(record));
	rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
	turn();
	turn();
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, 0);
	assert_int_equal(link.slots.used, 0);
}

static void test_link_txn_answer_without_records_is_enoent(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	answer(0x0300);
	assert_int_equal(heard.status, -ENOENT);
	assert_int_equal(heard.mad_status, 0x0300);
	start(4000);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_answer(&sent, 0, 0, NULL, 0);
	turn();
	assert_int_equal(heard.calls, 2);
	assert_int_equal(heard.status, -ENOENT);
	assert_int_equal(heard.mad_status, 0);
}

/* What was published before is there again in a moment. */
static void test_link_txn_without_records_of_an_sm_that_just_began_is_asked_again(void **state)
{
	(void)state;
	link.way.moved_at = rcm_clock_now();
	txn.txn.renews = true;
	start(4000);
	answer(0x0300);
	assert_int_equal(heard.calls, 0);
	pass_ms(600);
	answer(0);
	assert_int_equal(heard.status, 0);
}

static void test_link_txn_without_records_of_an_sm_that_began_lately_says_so(void **state)
{
	(void)state;
	link.way.moved_at = rcm_clock_now() - 3 * RCM_NS_PER_S;
	txn.txn.renews = true;
	start(1000);
	for (unsigned i = 0; i < 1000 && !heard.calls; i++) {
		if (rcm_fake_umad_unseen())
			answer(0x0300);
		pass_ms(1);
	}
	assert_int_equal(heard.status, -ENOENT);
	assert_int_equal(heard.mad_status, 0x0300);
	assert_non_null(strstr(heard.text, "the subnet manager changed 3 s ago"));
	/* A path is had again only once a host is. */
	heard.calls = 0;
	txn.txn.renews = false;
	start(1000);
	answer(0x0300);
	assert_int_equal(heard.status, -ENOENT);
}

static void test_link_txn_answer_that_refuses_is_eio_and_its_status_kept(void **state)
{
	static const uint16_t statuses[] = { 0x0002, 0x0004, 0x000c, 0x001c, 0x0200, 0x0400, 0x0500, 0x0600, 0x0700 };

	(void)state;
	for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		start(4000);
		answer(statuses[i]);
		assert_int_equal(heard.calls, i + 1);
		assert_int_equal(heard.status, -EIO);
		assert_int_equal(heard.mad_status, statuses[i]);
	}
	assert_non_null(strstr(heard.text, "REQ_DENIED"));
	assert_int_equal(stats.retries, 0);
}

static void test_link_txn_answer_that_is_malformed_is_eio(void **state)
{
	struct rcm_fake_sent sent;
	uint8_t mad[256];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		start(4000);
		sent = rcm_fake_umad_sent();
		memcpy(mad, sent.mad, sizeof(mad));
		mad[3] |= i == 0 ? 0 : 0x80;
		mad[17] = i == 1 ? 0x35 : mad[17];
		rcm_fake_umad_bytes(&sent, mad, i == 2 ? 55 : sizeof(mad));
		turn();
		assert_int_equal(heard.calls, i + 1);
		assert_int_equal(heard.status, -EIO);
		assert_string_equal(heard.text, "the SA's answer is malformed");
	}
}

static void test_link_txn_answer_too_short_for_an_id_is_ignored(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_bytes(&sent, sent.mad, 23);
	turn();
	assert_int_equal(heard.calls, 0);
}

static void test_link_txn_whose_sm_moved_is_asked_at_its_new_lid(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.to.lid, 1);
	rcm_fake_umad.sm_lid = 5;
	rcm_fake_umad_timeout(&sent);
	turn();
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.to.lid, 5);
}

static void test_link_txn_started_a_second_later_sees_the_new_lid(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	answer(0);
	rcm_fake_umad.sm_lid = 7;
	start(4000);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.to.lid, 1);
	rcm_fake_umad_answer(&sent, 0x0300, 0, NULL, 0);
	pass_ms(1001);
	start(4000);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.to.lid, 7);
}

/* That it was lost with the rest says nothing of the SA. */
static void test_link_txn_asks_again_how_long_it_may_take_where_nobody_said(void **state)
{
	unsigned lost;

	(void)state;
	rcm_fake_umad.infos_lost = true;
	start(30000);
	rcm_fake_umad_sent();
	pass_ms(400);
	assert_int_equal(rcm_fake_umad.infos, 1);
	/* Until it is given up. */
	for (unsigned i = 0; i < 50; i++) {
		pass_ms(100);
		while (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
	}
	lost = rcm_fake_umad.infos;
	rcm_fake_umad.infos_lost = false;
	rcm_fake_umad.response_time = 18;
	for (unsigned i = 0; i < 100 && rcm_fake_umad.infos == lost; i++) {
		pass_ms(100);
		while (rcm_fake_umad_unseen())
			rcm_fake_umad_sent();
	}
	turn();
	assert_int_equal(rcm_fake_umad.infos, lost + 1);
	/* 4.096 us x 2^18 */
	assert_int_equal(link.pace.says, 4096ULL << 18);
}

/* The P_Key table may have been written anew meanwhile; each second it is not read. */
static void test_link_txn_met_with_silence_reads_all_of_the_address_anew(void **state)
{
	(void)state;
	start(30000);
	rcm_fake_umad_sent();
	assert_int_equal(rcm_fake_umad.doubts, 0);
	pass_ms(2000);
	assert_int_equal(rcm_fake_umad.doubts, 1);
	rcm_fake_umad_sent();
}

static void test_link_txn_whose_port_goes_down_is_enetdown(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad.address_ret = -ENETDOWN;
	rcm_fake_umad_timeout(&sent);
	turn();
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, -ENETDOWN);
}

static struct {
	enum rcm_tell_kind kind;
	int status;
	char text[120];
} step;

static void watch(const void *watcher, const struct rcm_tell_step *told)
{
	(void)watcher;
	assert_string_equal(told->facts.server, "fake0/1");
	assert_true(told->facts.ttl_s < 0 && told->facts.kept_s < 0);
	step.kind = told->kind;
	step.status = told->facts.status;
	snprintf(step.text, sizeof(step.text), "%s", told->text);
}

static void assert_step(enum rcm_tell_kind kind, int status, const char *text)
{
	assert_int_equal(step.kind, kind);
	assert_int_equal(step.status, status);
	assert_string_equal(step.text, text);
}

static void test_link_txn_that_is_watched_tells_what_is_asked_and_what_comes(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	rcm_tell_watch(watch, &step);
	start(10000);
	assert_step(RCM_TELL_QUESTION, 0, "service records at the SA at LID 1, through fake0/1");
	sent = rcm_fake_umad_sent();
	rcm_fake_umad_timeout(&sent);
	turn();
	/* And at once it asks again. */
	assert_step(RCM_TELL_QUESTION, 0, "service records at the SA at LID 1, through fake0/1");
	answer(0);
	assert_step(RCM_TELL_ANSWER, 0, "service records of the SA");
	start(10000);
	sent = rcm_fake_umad_sent();
	rcm_fake_umad.send_ret = -EINVAL;
	rcm_fake_umad_timeout(&sent);
	turn();
	assert_step(RCM_TELL_QUESTION, 0, "service records can't be sent through fake0/1: errno 22");
	rcm_fake_umad.send_ret = 0;
	start(100);
	sent = rcm_fake_umad_sent();
	rcm_fake_clock_advance(100 * RCM_NS_PER_MS);
	rcm_fake_umad_timeout(&sent);
	turn();
	assert_step(RCM_TELL_ANSWER, -ETIMEDOUT, "service records of the SA: none, the kernel gave up");
	rcm_tell_watch(NULL, NULL);
}

static void test_link_txn_on_a_port_that_is_down_fails_in_the_next_turn(void **state)
{
	(void)state;
	rcm_fake_umad.address_ret = -ENETDOWN;
	start(4000);
	assert_int_equal(heard.calls, 0);
	turn();
	assert_int_equal(heard.calls, 1);
	assert_int_equal(heard.status, -ENETDOWN);
	assert_non_null(strstr(heard.text, "fake0/1"));
}

static void test_link_txn_that_cannot_be_sent_fails_in_the_next_turn(void **state)
{
	(void)state;
	rcm_fake_umad.send_ret = -EINVAL;
	start(4000);
	assert_int_equal(heard.calls, 0);
	turn();
	assert_int_equal(heard.status, -EINVAL);
}

static void test_link_txn_with_a_deadline_shorter_than_an_attempt_is_given_that(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(30);
	sent = rcm_fake_umad_sent();
	assert_int_equal(sent.timeout_ms, 30);
	pass_ms(30);
	assert_int_equal(heard.status, -ETIMEDOUT);
}

static void test_link_txn_whose_deadline_is_past_fails_unsent(void **state)
{
	struct rcm_sa_service_query q = { .by_name = true };

	(void)state;
	rcm_wire_ask_service(&q, txn.txn.mad);
	rcm_link_ask(&link, &txn, 1, hear);
	turn();
	assert_int_equal(heard.status, -ETIMEDOUT);
	assert_int_equal(stats.queries, 0);
}

static void test_link_txn_without_a_deadline_is_asked_for_ever(void **state)
{
	(void)state;
	start(0);
	for (unsigned i = 0; i < 50; i++) {
		struct rcm_fake_sent sent = rcm_fake_umad_sent();

		assert_true(sent.timeout_ms <= 16000);
		pass_ms(6000);
	}
	assert_int_equal(heard.calls, 0);
	answer(0);
	assert_int_equal(heard.status, 0);
}

/* It is never ended before its deadline, which another that shares it may not have. */
static void test_link_txn_met_with_busy_is_given_up_at_its_deadline_and_not_before(void **state)
{
	(void)state;
	start(1000);
	for (unsigned i = 0; i < 999; i++) {
		if (rcm_fake_umad_unseen())
			answer(0x0001);
		pass_ms(1);
		assert_int_equal(heard.calls, 0);
	}
	/* The last attempt is in the second half of what was left. */
	assert_true(stats.queries >= 5);
	pass_ms(1);
	if (rcm_fake_umad_unseen())
		rcm_fake_umad_sent();
	assert_int_equal(heard.status, -EBUSY);
}

static void test_link_txn_that_is_cancelled_is_not_heard_of(void **state)
{
	struct rcm_fake_sent sent;

	(void)state;
	start(4000);
	sent = rcm_fake_umad_sent();
	rcm_link_cancel(&txn);
	rcm_fake_umad_answer(&sent, 0, sizeof(record), record, sizeof(record));
	pass_ms(5000);
	assert_int_equal(heard.calls, 0);
	assert_int_equal(link.slots.used, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_link_txn_that_is_answered_has_its_records),
		TEST(test_link_txn_ids_start_at_1_and_skip_0),
		TEST(test_link_txn_met_with_busy_is_asked_again_after_a_growing_pause),
		TEST(test_link_txn_met_with_busy_through_every_retry_is_ebusy),
		TEST(test_link_txn_met_with_silence_is_asked_again_with_a_new_id_and_more_patience),
		TEST(test_link_txn_answer_to_any_of_its_questions_counts),
		TEST(test_link_txn_of_an_sa_known_to_be_slow_is_asked_again_later),
		TEST(test_link_txn_met_with_busy_is_given_up_at_its_deadline_and_not_before),
		TEST(test_link_txn_without_records_of_an_sm_that_just_began_is_asked_again),
		TEST(test_link_txn_without_records_of_an_sm_that_began_lately_says_so),
		TEST(test_link_txn_patience_is_not_always_the_same),
		TEST(test_link_txn_met_with_silence_throughout_is_etimedout_at_the_deadline_and_never_enoent),
		TEST(test_link_txn_busy_first_and_silent_then_is_etimedout),
		TEST(test_link_txn_the_kernel_never_tells_of_is_asked_again),
		TEST(test_link_txn_of_a_slow_sa_is_asked_again_when_the_kernel_listens_no_more),
		TEST(test_link_txn_answer_that_is_late_is_dropped),
		TEST(test_link_txn_answer_that_comes_twice_is_taken_once),
		TEST(test_link_txn_answer_without_records_is_enoent),
		TEST(test_link_txn_answer_that_refuses_is_eio_and_its_status_kept),
		TEST(test_link_txn_answer_that_is_malformed_is_eio),
		TEST(test_link_txn_answer_too_short_for_an_id_is_ignored),
		TEST(test_link_txn_whose_sm_moved_is_asked_at_its_new_lid),
		TEST(test_link_txn_started_a_second_later_sees_the_new_lid),
		TEST(test_link_txn_whose_port_goes_down_is_enetdown),
		TEST(test_link_txn_on_a_port_that_is_down_fails_in_the_next_turn),
		TEST(test_link_txn_that_is_watched_tells_what_is_asked_and_what_comes),
		TEST(test_link_txn_that_cannot_be_sent_fails_in_the_next_turn),
		TEST(test_link_txn_with_a_deadline_shorter_than_an_attempt_is_given_that),
		TEST(test_link_txn_whose_deadline_is_past_fails_unsent),
		TEST(test_link_txn_without_a_deadline_is_asked_for_ever),
		TEST(test_link_txn_that_is_cancelled_is_not_heard_of),
		TEST(test_link_txn_asks_again_how_long_it_may_take_where_nobody_said),
		TEST(test_link_txn_met_with_silence_reads_all_of_the_address_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
