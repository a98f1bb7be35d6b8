/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex, and conditions under it, where something is to be waited for. */
#include "base/mutex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

#ifdef RCM_MUTEX_IS_PTHREADS

int rcm_mutex_try_lock(struct rcm_mutex *mutex)
{
	return -pthread_mutex_trylock(&mutex->pthreads);
}

int rcm_condition_wait(struct rcm_condition *condition, struct rcm_mutex *mutex, const struct timespec *until)
{
	int cancel, ret;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (until)
		ret = pthread_cond_clockwait(&condition->pthreads, &mutex->pthreads, CLOCK_MONOTONIC, until);
	else
		ret = pthread_cond_wait(&condition->pthreads, &mutex->pthreads);
	pthread_setcancelstate(cancel, NULL);
	return -ret;
}

void rcm_condition_signal(struct rcm_condition *condition)
{
	pthread_cond_signal(&condition->pthreads);
}

void rcm_condition_broadcast(struct rcm_condition *condition)
{
	pthread_cond_broadcast(&condition->pthreads);
}

#else

/* What the kernel takes by this number: longs, also where time_t is longer. A time since the boot fits into them. */
struct futex_time {
	long seconds, nanoseconds;
};

/* While it has that value, and until a time of CLOCK_MONOTONIC; NULL: for ever. -ETIMEDOUT: it came; else, look. */
static int futex_wait(_Atomic(uint32_t) *futex, uint32_t value, const struct timespec *until)
{
	struct futex_time time = { 0 };
	int saved = errno, ret;

	if (until)
		time = (struct futex_time){ (long)until->tv_sec, until->tv_nsec };
	ret = syscall(SYS_futex, futex, FUTEX_WAIT_BITSET_PRIVATE, value, until ? &time : NULL, NULL,
		      FUTEX_BITSET_MATCH_ANY) ? rcm_errno() : 0;
	errno = saved;
	return ret == -ETIMEDOUT ? ret : 0;
}

/* Its memory may be gone by now, or another's: it is not looked at, and who is woken for nothing looks. */
static void futex_wake(_Atomic(uint32_t) *futex, int count)
{
	int saved = errno;

	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
	errno = saved;
}

/* Awaited, as others may wait, too: the last of them wakes nobody, once. */
void rcm_mutex_lock_awaited(struct rcm_mutex *mutex)
{
	while (atomic_exchange_explicit(&mutex->state, RCM_MUTEX_AWAITED, memory_order_acquire) != RCM_MUTEX_FREE)
		futex_wait(&mutex->state, RCM_MUTEX_AWAITED, NULL);
}

void rcm_mutex_wake(struct rcm_mutex *mutex)
{
	futex_wake(&mutex->state, 1);
}

int rcm_mutex_try_lock(struct rcm_mutex *mutex)
{
	uint32_t state = RCM_MUTEX_FREE;
	bool locked = atomic_compare_exchange_strong_explicit(&mutex->state, &state, RCM_MUTEX_LOCKED,
							      memory_order_acquire, memory_order_relaxed);

	if (locked && __tsan_acquire)
		__tsan_acquire(mutex);
	return locked ? 0 : -EBUSY;
}

/* What is signalled once the mutex is unlocked changes the futex: the wait then doesn't begin, or is woken. */
int rcm_condition_wait(struct rcm_condition *condition, struct rcm_mutex *mutex, const struct timespec *until)
{
	uint32_t signals = atomic_load_explicit(&condition->signals, memory_order_relaxed);
	int ret;

	condition->waiters++;
	rcm_mutex_unlock(mutex);
	ret = futex_wait(&condition->signals, signals, until);
	rcm_mutex_lock(mutex);
	condition->waiters--;
	return ret;
}

static void condition_wake(struct rcm_condition *condition, int count)
{
	if (!condition->waiters)
		return;
	atomic_fetch_add_explicit(&condition->signals, 1, memory_order_relaxed);
	futex_wake(&condition->signals, count);
}

void rcm_condition_signal(struct rcm_condition *condition)
{
	condition_wake(condition, 1);
}

void rcm_condition_broadcast(struct rcm_condition *condition)
{
	condition_wake(condition, INT_MAX);
}

#endif
