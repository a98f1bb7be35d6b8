/* SPDX-License-Identifier: BSD-2-Clause */
/* A transaction's steps: what is decided, given what happened, without a port. tests/unit/test_link_txn.c has their
 * course through a link. */
#include "sa/txn.h"

#include <errno.h>

#include "base/clock.h"
#include "test.h"

#define MS RCM_NS_PER_MS

static const struct rcm_sa_port port = { .device = "fake0", .number = 1 };
static struct rcm_txn txn;
static struct rcm_txn_view view;

static int setup(void **state)
{
	(void)state;
	memset(&txn, 0, sizeof(txn));
	view = (struct rcm_txn_view){ .now = 1000 * RCM_NS_PER_S, .port = &port, .lid = 1 };
	rcm_wire_ask(RCM_SA_GET_TABLE, RCM_SA_SERVICE_RECORD, 0, NULL, 0, txn.mad);
	rcm_txn_begin(&txn, view.now + 4000 * MS);
	return 0;
}

static void send_it(void)
{
	assert_true(rcm_txn_next(&txn, &view) > 0);
	rcm_txn_sent(&txn, &view, 0);
	assert_int_equal(txn.state, RCM_TXN_SENT);
}

static struct rcm_txn_outcome tell(void)
{
	static char text[RCM_TEXT_MAX];
	struct rcm_txn_outcome outcome;

	assert_int_equal(txn.state, RCM_TXN_OVER);
	rcm_txn_tell(&txn, &view, text, &outcome);
	assert_int_equal(txn.state, RCM_TXN_IDLE);
	return outcome;
}

static void test_txn_begun_waits_for_room(void **state)
{
	(void)state;
	assert_int_equal(txn.state, RCM_TXN_WAITING);
	assert_true(txn.due == view.now + 4000 * MS);
	assert_int_equal(rcm_txn_next(&txn, &view), 4000);
}

static void test_txn_sent_is_due_when_the_sa_should_have_answered_twice(void **state)
{
	(void)state;
	send_it();
	assert_true(txn.due == view.now + 500 * MS);
	rcm_txn_begin(&txn, view.now + 4000 * MS);
	view.takes = 900 * MS;
	send_it();
	assert_true(txn.due == view.now + 1800 * MS);
}

static void test_txn_that_waits_half_its_patience_has_the_sa_asked_how_long_it_takes(void **state)
{
	uint64_t sent_at = view.now;

	(void)state;
	view.unsaid = true;
	send_it();
	assert_true(txn.due == sent_at + 250 * MS);
	assert_false(txn.wonders);
	view.now = txn.due;
	rcm_txn_woken(&txn, &view);
	assert_true(txn.wonders);
	assert_int_equal(txn.state, RCM_TXN_SENT);
	assert_true(txn.due == sent_at + 500 * MS);
	/* It was told meanwhile. */
	view.unsaid = false;
	view.says = 750 * MS;
	view.now = txn.due;
	rcm_txn_woken(&txn, &view);
	assert_false(txn.wonders);
	assert_int_equal(txn.state, RCM_TXN_SENT);
	assert_true(txn.due == sent_at + 1500 * MS);
	view.now = txn.due;
	rcm_txn_woken(&txn, &view);
	assert_int_equal(txn.state, RCM_TXN_IN_DOUBT);
}

/* A question may be lost, whatever the SA says of itself. */
static void test_txn_is_asked_again_in_half_of_its_time_at_the_latest(void **state)
{
	(void)state;
	view.says = 4000 * MS;
	send_it();
	assert_true(txn.due == view.now + 2000 * MS);
}

static void test_txn_in_silence_is_in_doubt_and_then_goes_by_the_next_agent(void **state)
{
	(void)state;
	for (unsigned sent = 0; sent < 6; sent++) {
		assert_int_equal(rcm_txn_agent(&txn), sent < 3 ? sent : 3);
		send_it();
		rcm_txn_silence(&txn, &view);
		assert_int_equal(txn.state, RCM_TXN_IN_DOUBT);
		rcm_txn_looked(&txn, 0);
		assert_int_equal(txn.state, RCM_TXN_WAITING);
	}
}

static void test_txn_in_doubt_of_a_port_that_is_down_is_over(void **state)
{
	(void)state;
	send_it();
	rcm_txn_silence(&txn, &view);
	rcm_txn_looked(&txn, -ENETDOWN);
	assert_int_equal(tell().status, -ENETDOWN);
}

