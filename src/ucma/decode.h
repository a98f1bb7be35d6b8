/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's bytes to plain structures: events, QP attributes, path records. Pure: no I/O, no allocation, safe on any
 * bytes.
 */
#pragma once

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of an event's answer: struct rdma_ucm_event_resp. */
enum { RCM_UCMA_EVENT_SIZE = 336 };

/* Enhanced connection establishment, as REQ and REP carry it. */
struct rcm_ucma_ece {
	uint32_t vendor_id;
	uint32_t attr_mod;
};

struct rcm_ucma_event {
	uint64_t uid;			/* as given to CREATE_ID, ACCEPT, JOIN_MCAST; CONNECT_REQUEST: the listener's */
	uint32_t handle;		/* the id; CONNECT_REQUEST: a new one */
	enum rdma_cm_event_type type;
	int status;			/* 0, a negative errno, or for REJECTED the CM's reason */
	struct rcm_ucma_ece ece;	/* the peer's, CONNECT_REQUEST and CONNECT_RESPONSE */
	uint8_t param[304];		/* read by the three calls below, according to the kind of id */
};

/* 0, or -EIO where len is too short to be an event. */
int rcm_ucma_event_decode(const void *bytes, size_t len, struct rcm_ucma_event *ret_event);

/* Parameters of a connected id's event, of an unconnected one's (UD). private_data points into
 * the event, and is NULL where there is none. */
void rcm_ucma_event_conn(const struct rcm_ucma_event *event, struct rdma_conn_param *ret_conn);
void rcm_ucma_event_ud(const struct rcm_ucma_event *event, struct rdma_ud_param *ret_ud);

struct ib_uverbs_qp_attr;

/* What INIT_QP_ATTR answered, for ibv_modify_qp(). */
void rcm_ucma_qp_attr_decode(const struct ib_uverbs_qp_attr *from, struct ibv_qp_attr *ret_attr,
			     int *ret_mask);

/* A path of the kernel's, in the shape that rdma_route.path_rec has. As librdmacm has it: one path, and for its
 * preference what the kernel says that it is good for. */
void rcm_ucma_path_decode(const struct ibv_path_data *data, struct ibv_sa_path_rec *ret_path);
