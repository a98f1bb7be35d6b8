/* SPDX-License-Identifier: BSD-2-Clause */
/* The local side: whether there is a device, what an AF_IB address binds to, which port asks the SA. */
#pragma once

#include <rdma/rdma_cma.h>

#include "addr/sockaddr.h"
#include "sa/sa.h"

struct rcm_channel;
struct rcm_id;

/*
 * Whether the library can do anything with RDMA by a new channel: 0 where /sys lists a device and the channel has its
 * kernel's side, where the umad device of an InfiniBand port can be used, or where RAI_DEVICELESS=1. In the last two it
 * may have none: what needs it says -ENODEV. Else -EACCES where there is a device that this process may not use,
 * -ENOENT where there is one without the rdma_cm device, -EPROTONOSUPPORT where that is of another ABI, -EMFILE,
 * -ENOMEM; -ENODEV. Local files only.
 */
int rcm_local_usable(const struct rcm_channel *channel);

/*
 * Binds without the kernel: *addr gets the service id of ps (with an ephemeral port where none is given) and a full
 * mask; *ret_port the port that has the GID, number 0 for a wildcard.
 * 0, -ENODEV (no such GID), -EPROTONOSUPPORT (a service id of another port space).
 */
int rcm_local_bind(union rcm_sockaddr *addr, enum rdma_port_space ps, struct rcm_sa_port *ret_port);

/* The port through which id asks the SA: 0, -EINVAL (bound to no device), -ENOTSUP (not InfiniBand), -EACCES (this
 * process may not), -ENODEV (it is gone). No lock held. *ret_sa: the client to ask. */
int rcm_local_sa_port(struct rcm_id *id, struct rcm_gid *ret_gid, const struct rcm_sa_ops **ret_sa);

/* The port at whose SA id publishes: as above, but nothing stands in for umad; and the AF_IB address that the id is
 * bound to, zeros where it is another kind. No lock held. */
int rcm_local_publish_port(struct rcm_id *id, struct rcm_gid *ret_gid, struct sockaddr_ib *ret_bound);

/* The traffic class that the kernel asks for this id's paths with: of the flow information that it is bound to. */
uint8_t rcm_local_traffic_class(struct rcm_id *id);
