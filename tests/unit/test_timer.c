/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers, on a clock that the test moves. */
#include "loop/timer.h"
#include "fake_clock.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_timer a, b, c;
static struct rcm_timer *fired[8];
static unsigned n_fired;

static void note(struct rcm_timer *t)
{
	assert_true(n_fired < 8);
	fired[n_fired++] = t;
}

static void note_and_restart(struct rcm_timer *t)
{
	note(t);
	rcm_timer_start(&loop, t, 0, note_and_restart);
}

static void note_and_stop_c(struct rcm_timer *t)
{
	note(t);
	rcm_timer_stop(&loop, &c);
}

static int setup(void **state)
{
	(void)state;
	n_fired = 0;
	a = b = c = (struct rcm_timer){ 0 };
	rcm_fake_clock_use(1000);
	return rcm_loop_init(&loop);
}

static int teardown(void **state)
{
	(void)state;
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void test_timer_due_ones_fire_in_order_of_time_then_of_start(void **state)
{
	(void)state;
	rcm_timer_start(&loop, &a, 20, note);
	rcm_timer_start(&loop, &b, 10, note);
	rcm_timer_start(&loop, &c, 20, note);
	rcm_timers_fire(&loop, 15);
	assert_int_equal(n_fired, 1);
	rcm_timers_fire(&loop, 20);
	assert_int_equal(n_fired, 3);
	assert_ptr_equal(fired[0], &b);
	assert_ptr_equal(fired[1], &a);
	assert_ptr_equal(fired[2], &c);
}

static void test_timer_that_restarts_itself_in_the_past_starves_nobody(void **state)
{
	(void)state;
	rcm_timer_start(&loop, &a, 1, note_and_restart);
	rcm_timer_start(&loop, &b, 2, note);
	rcm_timers_fire(&loop, 5);
	assert_int_equal(n_fired, 2);
	assert_ptr_equal(fired[1], &b);
	assert_int_equal(rcm_timers_wait_ms(&loop, 5, -1), 0);
}

static void test_timer_stopped_by_one_due_with_it_does_not_fire(void **state)
{
	(void)state;
	rcm_timer_start(&loop, &a, 1, note_and_stop_c);
	rcm_timer_start(&loop, &c, 2, note);
	rcm_timers_fire(&loop, 5);
	assert_int_equal(n_fired, 1);
	assert_ptr_equal(fired[0], &a);
}

static void test_timer_wait_is_rounded_up_and_limited(void **state)
{
	(void)state;
	assert_int_equal(rcm_timers_wait_ms(&loop, 0, -1), -1);
	assert_int_equal(rcm_timers_wait_ms(&loop, 0, 5), 5);
	rcm_timer_start(&loop, &a, 3 * RCM_NS_PER_MS + 1, note);
	assert_int_equal(rcm_timers_wait_ms(&loop, 0, -1), 4);
	assert_int_equal(rcm_timers_wait_ms(&loop, 0, 2), 2);
	rcm_timer_start(&loop, &a, UINT64_MAX, note);
	assert_int_equal(rcm_timers_wait_ms(&loop, 0, -1), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_timer_due_ones_fire_in_order_of_time_then_of_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer_that_restarts_itself_in_the_past_starves_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer_stopped_by_one_due_with_it_does_not_fire, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer_wait_is_rounded_up_and_limited, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
