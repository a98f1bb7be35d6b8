/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "cm/event.h"

struct rcm_id;

/* Starts joining: 0, and MULTICAST_JOIN or MULTICAST_ERROR follows, with context; -EAFNOSUPPORT, -ENOMEM, what the
 * kernel said. When it is delivered, the id's QP is attached, unless the membership is send-only. */
int rcm_mcast_join(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context);

/* Leaves the group of this address; detaches the QP. An event of it that was not taken yet is dropped. -EADDRNOTAVAIL:
 * no such membership. */
int rcm_mcast_leave(struct rcm_id *id, const struct sockaddr *addr);

/* Forgets all memberships, which the kernel ends with the id. */
void rcm_mcast_forget_all(struct rcm_id *id);

extern const struct rcm_event_ops rcm_mcast_ops;	/* MULTICAST_JOIN and MULTICAST_ERROR */
