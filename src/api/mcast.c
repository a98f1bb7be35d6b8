/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: multicast. */
#include "cm/mcast.h"

#include <errno.h>

#include "api/api.h"
#include "cm/id.h"
#include "cm/sync.h"

static int join(struct rdma_cm_id *id, const struct sockaddr *addr, uint16_t flags, void *context)
{
	struct rcm_id *own = rcm_id_ref(rcm_id_of(id));
	int ret = rcm_mcast_join(own, addr, flags, context);

	if (!ret)
		ret = rcm_sync_complete(own, RCM_SYNC_MCAST);
	rcm_id_put(own);
	return ret;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id && addr)
		ret = join(id, addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context);
	return rcm_leave(state, ret);
}

static int join_ex(struct rdma_cm_id *id, const struct rdma_cm_join_mc_attr_ex *attr, void *context)
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
	return join(id, attr->addr, (uint16_t)flags, context);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	int state = rcm_enter();

	return rcm_leave(state, id && mc_join_attr ? join_ex(id, mc_join_attr, context) : -EINVAL);
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	int state = rcm_enter();

	return rcm_leave(state, id && addr ? rcm_mcast_leave(rcm_id_of(id), addr) : -EINVAL);
}
