/* SPDX-License-Identifier: BSD-2-Clause */
/* What a CM ID is: its parts, its references, its channel, what is posted to it and waits for an ack. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "addr/hints.h"
#include "base/lock.h"
#include "cm/channel.h"
#include "cm/table.h"
#include "resolve/resolve.h"
#include "sa/sa.h"

struct rcm_device;
struct rcm_ep;
struct rcm_lookup;
struct rcm_mcast;
struct rcm_service;

/* What a delivered lookup found (lookup.c); the hints from its start on, so that they aren't held twice. */
struct rcm_found {
	struct rcm_answer *answer;		/* a reference; NULL: nothing */
	struct rcm_hints hints;
	uint16_t port;
};

/* An option of level RDMA_OPTION_ID as the kernel took it; len 0: it was not set. */
struct rcm_kernel_option {
	uint8_t len;
	uint8_t value[4];
};

enum { RCM_KERNEL_OPTIONS = RDMA_OPTION_ID_ACK_TIMEOUT + 1 };

/* Of later resolutions, and what the kernel's id has to be told again where it gets a successor (option.c). */
struct rcm_options {
	uint32_t deadline_ms;			/* RCM_DEADLINE_DEFAULT: not set */
	bool fresh;
	enum rcm_dns_source source;
	struct rcm_accept *accept;		/* a reference; NULL: not set */
	struct rcm_kernel_option of_kernel[RCM_KERNEL_OPTIONS];	/* by name */
};

/* A destination and a route that are resolved one after the other (address.c). */
struct rcm_chain {
	bool address_due;			/* the SA named the destination: its address is still to be resolved */
	bool under_way;				/* the address is being resolved, and then the route */
	bool settled;				/* the kernel's id listens or has a destination: it has to stay */
	bool routed;				/* the kernel's id has a route, or looks for it: no other destination */
	int route_timeout_ms;
};

/* A connection (conn.c, ece.c). */
struct rcm_conn {
	bool failed;				/* our half failed, and the application was told: nothing more comes */
	bool over;				/* DISCONNECTED was delivered */
	uint8_t responder_resources;		/* passive: what the request asks for, within the device's limits */
	uint8_t initiator_depth;
	struct rcm_ucma_ece local_ece;		/* by rdma_set_local_ece() */
	struct rcm_ucma_ece remote_ece;		/* from the peer's REQ or REP */
};

struct rcm_id {
	struct rdma_cm_id pub;			/* first: the application's pointer */
	/* In the table (cm/table.h). References: the application's; one of each event, lookup and call under way. */
	struct rcm_entry entry;

	/*
	 * Taken and not acked, during the id's present stay on a channel and during the one before, which a migration
	 * waits for. Counted up under the channel's lock (so that no event is taken that destroy doesn't wait for),
	 * down by the ack, without a lock.
	 */
	atomic_uint unacked[2];
	atomic_ushort unacked_of[RCM_EVENT_PLACES];	/* by type, for the trace */
	/* Commands under way in the kernel, by stay as above: counted up under lock, so that none is given that destroy
	 * doesn't wait for, down without a lock. */
	atomic_uint commands[2];
	atomic_uint awaiting;			/* how many wait for acks, commands or renewals */
	_Atomic(struct rcm_event *) spare;	/* memory of USER events, for later ones (user.c) */
	atomic_uint spares;			/* about how many they are */
	struct rcm_event_list undelivered;	/* under the lock of channel */
	atomic_bool dead;			/* being destroyed: nothing is queued for it any more */
	atomic_bool sync;			/* channel is its own: calls wait for their outcome; set under lock */
	atomic_bool laden;			/* it has, or had, a device, paths or a group; set under lock */
	LIST_ENTRY(rcm_id) rest;		/* channel's resting; with rests under its lock */
	bool rests;
	uint8_t stay;				/* 0 or 1 by turns; changed under lock and channel's, read under one */
	/* Commands that are over but for the end of a handle that no command may have by then: they wait for those. */
	atomic_uint renewals;

	struct rcm_lock lock;			/* never held over what waits for the network or another process */
	struct rcm_condition changed;		/* all is acked, no command is under way, no migration */

	/* Held over the verbs calls that make, change and end what pub has of queues (qp, srq, the CQs, pd) and over
	 * each that uses them; before lock. */
	struct rcm_lock queues;
	bool cq_of_srq RCM_GUARDED_BY(queues);	/* pub.recv_cq was made for an XRC SRQ and goes with it */

