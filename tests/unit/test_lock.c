/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutex with a holder. */
#include "base/lock.h"

#include <errno.h>
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

/* The owner, as another thread may see it. */
static bool is_mine(void)
{
	return atomic_load(&lock.owner) == &rcm_lock_thread;
}

static atomic_bool waits, told;

/* With a cancellation on its way, which its own next point is to be. */
static void *wait_cancelled(void *arg)
{
	int before;

	pthread_cancel(pthread_self());
	rcm_lock_acquire(&lock);
	atomic_store(&waits, true);
	while (!told)
		rcm_lock_wait(&lock, &counted);
	*(bool *)arg = is_mine();
	rcm_lock_release(&lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before == PTHREAD_CANCEL_ENABLE ? arg : NULL;
}

static void test_lock_wait_is_no_cancellation_point(void **state)
{
	bool was_mine = false;
	pthread_t thread;
	void *ended;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_cancelled, &was_mine), 0);
	/* It waits as soon as the lock can be had. */
	for (bool waiting = false; !waiting;) {
		rcm_lock_acquire(&lock);
		waiting = waits;
		if (waiting) {
			told = true;
			rcm_lock_signal(&lock, &counted);
		}
		rcm_lock_release(&lock);
	}
	pthread_join(thread, &ended);
	assert_ptr_equal(ended, &was_mine);
	assert_true(was_mine);
}

static void *tell(void *arg)
{
	rcm_lock_acquire(&lock);
	told = true;
	rcm_lock_signal(&lock, &counted);
	rcm_lock_release(&lock);
	return arg;
}

static void test_lock_wait_until_a_time_ends_then_or_when_woken(void **state)
{
	static const struct timespec past, never = { .tv_sec = INT32_MAX };
	pthread_t thread;

	(void)state;
	rcm_lock_acquire(&lock);
	assert_int_equal(rcm_lock_wait_until(&lock, &counted, &past), -ETIMEDOUT);
	assert_true(is_mine());
	told = false;
	assert_int_equal(pthread_create(&thread, NULL, tell, NULL), 0);
	while (!told)
		assert_int_equal(rcm_lock_wait_until(&lock, &counted, &never), 0);
	assert_true(is_mine());
	rcm_lock_release(&lock);
	pthread_join(thread, NULL);
}

static void *hold(void *arg)
{
	rcm_lock_acquire(arg);
	return arg;
}

static void test_lock_made_anew_says_whether_it_was_free_and_is(void **state)
{
	static struct rcm_lock other = RCM_LOCK_INIT;
	pthread_t thread;

	(void)state;
	assert_true(rcm_lock_renew(&other));
	assert_int_equal(pthread_create(&thread, NULL, hold, &other), 0);
	pthread_join(thread, NULL);
	assert_false(rcm_lock_renew(&other));
	assert_null(atomic_load(&other.owner));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_two_threads_lose_no_count_and_wait_wakes),
		cmocka_unit_test(test_lock_wait_is_no_cancellation_point),
		cmocka_unit_test(test_lock_wait_until_a_time_ends_then_or_when_woken),
		cmocka_unit_test(test_lock_made_anew_says_whether_it_was_free_and_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
