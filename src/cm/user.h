/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the application's own: RDMA_CM_EVENT_USER. */
#pragma once

#include <stdint.h>

#include "cm/id.h"

/* rdma_write_cm_event(): queues one for id. 0; -ENOMEM; -EINVAL: the id is being destroyed. */
int rcm_user_post(struct rcm_id *id, int status, uint64_t arg);

/* One that isn't queued yet, with a reference on id: 0 or -ENOMEM. */
int rcm_user_new_locked(struct rcm_id *id, int status, uint64_t arg, struct rcm_event **ret_event)
	RCM_REQUIRES(id->lock);
