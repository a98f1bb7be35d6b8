/* SPDX-License-Identifier: BSD-2-Clause */
/* The door of the public calls on an id: each takes a reference first and gives it back last. */
#pragma once

#include <stdbool.h>

struct rcm_id;
struct rdma_cm_id;

/* A public call on its way. */
struct rcm_door {
	struct rcm_id *id;			/* a reference; NULL: the caller gave none */
	int cancel_state;			/* the caller's; held off while the call runs, as by rcm_enter() */
};

enum { RCM_DOOR_NOT_HELD = -1 };		/* cancel_state of a call that has nothing to hold off */

/* First in a public call on an id (NULL too): from here on it stays whole, whoever destroys it. Nothing else in api/
 * may look at the application's id; scripts/check-door proves it. */
struct rcm_door rcm_door_enter(struct rdma_cm_id *id);

/* Asked first in a call that waits on a synchronous id: of an id that becomes one meanwhile, what the call started may
 * have come already, to the channel that it was on. */
bool rcm_door_waits(const struct rcm_door *door);

/* The same in a call that destroys it, which holds cancellation off itself where it has to: in the child of a fork
 * nothing of it starts again. */
struct rcm_door rcm_door_enter_to_end(struct rdma_cm_id *id);

/* The same in a call that uses no cancellation point. */
struct rcm_door rcm_door_enter_briefly(struct rdma_cm_id *id);

/* Last in a public call on an id: as rcm_leave(), which tells of ret. */
int rcm_door_leave(struct rcm_door *door, int ret);

/* For a thread that is cancelled in a call (pthread_cleanup_push(3)); door: a struct rcm_door. */
void rcm_door_abandon(void *door);
