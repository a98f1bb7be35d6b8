/* SPDX-License-Identifier: BSD-2-Clause */
/* The queues of an id, and the states of its QP while it is connected. */
#include "cm/queues.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cm/attach.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "verbs/qp.h"

int rcm_queues_init_attr(struct rcm_id *id, struct ibv_qp_attr *attr, int *ret_mask)
{
	return rcm_kernel_give(id, rcm_ucma_init_qp_attr, attr->qp_state, attr, ret_mask);
}

static int queues_move_qp(struct rcm_id *id, struct ibv_qp *qp, enum ibv_qp_state state, int reads)
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

static int queues_connect_locked(struct rcm_id *id, int responder_resources, int initiator_depth)
	RCM_REQUIRES(id->queues)
{
	struct ibv_qp *qp = id->pub.qp;
	int ret;

	rcm_lock_assert_held(&id->queues);
	if (!qp)
		return -EINVAL;
	/* Once more to INIT: the port and P_Key may be known better than when the QP was made. */
	ret = queues_move_qp(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
	if (!ret)
		ret = queues_move_qp(id, qp, IBV_QPS_RTR, responder_resources);
	return ret ? ret : queues_move_qp(id, qp, IBV_QPS_RTS, initiator_depth);
}

int rcm_queues_connect(struct rcm_id *id, int responder_resources, int initiator_depth)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = queues_connect_locked(id, responder_resources, initiator_depth);
	rcm_lock_release(&id->queues);
	return ret;
}

int rcm_queues_set_error(struct rcm_id *id)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = id->pub.qp ? rcm_qp_set_error(id->pub.qp) : 0;
	rcm_lock_release(&id->queues);
	return ret;
}

int rcm_queues_close(struct rcm_id *id)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = id->pub.qp ? rcm_qp_close(id->pub.qp) : 0;
	rcm_lock_release(&id->queues);
	return ret;
}

bool rcm_queues_have_qp(struct rcm_id *id)
{
	bool have;

	rcm_lock_acquire(&id->queues);
	have = id->pub.qp != NULL;
	rcm_lock_release(&id->queues);
	return have;
}