static void test_txn_is_late_whatever_state_its_deadline_meets_it_in(void **state)
{
	struct rcm_txn_outcome outcome;

	(void)state;
	for (int i = 0; i < 4; i++) {
		setup(NULL);
		if (i > 0)
			send_it();
		if (i == 2)
			rcm_txn_lost(&txn, &view);
		view.now = txn.deadline;
		if (i == 3)
			rcm_txn_silence(&txn, &view);
		else
			rcm_txn_woken(&txn, &view);
		outcome = tell();
		assert_int_equal(outcome.status, -ETIMEDOUT);
		assert_true(outcome.late);
	}
	setup(NULL);
	view.now = txn.deadline;
	assert_int_equal(rcm_txn_next(&txn, &view), 0);
	assert_int_equal(tell().status, -ETIMEDOUT);
}

static void test_txn_whose_port_is_lost_again_and_again_fails(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		send_it();
		rcm_txn_lost(&txn, &view);
		assert_int_equal(txn.state, RCM_TXN_PAUSED);
		assert_true(txn.due == view.now + 20 * MS);
		rcm_txn_woken(&txn, &view);
		assert_int_equal(txn.state, RCM_TXN_WAITING);
	}
	send_it();
	rcm_txn_lost(&txn, &view);
	assert_int_equal(tell().status, -ENODEV);
}

/* What was set is answered as what was asked for. */
static void test_txn_of_any_method_and_attribute_has_its_answer(void **state)
{
	static const struct { uint8_t method, response; enum rcm_wire_attribute attribute; size_t size; } cases[] = {
		{ RCM_SA_GET, 0x81, RCM_SA_CLASS_PORT_INFO, 72 }, { RCM_SA_SET, 0x81, RCM_SA_SERVICE_RECORD, 176 },
		{ RCM_SA_DELETE, 0x95, RCM_SA_SERVICE_RECORD, 176 }, { RCM_SA_GET_TABLE, 0x92, RCM_SA_PATH_RECORD, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t record[176] = { 1, 2, 3 }, mad[256];
		struct rcm_txn_outcome outcome;

		setup(NULL);
		rcm_wire_ask(cases[i].method, cases[i].attribute, 7, record, cases[i].size, txn.mad);
		assert_memory_equal(txn.mad + 56, record, cases[i].size);
		assert_int_equal(txn.mad[55], 7);
		send_it();
		memcpy(mad, txn.mad, sizeof(mad));
		mad[3] = cases[i].response;
		mad[45] = (uint8_t)(cases[i].size / 8);
		rcm_txn_answered(&txn, &view, mad, 56 + cases[i].size);
		outcome = tell();
		assert_int_equal(outcome.status, 0);
		assert_int_equal(outcome.answer.count, 1);
		assert_ptr_equal(outcome.answer.records, mad + 56);
	}
}

/* ---- How long ---- */

/* Sent, and not answered, so often. */
static void fall_silent(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		send_it();
		rcm_txn_silence(&txn, &view);
		rcm_txn_looked(&txn, 0);
	}
}

