/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening, and the requests that come in. */
#include "cm/listen.h"

#include <errno.h>

#include "base/log.h"
#include "cm/attach.h"
#include "cm/conn.h"
#include "cm/ece.h"
#include "cm/endpoint.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/life.h"
#include "cm/sync.h"
#include "cm/wait.h"

int rcm_listen(struct rcm_id *id, int backlog)
{
	/* Requests are read on the way of others; and from now on a synchronous listener's descriptor is watched. */
	int ret = rcm_sync_show_own(id);

	if (!ret)
		ret = rcm_kernel_give(id, rcm_ucma_listen, backlog);
	if (ret)
		return ret;
	rcm_lock_acquire(&id->lock);
	id->chain.settled = true;
	rcm_lock_release(&id->lock);
	/* An id that was not bound has a port now. */
	return rcm_attach(id);
}

static uint8_t depth_lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* What an accept without numbers of its own will say. */
static void listen_keep_depths(struct rcm_id *id, const struct rdma_conn_param *asked)
{
	struct rcm_depths most = rcm_attach_depths(id);

	rcm_lock_acquire(&id->lock);
	id->conn.responder_resources = depth_lesser(asked->responder_resources, most.responder_resources);
	id->conn.initiator_depth = depth_lesser(asked->initiator_depth, most.initiator_depth);
	rcm_lock_release(&id->lock);
}

/* Where the new id belongs, with a reference: where its listener is, which may have moved since; NULL, on a channel of
 * its own, where that one is synchronous. */
static struct rcm_channel *listen_place(struct rcm_id *listener)
{
	struct rcm_channel *channel;

	rcm_lock_acquire(&listener->lock);
	channel = listener->sync ? NULL : rcm_channel_ref(listener->channel);
	rcm_lock_release(&listener->lock);
	return channel;
}

static int listen_new_id(struct rcm_id *listener, const struct rcm_kernel_event *kernel, struct rcm_id **ret_id)
{
	struct rcm_channel *channel = listen_place(listener);
	int ret;

	ret = rcm_id_new_of_handle(channel, kernel->raw.handle, kernel->channel, listener->pub.ps,
				   listener->pub.qp_type, ret_id);
	rcm_channel_put(channel);
	return ret;
}

static int listen_complete(struct rcm_event *event, struct rcm_id *id)
{
	int ret;

	id->pub.context = event->id->pub.context;
	ret = rcm_attach(id);
	if (!ret)
		ret = rcm_attach_paths(id);
	/* Nobody wants the request of a listener that is being destroyed. */
	if (!ret && rcm_id_is_dead(event->id))
		ret = -ECANCELED;
	if (ret)
		return ret;
	rcm_kernel_event_param(event, id);
	if (!rcm_id_is_ud(id))
		listen_keep_depths(id, &event->pub.param.conn);
	rcm_ece_keep_remote(id, rcm_kernel_event_of(event)->raw.ece);
	return 0;
}

static int listen_deliver(struct rcm_event *event)
{
	struct rcm_id *listener = event->id, *id;
	int ret;

	ret = listen_new_id(listener, rcm_kernel_event_of(event), &id);
	if (ret)
		return ret;
	/* From here on the kernel's id is the new id's: listen_drop() leaves it alone. */
	event->pub.id = &id->pub;
	event->pub.listen_id = &listener->pub;
	ret = listen_complete(event, id);
	if (ret) {
		rcm_info("request to id %p dropped, errno %d", (void *)listener, -ret);
		rcm_id_destroy(id);
	}
	return ret;
}

/* Nobody will answer: the kernel's new id goes, and with it the peer is told. */
static void listen_drop(struct rcm_event *event)
{
	struct rcm_kernel_event *kernel = rcm_kernel_event_of(event);

	if (!event->pub.listen_id)
		rcm_kernel_destroy(kernel->channel, kernel->raw.handle);
}

const struct rcm_event_ops rcm_listen_request_ops = {
	.deliver = listen_deliver,
	.drop = listen_drop,
	.free = rcm_kernel_event_free,
};

static void listen_put_channel(void *channel)
{
	rcm_channel_put(channel);
}

/* *ret_channel: the listener's, with a reference. */
static int listen_wait(struct rcm_id *listener, int cancel_state, struct rcm_channel **ret_channel,
		       struct rcm_event **ret_event)
{
	struct rcm_channel *channel;
	volatile int ret = -EINVAL;		/* across what a cancellation cleans up */
	bool sync;

	rcm_lock_acquire(&listener->lock);
	sync = listener->sync;
	channel = rcm_channel_ref(listener->channel);
	rcm_lock_release(&listener->lock);
	pthread_cleanup_push(listen_put_channel, channel);
	if (sync)
		ret = rcm_channel_get_held(channel, cancel_state, ret_event);
	pthread_cleanup_pop(0);
	*ret_channel = channel;
	return ret;
}

/* The request is the new id's event from here on. */
static int listen_hand_over(struct rcm_id *listener, struct rcm_event *event, struct rcm_id **ret_id)
{
	struct rcm_id *id = rcm_id_of(event->pub.id);
	int ret = rcm_ep_create_qp(listener, id);

	if (ret) {
		rcm_conn_reject(id, 0, NULL, 0);
		rcm_event_ack(event);
		rcm_id_destroy(id);
		return ret;
	}
	rcm_lock_acquire(&id->lock);
	id->pub.event = &event->pub;
	rcm_lock_release(&id->lock);
	*ret_id = id;
	return 0;
}

int rcm_listen_get_request(struct rcm_id *listener, int cancel_state, struct rcm_id **ret_id)
{
	struct rcm_channel *channel;
	struct rcm_event *event;
	int ret;

	rcm_sync_ack(listener);
	ret = listen_wait(listener, cancel_state, &channel, &event);
	if (ret)
		goto out;
	if (event->pub.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		ret = listen_hand_over(listener, event, ret_id);
	} else {
		ret = event->pub.status < 0 ? event->pub.status : -EINVAL;
		rcm_sync_keep(listener, channel, event);
	}
out:
	rcm_channel_put(channel);
	return ret;
}
