/* SPDX-License-Identifier: BSD-2-Clause */
/* The queues of an id: QP, SRQ, and the CQs made for them; the QP's states while it is connected. Any thread:
 * each call holds the id's lock of queues. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

struct rcm_id;

/*
 * rdma_create_qp_ex(), rdma_create_srq_ex(): the QP in INIT (UD: RTS). 0; -EINVAL: bound to no device, a domain of
 * another device, CQs that differ from the id's, an SRQ without a type, or it has one already; what the verbs said.
 * Where they fail the id and attr are as before.
 */
int rcm_queues_create_qp(struct rcm_id *id, struct ibv_qp_init_attr_ex *attr);
int rcm_queues_create_srq(struct rcm_id *id, struct ibv_srq_init_attr_ex *attr);

/* With the CQs made for them; where there is none: nothing. id->pd stays what it is. */
void rcm_queues_destroy_qp(struct rcm_id *id);
void rcm_queues_destroy_srq(struct rcm_id *id);

#define RCM_QUEUES_AS_NEGOTIATED (-1)

/*
 * The QP to RTS, by way of INIT and RTR. Reads and atomics in flight, as responder and as initiator: a number, or what
 * the kernel says was negotiated. -EINVAL: there is no QP.
 */
int rcm_queues_connect(struct rcm_id *id, int responder_resources, int initiator_depth);

bool rcm_queues_have_qp(struct rcm_id *id);

/* The QP to ERR; without one: 0. */
int rcm_queues_set_error(struct rcm_id *id);

/* The QP ends its half of the connection, on iWARP after what is posted; without one: 0. */
int rcm_queues_close(struct rcm_id *id);

/* rdma_init_qp_attr(): attr->qp_state says the state. */
int rcm_queues_init_attr(struct rcm_id *id, struct ibv_qp_attr *attr, int *ret_mask);
