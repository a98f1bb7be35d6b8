/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits on a bare descriptor that are roused, and those of the next round. */
#include "cm/rouse.h"

#include <poll.h>
#include <unistd.h>

#include "test.h"

static bool is_roused(const struct rcm_rouse *rouse)
{
	struct pollfd p = { .fd = rcm_rouse_fd(rouse), .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static void test_rouse_reaches_all_that_joined_before(void **state)
{
	struct rcm_rouse one = { 0 }, two = { 0 };

	(void)state;
	assert_true(rcm_rouse_join(&one));
	assert_true(rcm_rouse_join(&two));
	assert_int_equal(rcm_rouse_fd(&one), rcm_rouse_fd(&two));
	assert_false(is_roused(&one));
	rcm_rouse_all();
	assert_true(is_roused(&one));
	rcm_rouse_leave(&one);
	assert_true(is_roused(&two));
	rcm_rouse_leave(&two);
}

/* It looks, and waits on. */
static void test_rouse_join_says_once_a_round_that_a_look_is_due(void **state)
{
	struct rcm_rouse rouse = { 0 };

	(void)state;
	assert_true(rcm_rouse_join(&rouse));
	assert_false(rcm_rouse_join(&rouse));
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&rouse));
	assert_false(rcm_rouse_join(&rouse));
	assert_false(is_roused(&rouse));
	rcm_rouse_leave(&rouse);
}

static void test_rouse_of_one_that_is_held_up_leaves_the_next_round_asleep(void **state)
{
	struct rcm_rouse slow = { 0 }, other = { 0 };

	(void)state;
	rcm_rouse_join(&slow);
	rcm_rouse_join(&other);
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&other));
	assert_false(is_roused(&other));
	assert_true(is_roused(&slow));
	rcm_rouse_all();
	assert_true(is_roused(&other));
	rcm_rouse_leave(&slow);
	rcm_rouse_leave(&other);
}

static void test_rouse_takes_the_descriptors_of_rounds_that_all_left(void **state)
{
	struct rcm_rouse slow = { 0 }, other = { 0 };
	int before, after;

	(void)state;
	for (int i = 0; i < 100; i++) {
		rcm_rouse_join(&slow);
		rcm_rouse_join(&other);
		rcm_rouse_all();
		rcm_rouse_join(&other);
		rcm_rouse_leave(&slow);
		rcm_rouse_leave(&other);
		after = dup(STDERR_FILENO);
		close(after);
		before = i ? before : after;
	}
	assert_int_equal(after, before);
}

static void test_rouse_of_nobody_does_nothing(void **state)
{
	struct rcm_rouse rouse = { 0 };

	(void)state;
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&rouse));
	assert_false(is_roused(&rouse));
	rcm_rouse_leave(&rouse);
	assert_int_equal(rcm_rouse_fd(&rouse), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rouse_reaches_all_that_joined_before),
		cmocka_unit_test(test_rouse_join_says_once_a_round_that_a_look_is_due),
		cmocka_unit_test(test_rouse_of_one_that_is_held_up_leaves_the_next_round_asleep),
		cmocka_unit_test(test_rouse_takes_the_descriptors_of_rounds_that_all_left),
		cmocka_unit_test(test_rouse_of_nobody_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
