/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutex with a holder. */
#include "base/lock.h"

#include <pthread.h>

#include "test.h"

static struct rcm_lock lock = RCM_LOCK_INIT;
static struct rcm_condition counted = RCM_CONDITION_INIT;
static int counter;

static void *count_up(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10000; i++) {
		rcm_lock_acquire(&lock);
		rcm_lock_assert_held(&lock);
		counter++;
		rcm_lock_release(&lock);
	}
	rcm_lock_acquire(&lock);
	counter++;
	rcm_lock_signal(&lock, &counted);
	rcm_lock_release(&lock);
	return NULL;
}

static void test_lock_two_threads_lose_no_count_and_wait_wakes(void **state)
{
	pthread_t a, b;

	(void)state;
	counter = 0;
	assert_int_equal(pthread_create(&a, NULL, count_up, NULL), 0);
	assert_int_equal(pthread_create(&b, NULL, count_up, NULL), 0);
	rcm_lock_acquire(&lock);
	while (counter < 20002)
		rcm_lock_wait(&lock, &counted);
	rcm_lock_assert_held(&lock);
	rcm_lock_release(&lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert_int_equal(counter, 20002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_two_threads_lose_no_count_and_wait_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