static void test_txn_is_patient_as_the_sa_is_slow_and_the_more_the_oftener_it_was_silent(void **state)
{
	static const struct { uint64_t takes, says, deadline, random; unsigned silent, due; } cases[] = {
		{ 0, 0, 4000, 0, 0, 500 },
		{ 0, 0, 4000, 250, 0, 750 },
		{ 0, 0, 4000, 251, 0, 500 },
		{ 249, 249, 4000, 0, 0, 500 },
		{ 251, 0, 4000, 0, 0, 502 },
		{ 251, 0, 4000, 251, 0, 753 },
		{ 251, 0, 4000, 252, 0, 502 },
		{ 0, 251, 4000, 0, 0, 502 },
		{ 300, 400, 4000, 0, 0, 800 },
		{ 400, 300, 4000, 0, 0, 800 },
		{ 0, 3000, 4000, 0, 0, 2000 },
		{ 3000, 0, 4000, 0, 0, 4000 },
		{ 0, 0, 100000, 0, 1, 1000 },
		{ 0, 0, 100000, 0, 2, 2000 },
		{ 0, 0, 100000, 0, 3, 4000 },
		{ 0, 0, 100000, 0, 4, 4000 },
		{ 0, 0, 100000, 2000, 4, 6000 },
		{ 0, 0, 100000, 2001, 4, 4000 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		view.takes = cases[i].takes * MS;
		view.says = cases[i].says * MS;
		rcm_txn_begin(&txn, view.now + cases[i].deadline * MS);
		fall_silent(cases[i].silent);
		view.random = cases[i].random;
		send_it();
		assert_int_equal((txn.due - view.now) / MS, cases[i].due);
	}
}

/* The SA is asked how long it may take half-way of the first MAD alone. */
static void test_txn_that_was_sent_twice_has_the_sa_asked_nothing(void **state)
{
	(void)state;
	view.unsaid = true;
	fall_silent(1);
	send_it();
	assert_true(txn.due == view.now + 1000 * MS);
}

static void test_txn_is_listened_to_for_16_s_but_for_the_last_agents_which_many_share(void **state)
{
	(void)state;
	rcm_txn_begin(&txn, view.now + 100000 * MS);
	for (unsigned sent = 0; sent < 3; sent++) {
		assert_int_equal(rcm_txn_next(&txn, &view), 16000);
		fall_silent(1);
	}
	view.random = 7;
	assert_int_equal(rcm_txn_next(&txn, &view), 4007);
}

static void test_txn_is_listened_to_for_what_is_left_in_whole_milliseconds(void **state)
{
	static const struct { uint64_t left; unsigned ms; } cases[] = {
		{ 1, 1 }, { MS, 1 }, { MS + 1, 2 }, { 16000 * MS - MS, 15999 }, { 16001 * MS, 16000 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rcm_txn_begin(&txn, view.now + cases[i].left);
		assert_int_equal(rcm_txn_next(&txn, &view), cases[i].ms);
	}
	rcm_txn_begin(&txn, 0);
	assert_true(txn.due == UINT64_MAX);
	assert_int_equal(rcm_txn_next(&txn, &view), 16000);
}

/* ---- Pauses ---- */

static void answer(uint16_t status)
{
	uint8_t mad[256];

	memcpy(mad, txn.mad, sizeof(mad));
	mad[3] = 0x92;
	mad[4] = (uint8_t)(status >> 8);
	mad[5] = (uint8_t)status;
	rcm_txn_answered(&txn, &view, mad, sizeof(mad));
}

static void test_txn_of_a_busy_sa_rests_the_longer_the_oftener_it_was_busy(void **state)
{
	(void)state;
	rcm_txn_begin(&txn, view.now + 100000 * MS);
	for (unsigned i = 0; i < 7; i++) {
		unsigned ms = 50u << (i < 5 ? i : 5);

		send_it();
		view.random = i % 2 ? ms : ms + 1;
		answer(0x0001);
		assert_int_equal(txn.state, RCM_TXN_PAUSED);
		assert_int_equal((txn.due - view.now) / MS, i % 2 ? 2 * ms : ms);
		view.random = 0;
		rcm_txn_woken(&txn, &view);
		assert_int_equal(txn.state, RCM_TXN_WAITING);
	}
}

/* The last attempt comes sooner than it would. */
static void test_txn_whose_rest_would_outlast_its_deadline_is_sent_half_way(void **state)
{
	static const struct { unsigned left, due; } cases[] = {
		{ 801, 800 }, { 800, 400 }, { 120, 60 }, { 101, 50 }, { 100, 100 }, { 60, 60 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		rcm_txn_begin(&txn, view.now + 100000 * MS);
		for (unsigned busy = 0; busy < 4; busy++) {
			send_it();
			answer(0x0100);
			rcm_txn_woken(&txn, &view);
		}
		send_it();
		view.now = txn.deadline - cases[i].left * MS;
		answer(0x0100);
		assert_int_equal(txn.state, RCM_TXN_PAUSED);
		assert_int_equal((txn.due - view.now) / MS, cases[i].due);
	}
}

/* A new one may know of it in a moment. */
static void test_txn_of_a_new_sa_that_has_none_is_asked_again_while_there_is_time(void **state)
{
	static const struct { bool renews; uint64_t ago, left; bool again; } cases[] = {
		{ true, 1, 4000, true },
		{ false, 1, 4000, false },
		{ true, 0, 4000, true },
		{ true, 9999, 4000, true },
		{ true, 10000, 4000, false },
		{ true, 1, 300, true },
		{ true, 1, 299, false },
		{ true, 1, 0, false },
	};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		txn.renews = cases[i / 2].renews;
		send_it();
		view.now = txn.deadline - cases[i / 2].left * MS;
		view.moved_at = view.now - cases[i / 2].ago * MS;
		answer(i % 2 ? 0x0300 : 0);
		assert_int_equal(txn.state, cases[i / 2].again ? RCM_TXN_PAUSED : RCM_TXN_OVER);
		if (cases[i / 2].again)
			assert_true(txn.due <= view.now + 300 * MS);
		else
			assert_int_equal(tell().status, -ENOENT);
	}
	setup(NULL);
	rcm_txn_begin(&txn, 0);
	txn.renews = true;
	view.moved_at = view.now;
	send_it();
	answer(0x0300);
	assert_int_equal(tell().status, -ENOENT);
}

/* ---- What happens to the port ---- */

static void test_txn_that_can_not_be_sent_fails_but_for_a_port_that_was_lost_thrice(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rcm_txn_next(&txn, &view) > 0);
		rcm_txn_sent(&txn, &view, -EIO);
		assert_int_equal(txn.state, RCM_TXN_PAUSED);
		rcm_txn_woken(&txn, &view);
	}
	rcm_txn_sent(&txn, &view, -EIO);
	assert_int_equal(tell().status, -EIO);
	assert_int_equal(txn.sent, 0);
	setup(NULL);
	rcm_txn_sent(&txn, &view, -EPERM);
	assert_int_equal(tell().status, -EPERM);
}

