/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection of an id: request, answer, end, and the kernel's events about them. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cm/event.h"
#include "ucma/decode.h"

struct rcm_device;
struct rcm_ep;
struct rcm_id;
struct rcm_mcast;

/* A part of struct rcm_id, under its lock. */
struct rcm_conn {
	struct rcm_device *device;		/* a use of it; NULL: bound to none */
	bool failed;				/* our half failed, and the application was told: nothing more comes */
	uint8_t responder_resources;		/* passive: what the request asks for, within the device's limits */
	uint8_t initiator_depth;
	struct rcm_ucma_ece local_ece;		/* by rdma_set_local_ece() */
	struct rcm_ucma_ece remote_ece;		/* from the peer's REQ or REP */
	LIST_HEAD(, rcm_mcast) mcasts;
	bool cq_of_srq;				/* pub.recv_cq was made for the SRQ (XRC), and goes with it */
	bool address_due;			/* the SA named the destination: its address is still to be resolved */
	bool chained;				/* that is under way, and the route comes next */
	int route_timeout_ms;			/* of that */
	struct rcm_ep *ep;			/* from rdma_create_ep(); NULL: none */
};

/* First and last step of an id's end: no event finds it by a uid of the connection's any more; what the connection
 * holds is freed, the kernel's id being gone and every event acked. No lock held. */
void rcm_conn_stop(struct rcm_id *id);
void rcm_conn_done(struct rcm_id *id);

/* UD: datagrams, no connection. */
bool rcm_conn_is_ud(const struct rcm_id *id);

/* The calls of these names: 0 or -errno. Parameters that the device can't do, or no QP number: -EINVAL. */
int rcm_conn_connect(struct rcm_id *id, const struct rdma_conn_param *param);
int rcm_conn_accept(struct rcm_id *id, const struct rdma_conn_param *param);
int rcm_conn_establish(struct rcm_id *id);
int rcm_conn_reject(struct rcm_id *id, uint8_t reason, const void *data, uint8_t len);
int rcm_conn_disconnect(struct rcm_id *id);
int rcm_conn_notify(struct rcm_id *id, enum ibv_event_type event);

/* Completes pub.param of a kernel event by the kind of id. */
void rcm_conn_param(struct rcm_event *event, const struct rcm_id *id);

/* Events: what ends or changes a connection; the rest, whose parameters alone are filled in. */
extern const struct rcm_event_ops rcm_conn_response_ops;
extern const struct rcm_event_ops rcm_conn_established_ops;
extern const struct rcm_event_ops rcm_conn_rejected_ops;
extern const struct rcm_event_ops rcm_conn_disconnected_ops;
extern const struct rcm_event_ops rcm_conn_removal_ops;
extern const struct rcm_event_ops rcm_conn_plain_ops;
