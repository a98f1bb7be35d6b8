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

/* It has a channel of its own, about which nothing is known yet. */
static int create_sync(void *context, enum rdma_port_space ps, struct rcm_id **ret_id)
{
	struct rcm_id *id;
	int ret;

	ret = rcm_id_new(NULL, context, ps, qp_type_of(ps), &id);
	if (ret)
		return ret;
	ret = rcm_local_usable(rcm_channel_of(id->pub.channel));
	if (ret)
		rcm_id_destroy(id);
	else
		*ret_id = id;
	return ret;
}

/* Uses no cancellation point. */
static int create_on(struct rcm_channel *channel, void *context, enum rdma_port_space ps, struct rcm_id **ret_id)
{
	int ret;

	rcm_adopt_enter();
	ret = rcm_adopt_channel(channel);
	return ret ? ret : rcm_id_new(channel, context, ps, qp_type_of(ps), ret_id);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	struct rcm_id *made;
	int state, ret;

	if (!id)
		return rcm_result(-EINVAL);
	if (channel) {
		ret = rcm_result(create_on(rcm_channel_of(channel), context, ps, &made));
	} else {
		state = rcm_enter();
		ret = rcm_leave(state, create_sync(context, ps, &made));
	}
	if (!ret)
		*id = &made->pub;
	return ret;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter_to_end(id);

	return rcm_door_leave(&door, door.id ? rcm_id_destroy_held(door.id) : -EINVAL);
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
