/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex, and conditions under it: what a lock is made of (base/lock.h). */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * As the C library's of one process, which every call of ours passes tens of times: but a free one is locked by one
 * instruction in its place, no wait is a cancellation point, and errno stays. Neither has an end. In the child of a
 * fork who held a mutex there unlocks it as ever, and what others held or waited for is made anew.
 *
 * A condition is signalled under its mutex. A wait may end without that, as where a signal handler ran.
 *
 * ThreadSanitizer sees by the C library's alone in which order locks are taken, so under it they are those. A program
 * may be built with it where the library isn't: then it is told what a mutex orders, lest it find races in what one
 * thread hands to another by an event.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RCM_MUTEX_IS_PTHREADS
#endif
#elif defined(__SANITIZE_THREAD__)
#define RCM_MUTEX_IS_PTHREADS
#endif

#ifdef RCM_MUTEX_IS_PTHREADS

#include <pthread.h>

struct rcm_mutex {
	pthread_mutex_t pthreads;
};

struct rcm_condition {
	pthread_cond_t pthreads;
};

#define RCM_MUTEX_INIT { PTHREAD_MUTEX_INITIALIZER }
#define RCM_CONDITION_INIT { PTHREAD_COND_INITIALIZER }

static inline void rcm_mutex_lock(struct rcm_mutex *mutex)
{
	pthread_mutex_lock(&mutex->pthreads);
}

static inline void rcm_mutex_unlock(struct rcm_mutex *mutex)
{
	pthread_mutex_unlock(&mutex->pthreads);
}

#else

/* The state is a futex; what was written under the mutex is seen by who locks it next. */
enum { RCM_MUTEX_FREE, RCM_MUTEX_LOCKED, RCM_MUTEX_AWAITED };

struct rcm_mutex {
	_Atomic(uint32_t) state;
};

struct rcm_condition {
	_Atomic(uint32_t) signals;		/* a futex */
	uint32_t waiters;			/* under the mutex */
};

#define RCM_MUTEX_INIT { RCM_MUTEX_FREE }
#define RCM_CONDITION_INIT { 0, 0 }

/* ThreadSanitizer's; NULL: it isn't here. */
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

/* For the next two: one that isn't free, or that is awaited. */
void rcm_mutex_lock_awaited(struct rcm_mutex *mutex);
void rcm_mutex_wake(struct rcm_mutex *mutex);

static inline void rcm_mutex_lock(struct rcm_mutex *mutex)
{
	uint32_t state = RCM_MUTEX_FREE;

	if (!atomic_compare_exchange_strong_explicit(&mutex->state, &state, RCM_MUTEX_LOCKED, memory_order_acquire,
						     memory_order_relaxed))
		rcm_mutex_lock_awaited(mutex);
	if (__tsan_acquire)
		__tsan_acquire(mutex);
}

static inline void rcm_mutex_unlock(struct rcm_mutex *mutex)
{
	if (__tsan_release)
		__tsan_release(mutex);
	if (atomic_exchange_explicit(&mutex->state, RCM_MUTEX_FREE, memory_order_release) == RCM_MUTEX_AWAITED)
		rcm_mutex_wake(mutex);
}

#endif

/* 0, or -EBUSY: it is locked. */
int rcm_mutex_try_lock(struct rcm_mutex *mutex);

/* With the mutex locked, as it is afterwards. until: of CLOCK_MONOTONIC; NULL: for ever. 0, or -ETIMEDOUT. */
int rcm_condition_wait(struct rcm_condition *condition, struct rcm_mutex *mutex, const struct timespec *until);

/* With the mutex locked: wakes one of those that wait, or all. */
void rcm_condition_signal(struct rcm_condition *condition);
void rcm_condition_broadcast(struct rcm_condition *condition);
