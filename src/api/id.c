/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: CM IDs. */
#include "cm/id.h"

#include <errno.h>

#include "api/api.h"
#include "api/door.h"
#include "cm/adopt.h"
#include "cm/life.h"
#include "cm/local.h"
#include "cm/migrate.h"
#include "cm/option.h"

static enum ibv_qp_type qp_type_of(enum rdma_port_space ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

/* A synchronous id has a channel of its own, about which nothing is known yet. */
static int id_usable(struct rcm_id *id)
{
	struct rcm_channel *channel = rcm_id_channel(id);
	int ret = rcm_local_usable(channel);

	rcm_channel_put(channel);
	return ret;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	int state = rcm_enter(), ret = -EINVAL;
	struct rcm_id *made;

	if (!id)
		goto out;
	ret = channel ? rcm_adopt_channel(rcm_channel_of(channel)) : 0;
	if (!ret)
		ret = rcm_id_new(channel ? rcm_channel_of(channel) : NULL, context, ps, qp_type_of(ps), &made);
	if (ret)
		goto out;
	ret = channel ? 0 : id_usable(made);
	if (ret)
		rcm_id_destroy(made);
	else
		*id = &made->pub;
out:
	return rcm_leave(state, ret);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter_to_end(id);

	return rcm_door_leave(&door, door.id ? rcm_id_destroy(door.id) : -EINVAL);
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_adopt_id(door.id);
	if (!ret && channel)
		ret = rcm_adopt_channel(rcm_channel_of(channel));
	if (!ret)
		ret = rcm_id_migrate(door.id, channel ? rcm_channel_of(channel) : NULL);
	return rcm_door_leave(&door, ret);
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && addr ? rcm_id_bind(door.id, addr) : -EINVAL);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_option_set(door.id, level, optname, optval, optlen);
	return rcm_door_leave(&door, ret);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);
	__be16 port = door.id ? rcm_sockaddr_port(rdma_get_local_addr(&door.id->pub)) : 0;

	rcm_door_leave(&door, 0);
	return port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);
	__be16 port = door.id ? rcm_sockaddr_port(rdma_get_peer_addr(&door.id->pub)) : 0;

	rcm_door_leave(&door, 0);
	return port;
}
