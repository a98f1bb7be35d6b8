/* SPDX-License-Identifier: BSD-2-Clause */
/* The queues of an id, and the states of its QP while it is connected. */
#include "cm/queues.h"

#include <errno.h>

#include "cm/id.h"
#include "cm/kernel.h"
#include "verbs/device.h"
#include "verbs/qp.h"

int rcm_queues_init_attr(struct rcm_id *id, struct ibv_qp_attr *attr, int *ret_mask)
{
	return rcm_kernel_give(id, rcm_ucma_init_qp_attr, attr->qp_state, attr, ret_mask);
}

static int move_to(struct rcm_id *id, struct ibv_qp *qp, enum ibv_qp_state state, int reads)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = rcm_queues_init_attr(id, &attr, &mask);
	if (ret)
		return ret;
	if (reads >= 0 && state == IBV_QPS_RTR)
		attr.max_dest_rd_atomic = (uint8_t)reads;
	if (reads >= 0 && state == IBV_QPS_RTS)
		attr.max_rd_atomic = (uint8_t)reads;
	return rcm_qp_modify(qp, &attr, mask);
}

int rcm_queues_connect(struct rcm_id *id, int responder_resources, int initiator_depth)
{
	struct ibv_qp *qp = id->pub.qp;
	int ret;

	/* Once more to INIT: the port and P_Key may be known better than when the QP was made. */
	ret = move_to(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
	if (!ret)
		ret = move_to(id, qp, IBV_QPS_RTR, responder_resources);
	return ret ? ret : move_to(id, qp, IBV_QPS_RTS, initiator_depth);
}

int rcm_queues_set_error(struct rcm_id *id)
{
	return id->pub.qp ? rcm_qp_set_error(id->pub.qp) : 0;
}

int rcm_queues_close(struct rcm_id *id)
{
	return id->pub.qp ? rcm_qp_close(id->pub.qp) : 0;
}

/* A datagram QP needs no peer to send: it goes all the way at once. */
static int init_ud(struct rcm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int ret;

	ret = move_to(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
	if (!ret)
		ret = rcm_qp_modify(qp, &attr, IBV_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0;
	return rcm_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int init_qp(struct rcm_id *id, struct ibv_qp *qp)
{
	if (rcm_id_is_ud(id))
		return init_ud(id, qp);
	return move_to(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
}

static int make_cq(struct rcm_id *id, uint32_t entries, struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	return *cq ? 0 : rcm_cq_new(id->pub.verbs, entries ? entries : 1, &id->pub, channel, cq);
}

static void free_cqs(struct rcm_id *id)
{
	struct rdma_cm_id *pub = &id->pub;

	rcm_cq_free(pub->send_cq_channel, pub->send_cq);
	pub->send_cq_channel = NULL;
	pub->send_cq = NULL;
	if (id->cq_of_srq)
		return;
	rcm_cq_free(pub->recv_cq_channel, pub->recv_cq);
	pub->recv_cq_channel = NULL;
	pub->recv_cq = NULL;
}

static bool sends(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_RECV;
}

static bool receives(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_SEND && type != IBV_QPT_XRC_RECV;
}

/* CQs of the id's own, where the caller names none. */
static int complete_cqs(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct rdma_cm_id *pub = &id->pub;
	int ret = 0;

	if ((pub->send_cq && attr->send_cq && pub->send_cq != attr->send_cq) ||
	    (pub->recv_cq && attr->recv_cq && pub->recv_cq != attr->recv_cq))
		return -EINVAL;
	if (!attr->send_cq && sends(attr->qp_type)) {
		ret = make_cq(id, attr->cap.max_send_wr, &pub->send_cq_channel, &pub->send_cq);
		attr->send_cq = pub->send_cq;
	}
	if (!ret && !attr->recv_cq && receives(attr->qp_type)) {
		ret = make_cq(id, attr->cap.max_recv_wr, &pub->recv_cq_channel, &pub->recv_cq);
		attr->recv_cq = pub->recv_cq;
	}
	if (!attr->srq && receives(attr->qp_type))
		attr->srq = pub->srq;
	return ret;
}

/* The domain that the QP is in: the caller's, or the device's. */
static int complete_domain(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int ret;

	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		if (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd)
			return 0;
		ret = rcm_device_xrcd(id->device, &attr->xrcd);
		attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
		return ret;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->pd = id->pub.pd;
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
	}
	return attr->pd && attr->pd->context == id->pub.verbs ? 0 : -EINVAL;
}

int rcm_queues_create_qp(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp;
	int ret;

	if (id->pub.qp || !id->pub.verbs)
		return -EINVAL;
	ret = complete_domain(id, attr);
	if (!ret)
		ret = complete_cqs(id, attr);
	if (ret)
		goto out;
	ret = rcm_qp_new(id->pub.verbs, attr, &qp);
	if (ret)
		goto out;
	ret = init_qp(id, qp);
	if (ret) {
		rcm_qp_free(qp);
		goto out;
	}
	id->pub.qp = qp;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		id->pub.pd = attr->pd;
out:
	if (ret)
		free_cqs(id);
	return ret;
}

void rcm_queues_destroy_qp(struct rcm_id *id)
{
	if (!id->pub.qp)
		return;
	rcm_qp_free(id->pub.qp);
	id->pub.qp = NULL;
	free_cqs(id);
	/* The domain may have been the caller's, who is free to end it now. */
	if (!id->pub.srq && id->device)
		id->pub.pd = id->device->pd;
}

static void free_cq_of_srq(struct rcm_id *id)
{
	id->cq_of_srq = false;
	if (!id->pub.qp)
		free_cqs(id);
}

static int complete_xrc(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	int ret = 0;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd) {
		ret = rcm_device_xrcd(id->device, &attr->xrcd);
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	}
	if (!ret && (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq)) {
		ret = make_cq(id, attr->attr.max_wr, &id->pub.recv_cq_channel, &id->pub.recv_cq);
		attr->cq = id->pub.recv_cq;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
		id->cq_of_srq = true;
	}
	return ret;
}

int rcm_queues_create_srq(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;
	int ret = 0;

	if (id->pub.srq || !id->pub.verbs)
		return -EINVAL;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->pd = id->pub.pd;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	}
	if (!attr->pd || attr->pd->context != id->pub.verbs)
		return -EINVAL;
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC)
		ret = complete_xrc(id, attr);
	if (!ret)
		ret = rcm_srq_new(id->pub.verbs, attr, &srq);
	if (ret) {
		free_cq_of_srq(id);
		return ret;
	}
	if (!id->pub.qp)
		id->pub.pd = attr->pd;
	id->pub.srq = srq;
	return 0;
}

void rcm_queues_destroy_srq(struct rcm_id *id)
{
	if (!id->pub.srq)
		return;
	rcm_srq_free(id->pub.srq);
	id->pub.srq = NULL;
	free_cq_of_srq(id);
	if (!id->pub.qp && id->device)
		id->pub.pd = id->device->pd;
}
