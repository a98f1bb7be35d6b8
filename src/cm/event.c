/* SPDX-License-Identifier: BSD-2-Clause */
/* An event from where it arises to the ack. */
#include "cm/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "cm/id.h"

int rcm_event_deliver(struct rcm_event *event)
{
	return event->ops->deliver ? event->ops->deliver(event) : 0;
}

static void event_drop(struct rcm_event *event)
{
	if (event->ops->drop)
		event->ops->drop(event);
}

static void event_free(struct rcm_event *event)
{
	if (event->ops->free)
		event->ops->free(event);
	else
		free(event);
}

/* Its ack counts down what its taking counted up. */
void rcm_event_retype(struct rcm_event *event, enum rdma_cm_event_type type, int status)
{
	atomic_fetch_add_explicit(&event->id->unacked_of[RCM_EVENT_PLACE(type)], 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&event->id->unacked_of[RCM_EVENT_PLACE(event->pub.event)], 1, memory_order_relaxed);
	event->pub.event = type;
	event->pub.status = status;
}

void rcm_kernel_event_param(struct rcm_event *event, const struct rcm_id *id)
{
	const struct rcm_ucma_event *raw = &rcm_kernel_event_of(event)->raw;

	if (rcm_id_is_ud(id))
		rcm_ucma_event_ud(raw, &event->pub.param.ud);
	else
		rcm_ucma_event_conn(raw, &event->pub.param.conn);
}

void rcm_kernel_event_free(struct rcm_event *event)
{
	struct rcm_kernel_event *kernel = rcm_kernel_event_of(event);

	rcm_channel_put(kernel->channel);
	free(kernel);
}

void rcm_event_ack(struct rcm_event *event)
{
	enum rdma_cm_event_type type = event->pub.event;
	bool counted = event->process == rcm_fork_generation;
	uint8_t stay = event->stay;
	struct rcm_id *id = event->id;

	event_free(event);
	if (counted)
		rcm_id_acked(id, type, stay);
	rcm_id_put(id);
}

void rcm_event_discard(struct rcm_event *event)
{
	struct rcm_id *id = event->id;

	event_drop(event);
	event_free(event);
	rcm_id_put(id);
}

void rcm_event_untake(struct rcm_event *event)
{
	event_drop(event);
	rcm_event_ack(event);
}

void rcm_event_discard_all(struct rcm_event_list *list)
{
	struct rcm_event *event;

	while ((event = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, event, in_channel);
		rcm_event_discard(event);
	}
}

const char *rcm_event_name(enum rdma_cm_event_type type)
{
	static const char *const names[RCM_EVENT_PLACES] = {
#define NAME(event) [event] = #event
		NAME(RDMA_CM_EVENT_ADDR_RESOLVED),
		NAME(RDMA_CM_EVENT_ADDR_ERROR),
		NAME(RDMA_CM_EVENT_ROUTE_RESOLVED),
		NAME(RDMA_CM_EVENT_ROUTE_ERROR),
		NAME(RDMA_CM_EVENT_CONNECT_REQUEST),
		NAME(RDMA_CM_EVENT_CONNECT_RESPONSE),
		NAME(RDMA_CM_EVENT_CONNECT_ERROR),
		NAME(RDMA_CM_EVENT_UNREACHABLE),
		NAME(RDMA_CM_EVENT_REJECTED),
		NAME(RDMA_CM_EVENT_ESTABLISHED),
		NAME(RDMA_CM_EVENT_DISCONNECTED),
		NAME(RDMA_CM_EVENT_DEVICE_REMOVAL),
		NAME(RDMA_CM_EVENT_MULTICAST_JOIN),
		NAME(RDMA_CM_EVENT_MULTICAST_ERROR),
		NAME(RDMA_CM_EVENT_ADDR_CHANGE),
		NAME(RDMA_CM_EVENT_TIMEWAIT_EXIT),
		NAME(RDMA_CM_EVENT_ADDRINFO_RESOLVED),
		NAME(RDMA_CM_EVENT_ADDRINFO_ERROR),
		NAME(RDMA_CM_EVENT_USER),
		NAME(RDMA_CM_EVENT_INTERNAL),
#undef NAME
		[RCM_EVENT_TYPES] = "RAI_EVENT_SERVICE",
	};

	if ((unsigned)type >= RCM_EVENT_TYPES && type != rcm_event_at_place(RCM_EVENT_TYPES))
		return "UNKNOWN EVENT";
	return names[RCM_EVENT_PLACE(type)];
}

int rcm_event_text(const struct rcm_event *event, char *buf, size_t len)
{
	const char *words = event->ops->text ? event->ops->text(event) : NULL;
	int status = event->pub.status;

	if (words)
		return snprintf(buf, len, "%s", words);
	if (event->pub.event == RDMA_CM_EVENT_REJECTED && status > 0)
		return snprintf(buf, len, "rejected by the peer, reason %d", status);
	/* Of what is no errno it has none. */
	words = strerrordesc_np((int)-(unsigned)status);
	if (words)
		return snprintf(buf, len, "%s", words);
	return snprintf(buf, len, "status %d", status);
}
