/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex whose holder can be asserted, with Clang's thread-safety annotations. Order: docs/locking.md. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/mutex.h"

/* Earlier ones don't know the members of a C struct in an annotation. */
#if defined(__clang__) && __clang_major__ >= 19
#define RCM_ANNOTATE(x) __attribute__((x))
#else
#define RCM_ANNOTATE(x)
#endif
#define RCM_CAPABILITY RCM_ANNOTATE(capability("mutex"))
#define RCM_GUARDED_BY(l) RCM_ANNOTATE(guarded_by(&l))
#define RCM_REQUIRES(l) RCM_ANNOTATE(requires_capability(l))
#define RCM_ACQUIRES(l) RCM_ANNOTATE(acquire_capability(l))
#define RCM_RELEASES(l) RCM_ANNOTATE(release_capability(l))
#define RCM_ASSERTS(l) RCM_ANNOTATE(assert_capability(l))
#define RCM_UNCHECKED RCM_ANNOTATE(no_thread_safety_analysis)

/* The owner is kept in every build: it costs one store, and an assertion about it costs nothing with NDEBUG. */
struct RCM_CAPABILITY rcm_lock {
	struct rcm_mutex mutex;
	_Atomic(const char *) owner;
};

/* Each thread has one at another address, which tells them apart for less than a call of pthread_self(3). */
extern _Thread_local char rcm_lock_thread __attribute__((tls_model("initial-exec")));

#define RCM_LOCK_INIT { .mutex = RCM_MUTEX_INIT }

/* Those that every call passes several times are inline. */
static inline void rcm_lock_init(struct rcm_lock *lock)
{
	*lock = (struct rcm_lock)RCM_LOCK_INIT;
}

static inline void rcm_lock_acquire(struct rcm_lock *lock) RCM_ACQUIRES(lock) RCM_UNCHECKED
{
	rcm_mutex_lock(&lock->mutex);
	atomic_store_explicit(&lock->owner, &rcm_lock_thread, memory_order_relaxed);
}

static inline void rcm_lock_release(struct rcm_lock *lock) RCM_RELEASES(lock) RCM_UNCHECKED
{
	atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
	rcm_mutex_unlock(&lock->mutex);
}

/* Fails (assert) unless the calling thread holds the lock: first line of every *_locked function. */
static inline void rcm_lock_assert_held(struct rcm_lock *lock) RCM_ASSERTS(lock)
{
	(void)lock;
	assert(atomic_load_explicit(&lock->owner, memory_order_relaxed) == &rcm_lock_thread);
}

/* In the child of a fork, before anything uses it there: makes it anew. False: a thread that isn't here held it. */
bool rcm_lock_renew(struct rcm_lock *lock);

/* Waits for a signal under the lock, which others have meanwhile; it may end without one. No cancellation point. */
void rcm_lock_wait(struct rcm_lock *lock, struct rcm_condition *condition) RCM_REQUIRES(lock);

/* The same until a time of CLOCK_MONOTONIC: 0, or -ETIMEDOUT. */
int rcm_lock_wait_until(struct rcm_lock *lock, struct rcm_condition *condition, const struct timespec *until)
	RCM_REQUIRES(lock);

/* Wakes one of those that wait under the lock, or all. */
void rcm_lock_signal(struct rcm_lock *lock, struct rcm_condition *condition) RCM_REQUIRES(lock);
void rcm_lock_broadcast(struct rcm_lock *lock, struct rcm_condition *condition) RCM_REQUIRES(lock);