/* A datagram QP needs no peer to send: it goes all the way at once. */
static int queues_init_ud(struct rcm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int ret;

	ret = queues_move_qp(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
	if (!ret)
		ret = rcm_qp_modify(qp, &attr, IBV_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IBV_QPS_RTS;
	return rcm_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int queues_init_qp(struct rcm_id *id, struct ibv_qp *qp)
{
	if (rcm_id_is_ud(id))
		return queues_init_ud(id, qp);
	return queues_move_qp(id, qp, IBV_QPS_INIT, RCM_QUEUES_AS_NEGOTIATED);
}

/* A CQ that is made for the id, and isn't the id's yet. */
struct made_cq {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

static void made_cq_free(struct made_cq *made)
{
	rcm_cq_free(made->channel, made->cq);
}

/* What the caller names, else what the id has, else a new one. */
static int queues_complete_cq(struct rcm_id *id, struct ibv_cq **cq, struct ibv_cq *ids, uint32_t entries,
			      struct made_cq *made)
{
	int ret;

	if (*cq)
		return ids && *cq != ids ? -EINVAL : 0;
	if (!ids) {
		ret = rcm_cq_new(id->pub.verbs, entries ? entries : 1, &id->pub, &made->channel, &made->cq);
		if (ret)
			return ret;
	}
	*cq = ids ? ids : made->cq;
	return 0;
}

static void queues_keep_send_cq(struct rcm_id *id, const struct made_cq *made)
{
	if (!made->cq)
		return;
	id->pub.send_cq_channel = made->channel;
	id->pub.send_cq = made->cq;
}

static void queues_keep_recv_cq(struct rcm_id *id, const struct made_cq *made)
{
	if (!made->cq)
		return;
	id->pub.recv_cq_channel = made->channel;
	id->pub.recv_cq = made->cq;
}

static void queues_free_recv_cq(struct rcm_id *id)
{
	rcm_cq_free(id->pub.recv_cq_channel, id->pub.recv_cq);
	id->pub.recv_cq_channel = NULL;
	id->pub.recv_cq = NULL;
}

/* An application may have put one CQ, or two of one channel, in both places: a channel goes after all its CQs. */
static void queues_free_cqs_locked(struct rcm_id *id) RCM_REQUIRES(id->queues)
{
	struct rdma_cm_id *pub = &id->pub;
	struct ibv_comp_channel *channel = pub->send_cq_channel != pub->recv_cq_channel ? pub->send_cq_channel : NULL;
	struct ibv_cq *cq = pub->send_cq != pub->recv_cq ? pub->send_cq : NULL;

	rcm_lock_assert_held(&id->queues);
	pub->send_cq_channel = NULL;
	pub->send_cq = NULL;
	rcm_cq_free(channel, cq);
	if (!id->cq_of_srq)
		queues_free_recv_cq(id);
}

static bool type_sends(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_RECV;
}

static bool type_receives(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_SEND && type != IBV_QPT_XRC_RECV;
}

/* How many completions of receives there can be at once: as many as are posted, to the QP or to its SRQ. */
static uint32_t queues_receives_at_once(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t entries = attr->cap.max_recv_wr;

	if (!entries && attr->srq)
		rcm_srq_max_wr(attr->srq, &entries);
	return entries;
}

static int queues_complete_cqs(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr, struct made_cq *send,
			       struct made_cq *recv)
{
	struct rdma_cm_id *pub = &id->pub;
	int ret = 0;

	if (type_sends(attr->qp_type))
		ret = queues_complete_cq(id, &attr->send_cq, pub->send_cq, attr->cap.max_send_wr, send);
	if (ret || !type_receives(attr->qp_type))
		return ret;
	if (!attr->srq)
		attr->srq = pub->srq;
	return queues_complete_cq(id, &attr->recv_cq, pub->recv_cq, queues_receives_at_once(attr), recv);
}

/* The domains that the QP is in: the caller's, or the id's and the device's. */
static int queues_complete_domains_locked(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr) RCM_REQUIRES(id->queues)
{
	bool has_xrcd = attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd;

	rcm_lock_assert_held(&id->queues);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		attr->pd = id->pub.pd;
	attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
	if (!attr->pd || attr->pd->context != id->pub.verbs)
		return -EINVAL;
	if (has_xrcd || (attr->qp_type != IBV_QPT_XRC_RECV && id->pub.qp_type != IBV_QPT_XRC_RECV))
		return 0;
	attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	return rcm_attach_xrcd_locked(id, &attr->xrcd);
}

/* Makes the QP, and changes neither the id nor, for good, attr where it fails. */
static int queues_make_qp_locked(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr, struct made_cq *send,
				 struct made_cq *recv, struct ibv_qp **ret_qp) RCM_REQUIRES(id->queues)
{
	struct ibv_qp *qp;
	int ret;

	rcm_lock_assert_held(&id->queues);
	ret = queues_complete_domains_locked(id, attr);
	if (!ret)
		ret = queues_complete_cqs(id, attr, send, recv);
	if (!ret)
		ret = rcm_qp_new(id->pub.verbs, attr, &qp);
	if (ret)
		return ret;
	ret = queues_init_qp(id, qp);
	if (ret)
		rcm_qp_free(qp);
	else
		*ret_qp = qp;
	return ret;
}

/* What of a caller's attributes may be changed here, and was there in the first version of the structure. */
enum {
	QP_ATTR_CHANGED = offsetof(struct ibv_qp_init_attr_ex, create_flags),
	SRQ_ATTR_CHANGED = offsetof(struct ibv_srq_init_attr_ex, tm_cap)
};

static int queues_create_qp_locked(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr) RCM_REQUIRES(id->queues)
{
	struct made_cq send = { 0 }, recv = { 0 };
	uint8_t before[QP_ATTR_CHANGED];
	struct ibv_qp *qp;
	int ret;

	rcm_lock_assert_held(&id->queues);
	if (id->pub.qp || !rcm_attach_device(id))
		return -EINVAL;
	memcpy(before, attr, sizeof(before));
	ret = queues_make_qp_locked(id, attr, &send, &recv, &qp);
	if (ret) {
		made_cq_free(&send);
		made_cq_free(&recv);
		memcpy(attr, before, sizeof(before));
		return ret;
	}
	queues_keep_send_cq(id, &send);
	queues_keep_recv_cq(id, &recv);
	id->pub.qp = qp;
	id->pub.pd = attr->pd;
	return 0;
}

int rcm_queues_create_qp(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = queues_create_qp_locked(id, attr);
	rcm_lock_release(&id->queues);
	return ret;
}

void rcm_queues_destroy_qp(struct rcm_id *id)
{
	rcm_lock_acquire(&id->queues);
	if (id->pub.qp) {
		rcm_qp_free(id->pub.qp);
		id->pub.qp = NULL;
		queues_free_cqs_locked(id);
	}
	rcm_lock_release(&id->queues);
}

static int queues_complete_xrc_locked(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr, struct made_cq *made)
	RCM_REQUIRES(id->queues)
{
	int ret = 0;

	rcm_lock_assert_held(&id->queues);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd) {
		ret = rcm_attach_xrcd_locked(id, &attr->xrcd);
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	}
	if (!ret && (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq)) {
		attr->cq = NULL;
		ret = queues_complete_cq(id, &attr->cq, id->pub.recv_cq, attr->attr.max_wr, made);
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	}
	return ret;
}

static int queues_make_srq_locked(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr, struct made_cq *made,
				  struct ibv_srq **ret_srq) RCM_REQUIRES(id->queues)
{
	int ret = 0;

	rcm_lock_assert_held(&id->queues);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd)
		attr->pd = id->pub.pd;
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	if (!attr->pd)
		return -EINVAL;
	if (attr->srq_type == IBV_SRQT_XRC)
		ret = attr->pd->context == id->pub.verbs ? queues_complete_xrc_locked(id, attr, made) : -EINVAL;
	return ret ? ret : rcm_srq_new(attr->pd->context, attr, ret_srq);
}

static int queues_create_srq_locked(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr) RCM_REQUIRES(id->queues)
{
	uint8_t before[SRQ_ATTR_CHANGED];
	struct made_cq made = { 0 };
	struct ibv_srq *srq;
	int ret;

	rcm_lock_assert_held(&id->queues);
	/* In a domain of the caller's it needs no device of the id's, as long as no queue pair is to use it. */
	if (id->pub.srq || !(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		return -EINVAL;
	memcpy(before, attr, sizeof(before));
	ret = queues_make_srq_locked(id, attr, &made, &srq);
	if (ret) {
		made_cq_free(&made);
		memcpy(attr, before, sizeof(before));
		return ret;
	}
	queues_keep_recv_cq(id, &made);
	id->cq_of_srq = made.cq;
	if (!id->pub.pd)
		id->pub.pd = attr->pd;
	id->pub.srq = srq;
	return 0;
}

int rcm_queues_create_srq(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = queues_create_srq_locked(id, attr);
	rcm_lock_release(&id->queues);
	return ret;
}

void rcm_queues_destroy_srq(struct rcm_id *id)
{
	rcm_lock_acquire(&id->queues);
	if (id->pub.srq) {
		rcm_srq_free(id->pub.srq);
		id->pub.srq = NULL;
		if (!id->pub.qp && id->cq_of_srq)
			queues_free_recv_cq(id);
		id->cq_of_srq = false;
	}
	rcm_lock_release(&id->queues);
}
