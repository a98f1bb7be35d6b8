/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex whose holder can be asserted. */
#include "base/lock.h"

#include <assert.h>

void rcm_lock_init(struct rcm_lock *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
	atomic_init(&lock->owner, (pthread_t)0);
}

void rcm_lock_done(struct rcm_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

void rcm_lock_acquire(struct rcm_lock *lock) RCM_UNCHECKED
{
	pthread_mutex_lock(&lock->mutex);
	atomic_store_explicit(&lock->owner, pthread_self(), memory_order_relaxed);
}

void rcm_lock_release(struct rcm_lock *lock) RCM_UNCHECKED
{
	atomic_store_explicit(&lock->owner, (pthread_t)0, memory_order_relaxed);
	pthread_mutex_unlock(&lock->mutex);
}

void rcm_lock_assert_held(struct rcm_lock *lock)
{
	(void)lock;
	assert(atomic_load_explicit(&lock->owner, memory_order_relaxed) == pthread_self());
}

void rcm_lock_wait(struct rcm_lock *lock, pthread_cond_t *cond) RCM_UNCHECKED
{
	atomic_store_explicit(&lock->owner, (pthread_t)0, memory_order_relaxed);
	pthread_cond_wait(cond, &lock->mutex);
	atomic_store_explicit(&lock->owner, pthread_self(), memory_order_relaxed);
}

int rcm_lock_wait_until(struct rcm_lock *lock, pthread_cond_t *cond, const struct timespec *until) RCM_UNCHECKED
{
	int ret;

	atomic_store_explicit(&lock->owner, (pthread_t)0, memory_order_relaxed);
	ret = pthread_cond_timedwait(cond, &lock->mutex, until);
	atomic_store_explicit(&lock->owner, pthread_self(), memory_order_relaxed);
	return -ret;
}
