/* SPDX-License-Identifier: BSD-2-Clause */
/* Synchronous ids: waiting for the outcome of the call that was just made. */
#include "cm/sync.h"

#include <errno.h>

#include "cm/id.h"
#include "cm/wait.h"

static void sync_ack_event(struct rdma_cm_event *event)
{
	if (event)
		rcm_event_ack(rcm_event_of(event));
}

void rcm_sync_ack(struct rcm_id *id)
{
	struct rdma_cm_event *event;

	rcm_lock_acquire(&id->lock);
	event = id->pub.event;
	id->pub.event = NULL;
	rcm_lock_release(&id->lock);
	sync_ack_event(event);
}

void rcm_sync_keep(struct rcm_id *id, const struct rcm_channel *channel, struct rcm_event *event)
{
	struct rdma_cm_event *unused = &event->pub;

	rcm_lock_acquire(&id->lock);
	if (!id->dead && id->sync && id->channel == channel) {
		unused = id->pub.event;
		id->pub.event = &event->pub;
	}
	rcm_lock_release(&id->lock);
	sync_ack_event(unused);
}

static int sync_outcome(const struct rdma_cm_event *event, uint32_t types)
{
	bool connects = types & RCM_EVENT_BIT(RDMA_CM_EVENT_ESTABLISHED);

	if (event->event == RDMA_CM_EVENT_REJECTED)
		return -ECONNREFUSED;
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return -ENODEV;
	if (connects && RCM_EVENT_BIT(event->event) & RCM_SYNC_DISCONNECT)
		return -ECONNRESET;
	return event->status < 0 ? event->status : -event->status;
}

/* The late end of an earlier call, which didn't wait for it. */
static bool is_stale(const struct rdma_cm_event *event, uint32_t types)
{
	return event->event == RDMA_CM_EVENT_ADDR_RESOLVED && types & RCM_EVENT_BIT(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int sync_get(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	return types & RCM_SYNC_NAMES ? rcm_channel_get_own(channel, types, ret_event) :
					rcm_channel_get_of(channel, types, ret_event);
}

/* Its channel, with a reference; NULL: it isn't synchronous. *ret_event, unless that is NULL: what pub.event had. */
static struct rcm_channel *sync_channel(struct rcm_id *id, struct rdma_cm_event **ret_event)
{
	struct rcm_channel *channel = NULL;

	if (!id->sync)
		return NULL;
	rcm_lock_acquire(&id->lock);
	if (id->sync)
		channel = rcm_channel_ref(id->channel);
	if (channel && ret_event) {
		*ret_event = id->pub.event;
		id->pub.event = NULL;
	}
	rcm_lock_release(&id->lock);
	return channel;
}

int rcm_sync_show_own(struct rcm_id *id)
{
	struct rcm_channel *channel = sync_channel(id, NULL);
	int ret = channel ? rcm_channel_cover(channel) : 0;

	rcm_channel_put(channel);
	return ret;
}

int rcm_sync_complete(struct rcm_id *id, uint32_t types)
{
	struct rdma_cm_event *before = NULL;
	struct rcm_channel *channel = sync_channel(id, &before);
	struct rcm_event *event;
	int ret;

	if (!channel)
		return 0;
	sync_ack_event(before);
	while (!(ret = sync_get(channel, types, &event))) {
		if (!is_stale(&event->pub, types))
			break;
		rcm_event_ack(event);
	}
	if (!ret) {
		ret = sync_outcome(&event->pub, types);
		rcm_sync_keep(id, channel, event);
	}
	rcm_channel_put(channel);
	return ret;
}
