/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection of an id: request, answer, end, and the kernel's events about them. */
#include "cm/conn.h"

#include <errno.h>

#include "cm/attach.h"
#include "cm/ece.h"
#include "cm/ep.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "verbs/device.h"

/* The three bits of a REQ's retry counts (IBTA 12.6.5): 7 is the most, and for RNR "for ever". */
enum { RETRIES_MOST = 7 };

/* Reads and atomics in flight: 255 asks for what the device can do; more than that is refused, of RDMA_PS_TCP. */
static int conn_complete_depths(struct rcm_id *id, struct rdma_conn_param *param)
{
	struct rcm_depths most = rcm_attach_depths(id);

	if (rcm_id_is_ud(id))
		return 0;
	if (param->responder_resources == RDMA_MAX_RESP_RES)
		param->responder_resources = most.responder_resources;
	if (param->initiator_depth == RDMA_MAX_INIT_DEPTH)
		param->initiator_depth = most.initiator_depth;
	if (id->pub.ps != RDMA_PS_TCP)
		return 0;
	return param->responder_resources > most.responder_resources ||
	       param->initiator_depth > most.initiator_depth ? -EINVAL : 0;
}

/* Parameters to be sent: the caller's, or the most there is. Who has no QP names one: of RDMA_PS_TCP it has to. */
static int conn_init_param(struct rcm_id *id, const struct rdma_conn_param *param, struct rdma_conn_param *ret_sent)
{
	*ret_sent = (struct rdma_conn_param){
		.responder_resources = RDMA_MAX_RESP_RES, .initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = RETRIES_MOST, .rnr_retry_count = RETRIES_MOST,
	};
	if (!param)
		return rcm_queues_have_qp(id) || id->pub.ps != RDMA_PS_TCP ? 0 : -EINVAL;
	*ret_sent = *param;
	return 0;
}

/* The id's QP, where it has one, is what is connected; else the one that the caller names. */
static void conn_name_qp(struct rcm_id *id, struct rdma_conn_param *param)
{
	rcm_lock_acquire(&id->queues);
	if (id->pub.qp) {
		param->qp_num = id->pub.qp->qp_num;
		param->srq = id->pub.qp->srq != NULL;
	}
	rcm_lock_release(&id->queues);
}

int rcm_conn_connect(struct rcm_id *id, const struct rdma_conn_param *param)
{
	struct rdma_conn_param sent;
	uint8_t data[UINT8_MAX];
	struct rcm_ucma_ece ece;
	int ret;

	ret = conn_init_param(id, param, &sent);
	if (!ret)
		ret = conn_complete_depths(id, &sent);
	if (!ret)
		ret = rcm_ep_prepend_data(id, &sent, data);
	if (!ret)
		ret = rcm_ece_to_offer(id, &ece);
	if (ret)
		return ret;
	conn_name_qp(id, &sent);
	return rcm_kernel_give(id, rcm_ucma_connect, &sent, ece);
}

/* What the caller leaves open is as the request asks for it. */
static int conn_complete_accept(struct rcm_id *id, struct rdma_conn_param *param)
{
	rcm_lock_acquire(&id->lock);
	if (param->responder_resources == RDMA_MAX_RESP_RES)
		param->responder_resources = id->conn.responder_resources;
	if (param->initiator_depth == RDMA_MAX_INIT_DEPTH)
		param->initiator_depth = id->conn.initiator_depth;
	rcm_lock_release(&id->lock);
	return conn_complete_depths(id, param);
}

static int conn_send_accept(struct rcm_id *id, const struct rdma_conn_param *param, struct rcm_ucma_ece ece)
{
	return rcm_kernel_give(id, rcm_ucma_accept, id->entry.uid, param, ece);
}

/* What fails before the QP is connected leaves it to whatever it is connected to. */
static int conn_accept_with_qp(struct rcm_id *id, const struct rdma_conn_param *sent)
{
	int ret = rcm_ece_use_request(id);

	return ret ? ret : rcm_queues_connect(id, sent->responder_resources, sent->initiator_depth);
}

int rcm_conn_accept(struct rcm_id *id, const struct rdma_conn_param *param)
{
	bool moved = rcm_queues_have_qp(id) && !rcm_id_is_ud(id);
	struct rcm_ucma_ece ece = { 0 };
	struct rdma_conn_param sent;
	int ret;

	ret = conn_init_param(id, param, &sent);
	if (!ret)
		ret = conn_complete_accept(id, &sent);
	if (ret)
		return ret;
	if (moved)
		ret = conn_accept_with_qp(id, &sent);
	if (ret)
		return ret;
	if (!rcm_id_is_ud(id))
		ret = rcm_ece_to_answer(id, &ece);
	if (!ret) {
		conn_name_qp(id, &sent);
		ret = conn_send_accept(id, &sent, ece);
	}
	if (ret && moved)
		rcm_queues_set_error(id);
	return ret;
}

