/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex whose holder can be asserted. */
#include "base/lock.h"

_Thread_local char rcm_lock_thread;

void rcm_lock_wait(struct rcm_lock *lock, pthread_cond_t *cond) RCM_UNCHECKED
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
	pthread_cond_wait(cond, &lock->mutex);
	pthread_setcancelstate(cancel, NULL);
	atomic_store_explicit(&lock->owner, &rcm_lock_thread, memory_order_relaxed);
}

int rcm_lock_wait_until(struct rcm_lock *lock, pthread_cond_t *cond, const struct timespec *until) RCM_UNCHECKED
{
	int ret;

	atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
	ret = pthread_cond_timedwait(cond, &lock->mutex, until);
	atomic_store_explicit(&lock->owner, &rcm_lock_thread, memory_order_relaxed);
	return -ret;
}

bool rcm_lock_renew(struct rcm_lock *lock) RCM_UNCHECKED
{
	bool was_free = !pthread_mutex_trylock(&lock->mutex);

	if (was_free)
		pthread_mutex_unlock(&lock->mutex);
	rcm_lock_init(lock);
	return was_free;
}
