/* SPDX-License-Identifier: BSD-2-Clause */
/* Synchronous ids: waiting for the outcome of the call that was just made. */
#pragma once

#include <stdint.h>

#include "cm/event.h"

struct rcm_channel;
struct rcm_id;

/*
 * What can end each call. MADs are datagrams, so what follows may come without what should have come first: a peer's
 * DISCONNECTED without ESTABLISHED, where its RTU was lost. After DEVICE_REMOVAL nothing else comes.
 */
#define RCM_SYNC_ADDRESS (RCM_EVENT_BIT(RDMA_CM_EVENT_ADDR_RESOLVED) | RCM_EVENT_BIT(RDMA_CM_EVENT_ADDR_ERROR) | \
			  RCM_EVENT_BIT(RDMA_CM_EVENT_DEVICE_REMOVAL))
/* An address step before the route is no outcome: it is taken, so that it goes on. */
#define RCM_SYNC_ROUTE (RCM_EVENT_BIT(RDMA_CM_EVENT_ROUTE_RESOLVED) | RCM_EVENT_BIT(RDMA_CM_EVENT_ROUTE_ERROR) | \
			RCM_SYNC_ADDRESS)
#define RCM_SYNC_DISCONNECT (RCM_EVENT_BIT(RDMA_CM_EVENT_DISCONNECTED) | \
			     RCM_EVENT_BIT(RDMA_CM_EVENT_TIMEWAIT_EXIT) | \
			     RCM_EVENT_BIT(RDMA_CM_EVENT_DEVICE_REMOVAL))
#define RCM_SYNC_CONNECT (RCM_EVENT_BIT(RDMA_CM_EVENT_CONNECT_RESPONSE) | RCM_EVENT_BIT(RDMA_CM_EVENT_CONNECT_ERROR) | \
			  RCM_EVENT_BIT(RDMA_CM_EVENT_UNREACHABLE) | RCM_EVENT_BIT(RDMA_CM_EVENT_REJECTED) | \
			  RCM_EVENT_BIT(RDMA_CM_EVENT_ESTABLISHED) | RCM_SYNC_DISCONNECT)
#define RCM_SYNC_MCAST (RCM_EVENT_BIT(RDMA_CM_EVENT_MULTICAST_JOIN) | RCM_EVENT_BIT(RDMA_CM_EVENT_MULTICAST_ERROR) | \
			RCM_EVENT_BIT(RDMA_CM_EVENT_DEVICE_REMOVAL))
/* The library's own, not the kernel's. */
#define RCM_SYNC_NAMES (RCM_EVENT_BIT(RDMA_CM_EVENT_ADDRINFO_RESOLVED) | RCM_EVENT_BIT(RDMA_CM_EVENT_ADDRINFO_ERROR))

/*
 * Ends a public call that started something: at once with 0 for an id with a channel of the application's; for a
 * synchronous one acks the event of the call before, waits for the next of types, and leaves it in pub.event.
 * Returns 0; -errno from the event's status (of REJECTED: -ECONNREFUSED, of DEVICE_REMOVAL: -ENODEV, of the end of a
 * connection that was to be made: -ECONNRESET); -EINTR; -EAGAIN where the channel's descriptor has O_NONBLOCK, and the
 * event comes there later; -errno of GET_EVENT. No lock held.
 */
int rcm_sync_complete(struct rcm_id *id, uint32_t types);

/* Before an event of the library's own is queued for id: it will show on the descriptor of a synchronous id, too. 0,
 * -EMFILE, -ENFILE, -ENOMEM. */
int rcm_sync_show_own(struct rcm_id *id);

/* Acks the event left in pub.event, if any. */
void rcm_sync_ack(struct rcm_id *id);

/* Leaves an event that was taken from channel in pub.event; acks what another thread left there meanwhile. Of an id
 * that is being destroyed, or was moved from there, it is acked itself, as nobody would. */
void rcm_sync_keep(struct rcm_id *id, const struct rcm_channel *channel, struct rcm_event *event);