int rcm_conn_establish(struct rcm_id *id)
{
	if (rcm_queues_have_qp(id))
		return -EINVAL;
	return conn_send_accept(id, NULL, (struct rcm_ucma_ece){ 0 });
}

int rcm_conn_reject(struct rcm_id *id, uint8_t reason, const void *data, uint8_t len)
{
	return rcm_kernel_give(id, rcm_ucma_reject, reason, data, len);
}

int rcm_conn_disconnect(struct rcm_id *id)
{
	int ret = rcm_queues_close(id);

	return ret ? ret : rcm_kernel_give(id, rcm_ucma_disconnect);
}

int rcm_conn_notify(struct rcm_id *id, enum ibv_event_type event)
{
	return rcm_kernel_give(id, rcm_ucma_notify, event);
}

static bool conn_has_failed(struct rcm_id *id)
{
	bool failed;

	rcm_lock_acquire(&id->lock);
	failed = id->conn.failed;
	rcm_lock_release(&id->lock);
	return failed;
}

/* The peer accepted, and our half can't follow: it is told so, and the application. */
static void conn_fail(struct rcm_event *event, int status)
{
	struct rcm_id *id = event->id;

	rcm_lock_acquire(&id->lock);
	id->conn.failed = true;
	rcm_lock_release(&id->lock);
	rcm_queues_set_error(id);
	rcm_conn_reject(id, 0, NULL, 0);
	rcm_event_retype(event, RDMA_CM_EVENT_CONNECT_ERROR, status);
}

/* With a QP the handshake is ended here, and the application sees an established connection. */
static int conn_deliver_response(struct rcm_event *event)
{
	struct rcm_id *id = event->id;
	int ret;

	rcm_kernel_event_param(event, id);
	rcm_ece_keep_remote(id, rcm_kernel_event_of(event)->raw.ece);
	if (!rcm_queues_have_qp(id))
		return 0;
	ret = rcm_ece_use_response(id);
	if (!ret)
		ret = rcm_queues_connect(id, RCM_QUEUES_AS_NEGOTIATED, RCM_QUEUES_AS_NEGOTIATED);
	if (!ret)
		ret = conn_send_accept(id, NULL, (struct rcm_ucma_ece){ 0 });
	if (ret && rcm_id_is_dead(id))
		return ret;
	if (ret)
		conn_fail(event, ret);
	else
		rcm_event_retype(event, RDMA_CM_EVENT_ESTABLISHED, 0);
	return 0;
}

static int conn_deliver_plain(struct rcm_event *event)
{
	rcm_kernel_event_param(event, event->id);
	return 0;
}

int rcm_conn_complete_disconnect(struct rcm_id *id)
{
	bool over;

	rcm_lock_acquire(&id->lock);
	over = id->sync && id->conn.over;
	rcm_lock_release(&id->lock);
	if (!over)
		return rcm_sync_complete(id, RCM_SYNC_DISCONNECT);
	rcm_sync_ack(id);
	return 0;
}

static int conn_deliver_disconnected(struct rcm_event *event)
{
	struct rcm_id *id = event->id;

	if (conn_has_failed(id))
		return -ECANCELED;
	rcm_lock_acquire(&id->lock);
	id->conn.over = true;
	rcm_lock_release(&id->lock);
	return conn_deliver_plain(event);
}

static int conn_deliver_rejected(struct rcm_event *event)
{
	if (conn_has_failed(event->id))
		return -ECANCELED;
	rcm_queues_set_error(event->id);
	return conn_deliver_plain(event);
}

static int conn_deliver_removal(struct rcm_event *event)
{
	struct rcm_device *device = rcm_attach_device(event->id);

	if (device)
		rcm_device_set_removed(device);
	return conn_deliver_plain(event);
}

#define KERNEL_EVENT_OPS(how) { .deliver = how, .free = rcm_kernel_event_free }

const struct rcm_event_ops rcm_conn_response_ops = KERNEL_EVENT_OPS(conn_deliver_response);
const struct rcm_event_ops rcm_conn_established_ops = KERNEL_EVENT_OPS(conn_deliver_plain);
const struct rcm_event_ops rcm_conn_rejected_ops = KERNEL_EVENT_OPS(conn_deliver_rejected);
const struct rcm_event_ops rcm_conn_disconnected_ops = KERNEL_EVENT_OPS(conn_deliver_disconnected);
const struct rcm_event_ops rcm_conn_removal_ops = KERNEL_EVENT_OPS(conn_deliver_removal);
const struct rcm_event_ops rcm_conn_plain_ops = KERNEL_EVENT_OPS(conn_deliver_plain);
