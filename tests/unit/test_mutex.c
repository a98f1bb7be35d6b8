/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex, and conditions under it, between threads. */
#include "base/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "test.h"

enum { THREADS = 4, TURNS = 20000 };

static struct rcm_mutex mutex = RCM_MUTEX_INIT;
static struct rcm_condition changed = RCM_CONDITION_INIT;
static int counter;			/* under the mutex */
static bool go;				/* the same */

static struct thread {
	pthread_t thread;
	atomic_int tid;
	int ret;
} threads[THREADS];

static void start(void *(*run)(void *))
{
	alarm(60);
	counter = 0;
	go = false;
	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){ 0 };
		assert_int_equal(pthread_create(&threads[i].thread, NULL, run, &threads[i]), 0);
	}
}

static void await_all_asleep(void)
{
	char futex[16];

	snprintf(futex, sizeof(futex), "%ld ", (long)SYS_futex);
	for (int i = 0; i < THREADS; i++)
		while (!atomic_load(&threads[i].tid) || !thread_sleeps_in(atomic_load(&threads[i].tid), futex))
			sched_yield();
}

static void join(void)
{
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
	alarm(0);
}

static void *count_up(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		rcm_mutex_lock(&mutex);
		counter++;
		rcm_mutex_unlock(&mutex);
	}
	return arg;
}

static void test_mutex_that_threads_contend_for_loses_no_count(void **state)
{
	(void)state;
	start(count_up);
	join();
	assert_int_equal(counter, THREADS * TURNS);
}

static void *lock_once(void *arg)
{
	struct thread *thread = arg;

	errno = ENOTTY;
	atomic_store(&thread->tid, gettid());
	rcm_mutex_lock(&mutex);
	counter++;
	rcm_mutex_unlock(&mutex);
	thread->ret = errno;
	return NULL;
}

