/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: multicast. */
#include "cm/mcast.h"

#include <errno.h>

#include "api/door.h"

static int mcast_join(const struct rcm_door *door, const struct sockaddr *addr, uint16_t flags, void *context)
{
	return rcm_door_waits(door) ? rcm_mcast_join_sync(door->id, addr, flags, context) :
				      rcm_mcast_join(door->id, addr, flags, context);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id && addr)
		ret = mcast_join(&door, addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context);
	return rcm_door_leave(&door, ret);
}

static int mcast_join_ex(const struct rcm_door *door, const struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	uint32_t flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;

	if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return -ENOTSUP;
	if (!(attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) || !attr->addr)
		return -EINVAL;
	if (attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS)
		flags = attr->join_flags;
	if (flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	return mcast_join(door, attr->addr, (uint16_t)flags, context);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && mc_join_attr ? mcast_join_ex(&door, mc_join_attr, context) :
				     -EINVAL);
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && addr ? rcm_mcast_leave(door.id, addr) : -EINVAL);
}
