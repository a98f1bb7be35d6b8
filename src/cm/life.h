/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a CM ID: made, bound, destroyed. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

struct rcm_channel;
struct rcm_id;

/*
 * Makes an id on channel (NULL: a synchronous one, with a channel of its own), with a kernel id where the channel has a
 * kernel side. 0, -EINVAL (port space), -ENOMEM, -EMFILE, and what CREATE_ID says.
 */
int rcm_id_new(struct rcm_channel *channel, void *context, enum rdma_port_space ps, enum ibv_qp_type qp_type,
	       struct rcm_id **ret_id);

/* As above, for a kernel id that exists already (CONNECT_REQUEST), on the channel from: takes over handle on success
 * only. The id isn't known to the kernel by uid until ACCEPT. */
int rcm_id_new_of_handle(struct rcm_channel *channel, uint32_t handle, struct rcm_channel *from,
			 enum rdma_port_space ps, enum ibv_qp_type qp_type, struct rcm_id **ret_id);

/*
 * Cancels its lookup, ends the kernel's id, discards what is undelivered, waits for the acks that are owed (RAI_LOG
 * tells which), gives up the application's reference. 0, or -EINVAL: it is being destroyed already.
 */
int rcm_id_destroy(struct rcm_id *id);

/* The same by a caller that has a reference of its own beside the application's. */
int rcm_id_destroy_held(struct rcm_id *id);

/* rdma_bind_addr(). */
int rcm_id_bind(struct rcm_id *id, const struct sockaddr *addr);
