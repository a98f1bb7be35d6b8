/* SPDX-License-Identifier: BSD-2-Clause */
/* What an id is bound to: device, port, addresses and paths, as the kernel tells. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "cm/id.h"

struct rcm_device;

/*
 * Reads addresses, port and GIDs of the kernel's id into pub, and where it is bound to a device, opens that: verbs, pd.
 * 0; -ENODEV: the device can't be opened by this process; what the kernel said. No lock held; system calls.
 */
int rcm_attach(struct rcm_id *id);

/* Reads the path records into pub.route. 0, -ENOMEM, what the kernel said. */
int rcm_attach_paths(struct rcm_id *id);

/* Gives up device and paths. */
void rcm_detach(struct rcm_id *id);

/* The device that it is bound to, or NULL. Valid while the id can't be destroyed: with an event of it not acked, or
 * under its lock of queues. */
struct rcm_device *rcm_attach_device(struct rcm_id *id);

/* The XRC domain of its device: 0, -EINVAL where it is bound to none, what the verbs said. */
int rcm_attach_xrcd_locked(struct rcm_id *id, struct ibv_xrcd **ret_xrcd) RCM_REQUIRES(id->queues);

/* How many RDMA reads and atomics in flight the device can do; zeros where it is bound to none. */
struct rcm_depths {
	uint8_t responder_resources;
	uint8_t initiator_depth;
};

struct rcm_depths rcm_attach_depths(struct rcm_id *id);
