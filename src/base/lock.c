/* SPDX-License-Identifier: BSD-2-Clause */
/* A mutex whose holder can be asserted. */
#include "base/lock.h"

_Thread_local char rcm_lock_thread;

int rcm_lock_wait_until(struct rcm_lock *lock, struct rcm_condition *condition, const struct timespec *until)
	RCM_UNCHECKED
{
	int ret;

	rcm_lock_assert_held(lock);
	atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
	ret = rcm_condition_wait(condition, &lock->mutex, until);
	atomic_store_explicit(&lock->owner, &rcm_lock_thread, memory_order_relaxed);
	return ret;
}

void rcm_lock_wait(struct rcm_lock *lock, struct rcm_condition *condition)
{
	rcm_lock_wait_until(lock, condition, NULL);
}

void rcm_lock_signal(struct rcm_lock *lock, struct rcm_condition *condition)
{
	rcm_lock_assert_held(lock);
	rcm_condition_signal(condition);
}

void rcm_lock_broadcast(struct rcm_lock *lock, struct rcm_condition *condition)
{
	rcm_lock_assert_held(lock);
	rcm_condition_broadcast(condition);
}

bool rcm_lock_renew(struct rcm_lock *lock) RCM_UNCHECKED
{
	bool was_free = !rcm_mutex_try_lock(&lock->mutex);

	if (was_free)
		rcm_mutex_unlock(&lock->mutex);
	rcm_lock_init(lock);
	return was_free;
}
