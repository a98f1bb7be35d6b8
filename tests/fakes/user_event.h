/* SPDX-License-Identifier: BSD-2-Clause */
/* An event of the application's own that isn't queued, to be queued or discarded by a test. */
#pragma once

#include "cm/user.h"

static inline int rcm_user_event(struct rcm_id *id, int status, uint64_t arg, struct rcm_event **ret_event)
{
	int ret;

	rcm_lock_acquire(&id->lock);
	ret = rcm_user_new_locked(id, status, arg, ret_event);
	rcm_lock_release(&id->lock);
	return ret;
}
