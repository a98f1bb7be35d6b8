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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