static void test_mutex_that_is_unlocked_goes_to_all_that_sleep_for_it(void **state)
{
	(void)state;
	rcm_mutex_lock(&mutex);
	start(lock_once);
	await_all_asleep();
	assert_int_equal(rcm_mutex_try_lock(&mutex), -EBUSY);
	assert_int_equal(counter, 0);
	rcm_mutex_unlock(&mutex);
	join();
	assert_int_equal(counter, THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(threads[i].ret, ENOTTY);
	assert_int_equal(rcm_mutex_try_lock(&mutex), 0);
	rcm_mutex_unlock(&mutex);
}

/* Its threads sleep there, and aren't in the child. */
static void test_mutex_held_at_a_fork_is_unlocked_and_locked_in_the_child(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	rcm_mutex_lock(&mutex);
	start(lock_once);
	await_all_asleep();
	pid = fork();
	if (!pid) {
		alarm(60);
		rcm_mutex_unlock(&mutex);
		rcm_mutex_lock(&mutex);
		rcm_mutex_unlock(&mutex);
		_exit(rcm_mutex_try_lock(&mutex) != 0);
	}
	rcm_mutex_unlock(&mutex);
	join();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#ifndef RCM_MUTEX_IS_PTHREADS

/* ThreadSanitizer's, of a program that is built with it. */
static struct {
	void *acquired, *released;
	bool was_held;
} told;

void __tsan_acquire(void *address)
{
	told.acquired = address;
}

void __tsan_release(void *address)
{
	told.released = address;
	told.was_held = rcm_mutex_try_lock(address) == -EBUSY;
}

static void test_mutex_tells_a_program_under_thread_sanitizer_what_it_orders(void **state)
{
	struct rcm_mutex own = RCM_MUTEX_INIT;

	(void)state;
	memset(&told, 0, sizeof(told));
	rcm_mutex_lock(&own);
	assert_ptr_equal(told.acquired, &own);
	assert_null(told.released);
	rcm_mutex_unlock(&own);
	assert_ptr_equal(told.released, &own);
	assert_true(told.was_held);

	memset(&told, 0, sizeof(told));
	assert_int_equal(rcm_mutex_try_lock(&own), 0);
	assert_ptr_equal(told.acquired, &own);
	assert_int_equal(rcm_mutex_try_lock(&own), -EBUSY);
}

#else

static void test_mutex_tells_a_program_under_thread_sanitizer_what_it_orders(void **state)
{
	(void)state;
}

#endif

static void all_go(void *(*wait)(void *), void (*wake)(struct rcm_condition *))
{
	start(wait);
	await_all_asleep();
	rcm_mutex_lock(&mutex);
	go = true;
	wake(&changed);
	rcm_mutex_unlock(&mutex);
	join();
	assert_int_equal(counter, THREADS);
}

static void *wait_for_go(void *arg)
{
	struct thread *thread = arg;

	rcm_mutex_lock(&mutex);
	atomic_store(&thread->tid, gettid());
	while (!go)
		rcm_condition_wait(&changed, &mutex, NULL);
	counter++;
	rcm_mutex_unlock(&mutex);
	return NULL;
}

static void test_condition_broadcast_wakes_all(void **state)
{
	(void)state;
	all_go(wait_for_go, rcm_condition_broadcast);
}

/* Each signals to the next. */
static void *pass_go_on(void *arg)
{
	struct thread *thread = arg;

	rcm_mutex_lock(&mutex);
	atomic_store(&thread->tid, gettid());
	while (!go)
		rcm_condition_wait(&changed, &mutex, NULL);
	if (++counter < THREADS)
		rcm_condition_signal(&changed);
	rcm_mutex_unlock(&mutex);
	return NULL;
}

static void test_condition_signal_wakes_one_and_that_the_next(void **state)
{
	(void)state;
	all_go(pass_go_on, rcm_condition_signal);
}

/* Each turn is the other's to begin: a wake-up that is lost stops both. */
static void *take_turns(void *arg)
{
	int own = (int)((struct thread *)arg - threads);

	rcm_mutex_lock(&mutex);
	for (int i = 0; i < TURNS / THREADS; i++) {
		while (counter % THREADS != own)
			rcm_condition_wait(&changed, &mutex, NULL);
		counter++;
		rcm_condition_broadcast(&changed);
	}
	rcm_mutex_unlock(&mutex);
	return NULL;
}

static void test_condition_of_threads_that_take_turns_loses_no_wake_up(void **state)
{
	(void)state;
	start(take_turns);
	join();
	assert_int_equal(counter, TURNS);
}

static struct timespec in_ms(int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ms * 1000000L;
	if (time.tv_nsec >= 1000000000L)
		time = (struct timespec){ time.tv_sec + 1, time.tv_nsec - 1000000000L };
	return time;
}

static bool has_come(const struct timespec *until)
{
	struct timespec now = in_ms(0);

	return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

static void test_condition_wait_until_a_time_ends_with_it_and_holds_the_mutex(void **state)
{
	struct timespec until = in_ms(5), past = in_ms(0);

	(void)state;
	alarm(60);
	rcm_mutex_lock(&mutex);
	errno = ENOTTY;
	while (!rcm_condition_wait(&changed, &mutex, &until))
		;
	assert_true(has_come(&until));
	assert_int_equal(rcm_condition_wait(&changed, &mutex, &past), -ETIMEDOUT);
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(rcm_mutex_try_lock(&mutex), -EBUSY);
	rcm_mutex_unlock(&mutex);
	alarm(0);
}

static void *wait_for_long(void *arg)
{
	struct thread *thread = arg;
	struct timespec until = in_ms(0);

	until.tv_sec += 3600;
	rcm_mutex_lock(&mutex);
	atomic_store(&thread->tid, gettid());
	while (!go && !thread->ret)
		thread->ret = rcm_condition_wait(&changed, &mutex, &until);
	counter++;
	rcm_mutex_unlock(&mutex);
	return NULL;
}

static void test_condition_wait_until_a_late_time_is_woken_before(void **state)
{
	(void)state;
	start(wait_for_long);
	await_all_asleep();
	rcm_mutex_lock(&mutex);
	go = true;
	rcm_condition_broadcast(&changed);
	rcm_mutex_unlock(&mutex);
	join();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(threads[i].ret, 0);
}

static void test_condition_wait_is_no_cancellation_point(void **state)
{
	(void)state;
	start(wait_for_go);
	await_all_asleep();
	for (int i = 0; i < THREADS; i++)
		pthread_cancel(threads[i].thread);
	rcm_mutex_lock(&mutex);
	go = true;
	rcm_condition_broadcast(&changed);
	rcm_mutex_unlock(&mutex);
	join();
	assert_int_equal(counter, THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_that_threads_contend_for_loses_no_count),
		cmocka_unit_test(test_mutex_that_is_unlocked_goes_to_all_that_sleep_for_it),
		cmocka_unit_test(test_mutex_held_at_a_fork_is_unlocked_and_locked_in_the_child),
		cmocka_unit_test(test_mutex_tells_a_program_under_thread_sanitizer_what_it_orders),
		cmocka_unit_test(test_condition_broadcast_wakes_all),
		cmocka_unit_test(test_condition_signal_wakes_one_and_that_the_next),
		cmocka_unit_test(test_condition_of_threads_that_take_turns_loses_no_wake_up),
		cmocka_unit_test(test_condition_wait_until_a_time_ends_with_it_and_holds_the_mutex),
		cmocka_unit_test(test_condition_wait_until_a_late_time_is_woken_before),
		cmocka_unit_test(test_condition_wait_is_no_cancellation_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
