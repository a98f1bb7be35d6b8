/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes known of a server by what it does, on a clock of the test's own. */
#include "dns/server.h"

#include "base/clock.h"
#include "base/limits.h"
#include "test.h"

#define MS RCM_NS_PER_MS

/* In questions. */
enum { WINDOW = 2 * RCM_DNS_WINDOW, WINDOW_MIN = 2 * RCM_DNS_WINDOW_MIN, IN_FLIGHT = 2 * RCM_DNS_IN_FLIGHT };

static struct rcm_server server;
static uint64_t at;

static int make(void **state)
{
	static const union rcm_dns_address address = { .in = { .sin_family = AF_INET } };

	(void)state;
	at = 100 * RCM_NS_PER_S;
	rcm_server_init(&server, &address);
	return 0;
}

static void answer_after(uint64_t trip)
{
	at += trip;
	rcm_server_answered(&server, at - trip, at);
}

static void be_silent(void)
{
	at += 1000 * MS;
	rcm_server_silent(&server, at - 1000 * MS, at);
}

static void test_server_patience_is_four_round_trips_within_bounds(void **state)
{
	(void)state;
	assert_int_equal(rcm_server_patience(&server), 10 * MS);
	assert_int_equal(rcm_server_early(&server), 100 * MS);
	answer_after(8 * MS);
	assert_int_equal(rcm_server_patience(&server), 32 * MS);
	for (int i = 0; i < 100; i++)
		answer_after(MS / 10);
	assert_int_equal(rcm_server_patience(&server), 5 * MS);
	for (int i = 0; i < 200; i++)
		answer_after(100 * MS);
	assert_int_equal(rcm_server_patience(&server), 50 * MS);
	assert_uint_in_range(rcm_server_early(&server), 300 * MS, 400 * MS);
	make(state);
	answer_after(30 * MS);
	assert_int_equal(rcm_server_early(&server), 120 * MS);
	/* One that answers in no time is known, too. */
	make(state);
	rcm_server_answered(&server, at, at);
	assert_int_equal(rcm_server_patience(&server), 5 * MS);
	assert_int_equal(server.best_trip, 1);
}

/* A name that takes its time is no reason to be patient with all. */
static void test_server_usual_round_trip_is_not_that_of_one_slow_name(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		answer_after(2 * MS);
	answer_after(3000 * MS);
	assert_uint_in_range(rcm_server_patience(&server), 8 * MS, 9 * MS);
	/* An eighth of it counts, and of that no more than twice the usual. */
	make(state);
	answer_after(8 * MS);
	answer_after(16 * MS);
	assert_int_equal(server.round_trip, 9 * MS);
	answer_after(server.best_trip);
	assert_int_equal(server.best_trip, 8 * MS + 8 * MS / 1024 + 1 + (8 * MS + 8 * MS / 1024 + 1) / 1024 + 1);
	make(state);
	answer_after(8 * MS);
	answer_after(16 * MS);
	answer_after(1000 * MS);
	assert_int_equal(server.round_trip, 9 * MS - 9 * MS / 8 + 18 * MS / 8);
}

/* Who stalls for a while gets fewer questions meanwhile, until it answers. */
static void test_server_patience_doubles_while_nothing_at_all_is_answered(void **state)
{
	(void)state;
	answer_after(MS);
	assert_int_equal(rcm_server_patience(&server), 5 * MS);
	for (unsigned i = 1; i < 5; i++) {
		at += 10 * MS;
		rcm_server_overdue(&server, at, at);
		assert_int_equal(rcm_server_patience(&server), (i == 1 ? 10 : 20) * MS);
	}
	answer_after(MS);
	assert_int_equal(rcm_server_patience(&server), 5 * MS);
}

static void test_server_window_grows_with_answers_that_come_as_soon_as_ever(void **state)
{
	(void)state;
	assert_true(rcm_server_has_room(&server, WINDOW, 0));
	assert_true(rcm_server_has_room(&server, WINDOW + 2, 2));
	assert_false(rcm_server_has_room(&server, WINDOW + 1, 0));
	server.placed = WINDOW;
	for (int i = 0; i < 100; i++)
		answer_after(20 * MS);
	assert_int_equal(server.window, WINDOW + 100);
	/* Late answers are the first sign of too much; and a window that isn't used needn't be wider. */
	answer_after(50 * MS);
	server.placed = 10;
	answer_after(20 * MS);
	assert_int_equal(server.window, WINDOW + 100);
	server.placed = WINDOW;
	for (int i = 0; i < 2 * IN_FLIGHT; i++) {
		server.placed = server.window;
		answer_after(20 * MS);
	}
	assert_int_equal(server.window, IN_FLIGHT);
	server.placed = 0;
	server.out = IN_FLIGHT - 2;
	assert_true(rcm_server_has_room(&server, 2, 0));
	server.out = IN_FLIGHT - 1;
	assert_false(rcm_server_has_room(&server, 2, 0));
}

