/* SPDX-License-Identifier: BSD-2-Clause */
/* What an id is bound to: device, port, addresses and paths, as the kernel tells. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

struct rcm_id;

/*
 * Reads addresses, port and GIDs of the kernel's id into pub, and where it is bound to a device, opens that: verbs, pd.
 * 0; -ENODEV: the device can't be opened by this process; what the kernel said. No lock held; system calls.
 */
int rcm_attach(struct rcm_id *id);

/* Reads the path records into pub.route. 0, -ENOMEM, what the kernel said. */
int rcm_attach_paths(struct rcm_id *id);

/* Gives up device and paths. */
void rcm_detach(struct rcm_id *id);

/* The XRC domain of its device: 0, -EINVAL where it is bound to none, what the verbs said. */
int rcm_attach_xrcd(struct rcm_id *id, struct ibv_xrcd **ret_xrcd);

/* The device's limits for RDMA reads and atomics in flight; 0 where it is bound to none. */
uint8_t rcm_attach_max_responder_resources(struct rcm_id *id);
uint8_t rcm_attach_max_initiator_depth(struct rcm_id *id);
