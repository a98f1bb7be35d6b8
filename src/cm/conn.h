/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection of an id: request, answer, end, and the kernel's events about them. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "cm/event.h"

struct rcm_id;

/*
 * The calls of these names: 0 or -errno. Connect and accept: -EINVAL where the id has neither a QP nor parameters that
 * name one, or they ask for more than the device can do; both of RDMA_PS_TCP alone.
 */
int rcm_conn_connect(struct rcm_id *id, const struct rdma_conn_param *param);
int rcm_conn_accept(struct rcm_id *id, const struct rdma_conn_param *param);
int rcm_conn_establish(struct rcm_id *id);
int rcm_conn_reject(struct rcm_id *id, uint8_t reason, const void *data, uint8_t len);
int rcm_conn_disconnect(struct rcm_id *id);
int rcm_conn_notify(struct rcm_id *id, enum ibv_event_type event);

/* Ends rdma_disconnect(): rcm_sync_complete(), unless the connection's end was delivered before: nothing else comes. */
int rcm_conn_complete_disconnect(struct rcm_id *id);

/* Events: what ends or changes a connection; the rest, whose parameters alone are filled in. */
extern const struct rcm_event_ops rcm_conn_response_ops;
extern const struct rcm_event_ops rcm_conn_established_ops;
extern const struct rcm_event_ops rcm_conn_rejected_ops;
extern const struct rcm_event_ops rcm_conn_disconnected_ops;
extern const struct rcm_event_ops rcm_conn_removal_ops;
extern const struct rcm_event_ops rcm_conn_plain_ops;
