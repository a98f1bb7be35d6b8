/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop with two pipes. */
#include "loop/loop.h"

#include <unistd.h>

#include "test.h"

static struct rcm_loop loop;
static struct rcm_source sources[2];
static int pipes[2][2];
static int served;

static void remove_both(struct rcm_source *source, uint32_t events)
{
	(void)source;
	assert_true(events & RCM_READABLE);
	served++;
	rcm_source_remove(&sources[0]);
	rcm_source_remove(&sources[1]);
}

static void test_source_removed_in_the_same_turn_is_not_served(void **state)
{
	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		assert_int_equal(rcm_source_add(&loop, &sources[i], pipes[i][0], RCM_READABLE, remove_both), 0);
		assert_int_equal(write(pipes[i][1], "x", 1), 1);
	}
	assert_int_equal(rcm_loop_turn(&loop, -1), 0);
	assert_int_equal(served, 1);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 1);
	rcm_loop_done(&loop);
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_removed_in_the_same_turn_is_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
