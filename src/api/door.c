/* SPDX-License-Identifier: BSD-2-Clause */
/* The door of the public calls on an id: each takes a reference first and gives it back last. */
#include "api/door.h"

#include "api/api.h"
#include "cm/adopt.h"
#include "cm/id.h"

struct rcm_door rcm_door_enter(struct rdma_cm_id *id)
{
	struct rcm_id *own = id ? rcm_id_ref(rcm_id_of(id)) : NULL;
	struct rcm_door door = { .id = own, .cancel_state = rcm_enter() };

	/* Where it can't be yet, the call does what it can. */
	if (own)
		rcm_adopt_id(own);
	return door;
}

/* Without a hold on cancellation. */
static struct rcm_door door_enter(struct rdma_cm_id *id)
{
	struct rcm_door door = { .id = id ? rcm_id_ref(rcm_id_of(id)) : NULL, .cancel_state = RCM_DOOR_NOT_HELD };

	rcm_adopt_enter();
	return door;
}

struct rcm_door rcm_door_enter_to_end(struct rdma_cm_id *id)
{
	struct rcm_door door = door_enter(id);

	if (door.id)
		rcm_adopt_id_to_end(door.id);
	return door;
}

struct rcm_door rcm_door_enter_briefly(struct rdma_cm_id *id)
{
	struct rcm_door door = door_enter(id);

	if (door.id)
		rcm_adopt_id(door.id);
	return door;
}

bool rcm_door_waits(const struct rcm_door *door)
{
	return door->id && rcm_id_is_sync(door->id);
}

int rcm_door_leave(struct rcm_door *door, int ret)
{
	rcm_id_put(door->id);
	return door->cancel_state == RCM_DOOR_NOT_HELD ? rcm_result(ret) : rcm_leave(door->cancel_state, ret);
}

void rcm_door_abandon(void *door)
{
	rcm_id_put(((struct rcm_door *)door)->id);
}