	/* Under lock. */
	struct rcm_channel *channel RCM_GUARDED_BY(lock);	/* a reference; pub.channel shows it */
	bool bound RCM_GUARDED_BY(lock);	/* rcm_id_bind() succeeded */
	struct rcm_sa_port port RCM_GUARDED_BY(lock);	/* InfiniBand port it is bound to; number 0: none known */
	struct rcm_lookup *lookup RCM_GUARDED_BY(lock);	/* not yet delivered */
	struct rcm_found found RCM_GUARDED_BY(lock);	/* delivered, not yet queried */
	struct rcm_options options RCM_GUARDED_BY(lock);
	struct rcm_chain chain RCM_GUARDED_BY(lock);
	struct rcm_conn conn RCM_GUARDED_BY(lock);
	struct rcm_device *device RCM_GUARDED_BY(lock);	/* a use of it, given up under queues too; NULL: none */
	LIST_HEAD(, rcm_mcast) mcasts RCM_GUARDED_BY(lock);
	LIST_HEAD(, rcm_service) services RCM_GUARDED_BY(lock);	/* that are published */
	struct rcm_ep *ep RCM_GUARDED_BY(lock);	/* from rdma_create_ep(), as long as the id; NULL: none */
	bool has_handle RCM_GUARDED_BY(lock);	/* it has, or had, a kernel's id (kernel.c) */
	uint32_t handle RCM_GUARDED_BY(lock);	/* of that */
	bool migrating RCM_GUARDED_BY(lock);	/* moved, and waits for what is left of the stay before */
};

static inline struct rcm_id *rcm_id_of(struct rdma_cm_id *id)
{
	return (struct rcm_id *)(void *)id;
}

/* References. A public call takes one while it runs, so that it ends well where another thread destroys the id. Who
 * looks whether it is dead after that is not missed by who destroys it: both are sequentially consistent. */
static inline struct rcm_id *rcm_id_ref(struct rcm_id *id)
{
	atomic_fetch_add(&id->entry.refs, 1);
	return id;
}

/* The id of a uid in a kernel event, with a reference; NULL: it is gone, or dead. Any thread. */
struct rcm_id *rcm_id_find(uint64_t uid);

void rcm_id_free(struct rcm_id *id);		/* by the next alone */

/* NULL: nothing. */
static inline void rcm_id_put(struct rcm_id *id)
{
	if (id && atomic_fetch_sub(&id->entry.refs, 1) == 1)
		rcm_id_free(id);
}

/* An id on channel, whose reference it takes over, without a kernel id; freed by rcm_id_put(). NULL: no memory. */
struct rcm_id *rcm_id_alloc(struct rcm_channel *channel, enum rdma_port_space ps, enum ibv_qp_type qp_type);

/* The channel that it is on now, with a reference. */
struct rcm_channel *rcm_id_channel(struct rcm_id *id);

/* Whether it is synchronous: its channel is its own. */
bool rcm_id_is_sync(struct rcm_id *id);

/* UD: datagrams, no connection. */
bool rcm_id_is_ud(const struct rcm_id *id);

/* Whether rcm_id_destroy() has begun. */
bool rcm_id_is_dead(struct rcm_id *id);

/* Queues an event, taking it over; true. false: the id is being destroyed, and the event is still the caller's. */
bool rcm_id_post(struct rcm_id *id, struct rcm_event *event);
bool rcm_id_post_locked(struct rcm_id *id, struct rcm_event *event) RCM_REQUIRES(id->lock);

/* An event of it was taken (caller holds its channel's lock): counts it; and acked, being freed by now. */
void rcm_id_taken(struct rcm_id *id, struct rcm_event *event);
void rcm_id_acked(struct rcm_id *id, enum rdma_cm_event_type type, uint8_t stay);

/* Waits until every event that was taken for it during that stay is acked. No lock held. */
void rcm_id_wait_acked(struct rcm_id *id, uint8_t stay);

/* A command that was given during that stay is over; waits until all are. No lock held but, maybe, that of queues. */
void rcm_id_command_over(struct rcm_id *id, uint8_t stay);
void rcm_id_wait_commands(struct rcm_id *id, uint8_t stay);

/* One of renewals is over; waits until all are, after the commands that they come from. */
void rcm_id_renewal_over(struct rcm_id *id);
void rcm_id_wait_renewals(struct rcm_id *id);