/* What comes within twice the best round trip and 2 ms is as soon as ever; half of the window makes it one in use. */
static void test_server_window_grows_up_to_its_bounds_and_not_beyond(void **state)
{
	static const struct { int64_t late; unsigned unused; bool grows; } rows[] = {
		{ 0, 0, true }, { 1, 0, false }, { 0, WINDOW / 2, true }, { 0, WINDOW / 2 + 1, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t best;

		make(state);
		answer_after(10 * MS);
		/* It is forgotten bit by bit. */
		best = 10 * MS + 10 * MS / 1024 + 1;
		server.placed = WINDOW - rows[i].unused;
		answer_after(2 * best + 2 * MS + (uint64_t)rows[i].late);
		assert_int_equal(server.window, WINDOW + rows[i].grows);
		assert_int_equal(server.best_trip, best);
	}
}

static void test_server_window_halves_once_for_what_was_out_together(void **state)
{
	(void)state;
	server.window = 4096;
	rcm_server_overdue(&server, at - 10 * MS, at);
	rcm_server_overdue(&server, at - 9 * MS, at);
	rcm_server_overdue(&server, at - 8 * MS, at + MS);
	assert_int_equal(server.window, 2048);
	rcm_server_overdue(&server, at, at + 20 * MS);
	assert_int_equal(server.window, 1024);
	for (int i = 1; i < 10; i++)
		rcm_server_overdue(&server, at + RCM_NS_PER_S * i, at + RCM_NS_PER_S * i + MS);
	assert_int_equal(server.window, WINDOW_MIN);
}

static void test_server_silent_in_a_row_is_asked_last_with_a_probe_now_and_then(void **state)
{
	(void)state;
	be_silent();
	be_silent();
	assert_false(rcm_server_is_last(&server, at));
	be_silent();
	assert_true(rcm_server_is_last(&server, at));
	at += 10 * RCM_NS_PER_S - 1;
	assert_true(rcm_server_is_last(&server, at));
	at++;
	assert_false(rcm_server_is_last(&server, at));
	assert_true(rcm_server_is_last(&server, at));
	answer_after(MS);
	assert_false(rcm_server_is_last(&server, at));
}

/* A name that nobody answers for says nothing about a server that answers others. */
static void test_server_that_answers_others_is_not_silent(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		at += 1000 * MS;
		rcm_server_answered(&server, at - 501 * MS, at - 500 * MS);
		for (int j = 0; j < 4; j++)
			rcm_server_silent(&server, at - 1000 * MS, at);
		assert_false(rcm_server_is_silent(&server));
	}
	/* Those that it was asked since are another matter. */
	for (int j = 0; j < 3; j++)
		rcm_server_silent(&server, server.answered_at, at);
	assert_true(rcm_server_is_silent(&server));
}

static void test_server_refusals_are_remembered_for_a_while(void **state)
{
	(void)state;
	rcm_server_refuses_edns(&server, at);
	rcm_server_refuses_tcp(&server, at);
	assert_int_equal(server.no_edns_until, at + 300 * RCM_NS_PER_S);
	assert_int_equal(server.no_tcp_until, at + 30 * RCM_NS_PER_S);
}

#define SERVER_TEST(f) cmocka_unit_test_setup(f, make)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVER_TEST(test_server_patience_is_four_round_trips_within_bounds),
		SERVER_TEST(test_server_usual_round_trip_is_not_that_of_one_slow_name),
		SERVER_TEST(test_server_patience_doubles_while_nothing_at_all_is_answered),
		SERVER_TEST(test_server_window_grows_with_answers_that_come_as_soon_as_ever),
		SERVER_TEST(test_server_window_grows_up_to_its_bounds_and_not_beyond),
		SERVER_TEST(test_server_window_halves_once_for_what_was_out_together),
		SERVER_TEST(test_server_silent_in_a_row_is_asked_last_with_a_probe_now_and_then),
		SERVER_TEST(test_server_that_answers_others_is_not_silent),
		SERVER_TEST(test_server_refusals_are_remembered_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
