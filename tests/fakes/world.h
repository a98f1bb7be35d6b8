/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection needs: a lenient fake kernel, a device, a channel, ids on it, events off it. */
#pragma once

#include "cm/id.h"

/* Before and after each test. after() fails where something was leaked. */
int rcm_world_before(void **state);
int rcm_world_after(void **state);

extern struct rcm_channel *rcm_world_channel;

/* An id of the world's channel, resolved to its device: ADDR_RESOLVED taken and acked. */
struct rcm_id *rcm_world_id(enum rdma_port_space ps);

/* A synchronous one, bound to its device. */
struct rcm_id *rcm_world_sync_id(enum rdma_port_space ps);

/* An id with a QP. */
struct rcm_id *rcm_world_id_with_qp(enum rdma_port_space ps);

/* Lets the device of the next tests be one that can't be opened (errno), or can (0). */
void rcm_world_open_error(int error);

/* Whether it is on that channel now. */
bool rcm_world_is_on(struct rcm_id *id, const struct rcm_channel *channel);

/* The kernel has an event for the id; it is taken and has this type. To be acked. */
struct rdma_cm_event *rcm_world_event(struct rcm_id *id, enum rdma_cm_event_type kernels, int status,
				      enum rdma_cm_event_type wanted);

/* The next event, of this type. To be acked. */
struct rdma_cm_event *rcm_world_take(enum rdma_cm_event_type wanted);

/* No event is due. */
void rcm_world_expect_quiet(void);

void rcm_world_ack(struct rdma_cm_event *event);

/* Body of the last command, as a struct of the kernel's. */
#define rcm_world_last(type) (*(struct type *)rcm_world_last_bytes(sizeof(struct type)))
void *rcm_world_last_bytes(size_t len);
