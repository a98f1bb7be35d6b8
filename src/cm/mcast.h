/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "cm/event.h"

struct rcm_id;

/* Starts joining: 0, and MULTICAST_JOIN or MULTICAST_ERROR follows, with context; -EINVAL, -ENOMEM, what the
 * kernel said. When it is delivered, the id's QP is attached, unless the membership is send-only. */
int rcm_mcast_join(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context);

/* The same of a synchronous id, and rcm_sync_complete(). -ECANCELED, too, where another thread leaves the group. */
int rcm_mcast_join_sync(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context);

/* Leaves the group of this address; detaches the QP. An event of it that was not taken yet is dropped; one that was is
 * waited for until it is acked. 0; -EADDRNOTAVAIL: no such membership, or another thread is leaving it; what the kernel
 * said, the group being left. */
int rcm_mcast_leave(struct rcm_id *id, const struct sockaddr *addr);

/* The two steps of an id's end: no event finds it by a membership's uid any more; the memberships go, each event being
 * acked. The kernel ends them with its id. */
void rcm_mcast_stop_all(struct rcm_id *id);
void rcm_mcast_free_all(struct rcm_id *id);

extern const struct rcm_event_ops rcm_mcast_ops;	/* MULTICAST_JOIN and MULTICAST_ERROR */

/* In the child of a fork, a caller at a time: no event of a group is owed an ack, and nobody is leaving one. whole:
 * nobody held the id's lock; else its memberships may be half changed, and are forgotten here. */
void rcm_mcast_renew_all(struct rcm_id *id, bool whole);
