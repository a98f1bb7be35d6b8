/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs in terms of a CM ID: registration, posting, completions.
 *
 * All are inline. They return 0, a pointer, or a count; on failure -1 or NULL with the errno that the verb gave. A
 * memory region is freed with rdma_dereg_mr(). Any number of threads may post to an id. The work completion's wr_id is
 * the context given when posting.
 */
#ifndef RAI_RDMA_VERBS_H
#define RAI_RDMA_VERBS_H
#define RDMA_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 where ret is 0; else puts ret, a positive errno (or -1: errno is set already), in errno and returns -1. */
static inline int rdma_seterrno(int ret)
{
	if (!ret)
		return 0;
	if (ret > 0)
		errno = ret;
	return -1;
}

/*
 * Makes the id's shared receive queue; the QP made later uses it. pd: NULL for that of the device that the id is bound
 * to; another one needs no device. An XRC one, which the id's type or attr->srq_type (_ex) asks for, gets the domain
 * and CQ that attr doesn't name. attr gets what the device gave; on failure it and the id are as before. errno: EINVAL
 * (no pd, has one, _ex: no type), ENOMEM, and the verbs'.
 */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/* Frees it. No SRQ, or NULL: nothing. */
void rdma_destroy_srq(struct rdma_cm_id *id);

/* Register memory for messages, for the peer's RDMA reads, for its RDMA writes, with the id's protection domain. */
static inline struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE);
}

static inline struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static inline struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static inline int rdma_dereg_mr(struct ibv_mr *mr)
{
	return rdma_seterrno(ibv_dereg_mr(mr));
}

/* What the calls below are made of; not for applications. */
static inline struct ibv_sge rai_sge(void *addr, size_t length, struct ibv_mr *mr)
{
	struct ibv_sge sge;

	sge.addr = (uint64_t)(uintptr_t)addr;
	sge.length = (uint32_t)length;
	sge.lkey = mr ? mr->lkey : 0;
	return sge;
}

/* What every kind of request has; the rest of it is written where the opcode has it read. */
static inline void rai_send_wr(struct ibv_send_wr *wr, void *context, struct ibv_sge *sgl, int nsge,
			       enum ibv_wr_opcode opcode, int flags)
{
	wr->wr_id = (uintptr_t)context;
	wr->next = NULL;
	wr->sg_list = sgl;
	wr->num_sge = nsge;
	wr->opcode = opcode;
	wr->send_flags = (unsigned int)flags;
}

static inline int rai_post(struct rdma_cm_id *id, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return rdma_seterrno(ibv_post_send(id->qp, wr, &bad));
}

static inline int rai_post_rdma(struct rdma_cm_id *id, struct ibv_send_wr *wr, uint64_t remote_addr, uint32_t rkey)
{
	wr->wr.rdma.remote_addr = remote_addr;
	wr->wr.rdma.rkey = rkey;
	return rai_post(id, wr);
}

static inline int rai_get_comp(struct ibv_cq *cq, struct ibv_comp_channel *channel, struct ibv_wc *wc)
{
	struct ibv_cq *from;
	void *context;
	int ret;

	for (;;) {
		ret = ibv_poll_cq(cq, 1, wc);
		if (ret)
			break;
		/* Polled again once armed: what came between the poll and the arming raises no event. */
		ret = ibv_req_notify_cq(cq, 0);
		if (ret)
			return rdma_seterrno(ret);
		ret = ibv_poll_cq(cq, 1, wc);
		if (ret)
			break;
		if (ibv_get_cq_event(channel, &from, &context))
			return -1;
		ibv_ack_cq_events(from, 1);
	}
	return ret < 0 ? rdma_seterrno(-ret) : ret;
}

/* Post from a scatter list. flags: IBV_SEND_*. The list may go once the call returned, the memory at completion. */
static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge)
{
	struct ibv_recv_wr wr, *bad;

	wr.wr_id = (uintptr_t)context;
	wr.next = NULL;
	wr.sg_list = sgl;
	wr.num_sge = nsge;
	return rdma_seterrno(id->srq ? ibv_post_srq_recv(id->srq, &wr, &bad) : ibv_post_recv(id->qp, &wr, &bad));
}

static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags)
{
	struct ibv_send_wr wr;

	rai_send_wr(&wr, context, sgl, nsge, IBV_WR_SEND, flags);
	return rai_post(id, &wr);
}

static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags,
				  uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr;

	rai_send_wr(&wr, context, sgl, nsge, IBV_WR_RDMA_READ, flags);
	return rai_post_rdma(id, &wr, remote_addr, rkey);
}

static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags,
				   uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr;

	rai_send_wr(&wr, context, sgl, nsge, IBV_WR_RDMA_WRITE, flags);
	return rai_post_rdma(id, &wr, remote_addr, rkey);
}

/* Post one piece of registered memory. mr may be NULL with IBV_SEND_INLINE, for sends and RDMA writes. */
static inline int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr)
{
	struct ibv_sge sge = rai_sge(addr, length, mr);

	return rdma_post_recvv(id, context, &sge, 1);
}

static inline int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
				 int flags)
{
	struct ibv_sge sge = rai_sge(addr, length, mr);

	return rdma_post_sendv(id, context, &sge, 1, flags);
}

static inline int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
				 int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge = rai_sge(addr, length, mr);

	return rdma_post_readv(id, context, &sge, 1, flags, remote_addr, rkey);
}

static inline int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
				  int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge = rai_sge(addr, length, mr);

	return rdma_post_writev(id, context, &sge, 1, flags, remote_addr, rkey);
}

/* A datagram to a UD queue pair of the connection manager's Q_Key. */
static inline int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				    struct ibv_mr *mr, int flags, struct ibv_ah *ah, uint32_t remote_qpn)
{
	struct ibv_sge sge = rai_sge(addr, length, mr);
	struct ibv_send_wr wr;

	rai_send_wr(&wr, context, &sge, 1, IBV_WR_SEND, flags);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = remote_qpn;
	wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	return rai_post(id, &wr);
}

/*
 * Takes one completion, and waits for it where there is none: 1, or -1. Only for an id whose completion queues are its
 * own (made by rdma_create_qp() without any given). EINTR and EAGAIN as ibv_get_cq_event(3).
 */
static inline int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rai_get_comp(id->send_cq, id->send_cq_channel, wc);
}

static inline int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rai_get_comp(id->recv_cq, id->recv_cq_channel, wc);
}

#ifdef __cplusplus
}
#endif
#endif