enum { IDLE, WAITING, SENT, PAUSED, OVER, STATES };

static void put_into(unsigned state)
{
	setup(NULL);
	if (state == SENT || state == PAUSED)
		send_it();
	if (state == PAUSED)
		answer(1);
	if (state == OVER || state == IDLE)
		rcm_txn_too_large(&txn);
	if (state == IDLE)
		tell();
}

static void test_txn_is_told_of_its_port_where_that_changes_something(void **state)
{
	static const enum rcm_txn_state names[STATES] = {
		RCM_TXN_IDLE, RCM_TXN_WAITING, RCM_TXN_SENT, RCM_TXN_PAUSED, RCM_TXN_OVER,
	};

	(void)state;
	for (unsigned i = 0; i < STATES; i++) {
		bool live = i != IDLE && i != OVER;

		put_into(i);
		assert_int_equal(txn.state, names[i]);
		assert_false(rcm_txn_port(&txn, 0));
		assert_int_equal(txn.state, names[i]);
		assert_int_equal(rcm_txn_port(&txn, 1), i == SENT);
		assert_int_equal(txn.state, i == SENT ? RCM_TXN_WAITING : names[i]);
		put_into(i);
		assert_int_equal(rcm_txn_port(&txn, -ENETDOWN), live);
		assert_int_equal(txn.state, live ? RCM_TXN_OVER : names[i]);
		/* It was closed for another's sake. */
		put_into(i);
		rcm_txn_again(&txn);
		assert_int_equal(txn.state, i == SENT ? RCM_TXN_WAITING : names[i]);
		/* What nobody answers is what was sent. */
		put_into(i);
		rcm_txn_silence(&txn, &view);
		assert_int_equal(txn.state, i == SENT ? RCM_TXN_IN_DOUBT : names[i]);
	}
}

/* ---- Words ---- */

static void check_words(int status, uint16_t mad_status, const char *text)
{
	struct rcm_txn_outcome outcome = tell();

	assert_int_equal(outcome.status, status);
	assert_int_equal(outcome.mad_status, mad_status);
	assert_string_equal(outcome.text, text);
}

