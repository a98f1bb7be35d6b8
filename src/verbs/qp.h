/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs and what belongs to them. libibverbs reports errors in three ways; here every call returns 0 or -errno.
 * Any thread, as far as libibverbs allows it for one object.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

/* A completion queue with a completion channel of its own; context comes back from ibv_get_cq_event(). */
int rcm_cq_new(struct ibv_context *verbs, uint32_t entries, void *context,
	       struct ibv_comp_channel **ret_channel, struct ibv_cq **ret_cq);

/* Either may be NULL. */
void rcm_cq_free(struct ibv_comp_channel *channel, struct ibv_cq *cq);

/* attr->pd or attr->xrcd has to be set; attr's capabilities become those that the device gave. */
int rcm_qp_new(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr, struct ibv_qp **ret_qp);
int rcm_srq_new(struct ibv_context *verbs, struct ibv_srq_init_attr_ex *attr, struct ibv_srq **ret_srq);

/* How many receives can be posted to it. */
int rcm_srq_max_wr(struct ibv_srq *srq, uint32_t *ret_max);

/* End them; NULL: nothing. */
void rcm_qp_free(struct ibv_qp *qp);
void rcm_srq_free(struct ibv_srq *srq);

int rcm_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

/* To ERR: what is posted completes with a flush error. */
int rcm_qp_set_error(struct ibv_qp *qp);

/* Ends its half of the connection: to ERR, but on iWARP to SQD, so that what is posted is still sent. */
int rcm_qp_close(struct ibv_qp *qp);

int rcm_qp_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int rcm_qp_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* ECE of a queue pair, set before its move to RTR; devices that have none: zeros, and setting is not an error. */
int rcm_qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ret_ece);
int rcm_qp_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
