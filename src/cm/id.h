/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of a CM ID, and its life: create, bind, migrate, destroy. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "cm/channel.h"
#include "cm/conn.h"
#include "cm/lookup.h"
#include "cm/option.h"
#include "sa/sa.h"

struct rcm_id {
	struct rdma_cm_id pub;			/* first: the application's pointer */
	atomic_uint refs;			/* the application's; one of each event, lookup and call under way */

	/* Taken and not acked. Counted up under the channel's lock (so that no event is taken that destroy doesn't wait
	 * for), down by the ack, without a lock. */
	atomic_uint unacked;
	atomic_uint unacked_of[RCM_EVENT_TYPES];	/* by type, for the trace */
	atomic_bool awaited;			/* destroy or migrate waits for acked */
	struct rcm_event_list undelivered;	/* under the lock of channel */

	struct rcm_lock lock;			/* never held over a system call that can block */
	pthread_cond_t acked;

	/* Under lock. */
	struct rcm_channel *channel;		/* a reference; pub.channel shows it */
	bool sync;				/* channel is its own: calls wait for their outcome */
	bool dead;				/* being destroyed: nothing is queued for it any more */
	bool bound;				/* rcm_id_bind() succeeded */
	struct rcm_sa_port port;		/* InfiniBand port it is bound to; number 0: none known */
	struct rcm_lookup *lookup;		/* not yet delivered */
	struct rcm_found found;			/* delivered, not yet queried */
	struct rcm_options options;
	struct rcm_conn conn;

	/* The kernel's side; set before the id is handed out, then constant until destroyed. */
	atomic_bool has_handle;		/* and then handle, which a reader of its events sees after this */
	uint32_t handle;
	uint64_t uid;				/* in the table; 0: not in it */
	atomic_bool kernel_busy;		/* a command was given that brings events: what the kernel has ready is
						 * taken over before an event of ours is queued */
};

static inline struct rcm_id *rcm_id_of(struct rdma_cm_id *id)
{
	return (struct rcm_id *)(void *)id;
}

/* References. A public call takes one while it runs, so that it ends well where another thread destroys the id. */
struct rcm_id *rcm_id_ref(struct rcm_id *id);
void rcm_id_put(struct rcm_id *id);		/* NULL: nothing */

/*
 * Makes an id on channel (NULL: a synchronous one, with a channel of its own), with a kernel id where the channel has a
 * kernel side. 0, -EINVAL (port space), -ENOMEM, -EMFILE, and what CREATE_ID says.
 */
int rcm_id_new(struct rcm_channel *channel, void *context, enum rdma_port_space ps, enum ibv_qp_type qp_type,
	       struct rcm_id **ret_id);

/* As above, for a kernel id that exists already (CONNECT_REQUEST): takes over handle on success only. The id isn't
 * known to the kernel by uid until ACCEPT. */
int rcm_id_new_of_handle(struct rcm_channel *channel, uint32_t handle, enum rdma_port_space ps,
			 enum ibv_qp_type qp_type, struct rcm_id **ret_id);

/*
 * Cancels its lookup, ends the kernel's id, discards what is undelivered, waits for the acks that are owed (RAI_LOG
 * tells which), gives up the application's reference. 0, or -EINVAL: it is being destroyed already.
 */
int rcm_id_destroy(struct rcm_id *id);

/* rdma_bind_addr(). */
int rcm_id_bind(struct rcm_id *id, const struct sockaddr *addr);

/* The channel that it is on now, with a reference. */
struct rcm_channel *rcm_id_channel(struct rcm_id *id);

/* The channel whose descriptor takes the kernel's commands for it, with a reference; NULL: it has no kernel side. */
struct rcm_channel *rcm_id_kernel(struct rcm_id *id);

/* Whether it is on that channel now. */
bool rcm_id_is_on(struct rcm_id *id, const struct rcm_channel *channel);

/* Whether rcm_id_destroy() has begun. */
bool rcm_id_is_dead(struct rcm_id *id);

/* Queues an event, taking it over; true. false: the id is being destroyed, and the event is still the caller's. */
bool rcm_id_post(struct rcm_id *id, struct rcm_event *event);
bool rcm_id_post_locked(struct rcm_id *id, struct rcm_event *event) RCM_REQUIRES(id->lock);

/* An event of this type was taken (caller holds its channel's lock), and acked. */
void rcm_id_taken(struct rcm_id *id, enum rdma_cm_event_type type);
void rcm_id_acked(struct rcm_id *id, enum rdma_cm_event_type type);

/* Waits until every event taken for it is acked. No lock held. */
void rcm_id_wait_acked(struct rcm_id *id);