static void test_txn_tells_what_was_answered_in_words(void **state)
{
	static const struct { uint16_t mad_status; int status; const char *text; } cases[] = {
		{ 0x0000, -ENOENT, "none that this port may see" },
		{ 0x0300, -ENOENT, "none that this port may see" },
		{ 0x0700, -EIO, "the SA answered with status 0x0700 (REQ_DENIED)" },
		{ 0x001c, -EIO, "the SA answered with status 0x001c (invalid field value)" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		send_it();
		answer(cases[i].mad_status);
		check_words(cases[i].status, cases[i].mad_status, cases[i].text);
	}
	setup(NULL);
	send_it();
	view.moved_at = view.now - 2999 * MS;
	answer(0x0300);
	check_words(-ENOENT, 0x0300, "none that this port may see; the subnet manager changed 2 s ago");
	setup(NULL);
	send_it();
	rcm_txn_answered(&txn, &view, txn.mad, 256);
	check_words(-EIO, 0, "the SA's answer is malformed");
	setup(NULL);
	rcm_txn_too_large(&txn);
	check_words(-EIO, 0, "the SA's answer is larger than 16777216 bytes");
}

static void test_txn_tells_why_nothing_was_answered_in_words(void **state)
{
	(void)state;
	view.now = txn.deadline;
	rcm_txn_woken(&txn, &view);
	check_words(-ETIMEDOUT, 0, "waited in line for the SA of port fake0/1 until the deadline");
	for (unsigned sent = 1; sent <= 2; sent++) {
		const char *text = sent == 1 ? "no answer from the SA at LID 1 of port fake0/1, asked 1 time" :
					       "no answer from the SA at LID 1 of port fake0/1, asked 2 times";

		setup(NULL);
		fall_silent(sent);
		view.now = txn.deadline;
		rcm_txn_woken(&txn, &view);
		check_words(-ETIMEDOUT, 0, text);
		setup(NULL);
		fall_silent(sent - 1);
		send_it();
		answer(0x0001);
		view.now = txn.deadline;
		rcm_txn_woken(&txn, &view);
		check_words(-EBUSY, 1, sent == 1 ? "the SA at LID 1 of port fake0/1 was busy, asked 1 time" :
						   "the SA at LID 1 of port fake0/1 was busy, asked 2 times");
	}
	setup(NULL);
	rcm_txn_looked(&txn, -ENETDOWN);
	check_words(-ENETDOWN, 0, "port fake0/1 is down or has lost its subnet manager");
	setup(NULL);
	rcm_txn_looked(&txn, -EACCES);
	check_words(-EACCES, 0, "umad of port fake0/1: Permission denied");
}

/* It was busy, or had none, when it was asked last, or it was silent. */
static void test_txn_that_is_late_tells_what_its_last_attempt_met(void **state)
{
	static const struct { uint16_t first, last; bool silent; int status; } cases[] = {
		{ 0x0001, 0x0300, false, -ENOENT }, { 0x0300, 0x0001, false, -EBUSY },
		{ 0x0001, 0x0001, true, -ETIMEDOUT }, { 0x0300, 0x0300, false, -ENOENT },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		txn.renews = true;
		view.moved_at = view.now;
		send_it();
		answer(cases[i].first);
		rcm_txn_woken(&txn, &view);
		send_it();
		answer(cases[i].last);
		assert_int_equal(txn.state, RCM_TXN_PAUSED);
		rcm_txn_woken(&txn, &view);
		if (cases[i].silent)
			fall_silent(1);
		view.now = txn.deadline;
		rcm_txn_woken(&txn, &view);
		assert_int_equal(tell().status, cases[i].status);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_txn_begun_waits_for_room),
		TEST(test_txn_sent_is_due_when_the_sa_should_have_answered_twice),
		TEST(test_txn_that_waits_half_its_patience_has_the_sa_asked_how_long_it_takes),
		TEST(test_txn_is_asked_again_in_half_of_its_time_at_the_latest),
		TEST(test_txn_in_silence_is_in_doubt_and_then_goes_by_the_next_agent),
		TEST(test_txn_in_doubt_of_a_port_that_is_down_is_over),
		TEST(test_txn_is_late_whatever_state_its_deadline_meets_it_in),
		TEST(test_txn_whose_port_is_lost_again_and_again_fails),
		TEST(test_txn_of_any_method_and_attribute_has_its_answer),
		TEST(test_txn_is_patient_as_the_sa_is_slow_and_the_more_the_oftener_it_was_silent),
		TEST(test_txn_that_was_sent_twice_has_the_sa_asked_nothing),
		TEST(test_txn_is_listened_to_for_16_s_but_for_the_last_agents_which_many_share),
		TEST(test_txn_is_listened_to_for_what_is_left_in_whole_milliseconds),
		TEST(test_txn_of_a_busy_sa_rests_the_longer_the_oftener_it_was_busy),
		TEST(test_txn_whose_rest_would_outlast_its_deadline_is_sent_half_way),
		TEST(test_txn_of_a_new_sa_that_has_none_is_asked_again_while_there_is_time),
		TEST(test_txn_that_can_not_be_sent_fails_but_for_a_port_that_was_lost_thrice),
		TEST(test_txn_is_told_of_its_port_where_that_changes_something),
		TEST(test_txn_tells_what_was_answered_in_words),
		TEST(test_txn_tells_why_nothing_was_answered_in_words),
		TEST(test_txn_that_is_late_tells_what_its_last_attempt_met),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
