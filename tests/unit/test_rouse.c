/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits on a bare descriptor that are roused: those that are meant, and the others. */
#include "cm/rouse.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "test.h"

static bool is_roused(void)
{
	struct pollfd p = { .fd = rcm_rouse_fd(), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_rouse_wakes_from_its_begin_to_its_end(void **state)
{
	(void)state;
	assert_true(rcm_rouse_fd() >= 0);
	assert_false(is_roused());
	rcm_rouse_begin();
	rcm_rouse_begin();
	assert_true(is_roused());
	rcm_rouse_end();
	assert_true(is_roused());
	rcm_rouse_end();
	assert_false(is_roused());
}

/* Its own end may be what began since it last looked. */
static void test_rouse_that_began_after_the_look_is_not_slept_through(void **state)
{
	struct rcm_rouse rouse;

	(void)state;
	rcm_rouse_begin();
	rcm_rouse_look(&rouse);
	rcm_rouse_begin();
	rcm_rouse_await_change(&rouse);
	rcm_rouse_end();
	rcm_rouse_end();
	rcm_rouse_look(&rouse);
	rcm_rouse_await_change(&rouse);
}

static atomic_int looks;

static void *wait_unmeant(void *arg)
{
	struct rcm_rouse rouse;

	(void)arg;
	rcm_rouse_look(&rouse);
	while (is_roused()) {
		atomic_fetch_add(&looks, 1);
		rcm_rouse_await_change(&rouse);
		rcm_rouse_look(&rouse);
	}
	return NULL;
}

/* A look for each change; how long the other takes to go makes none. */
static void test_rouse_of_another_is_slept_through(void **state)
{
	pthread_t thread;

	(void)state;
	rcm_rouse_begin();
	assert_int_equal(pthread_create(&thread, NULL, wait_unmeant, NULL), 0);
	while (!atomic_load(&looks))
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	rcm_rouse_end();
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&looks), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rouse_wakes_from_its_begin_to_its_end),
		cmocka_unit_test(test_rouse_that_began_after_the_look_is_not_slept_through),
		cmocka_unit_test(test_rouse_of_another_is_slept_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
