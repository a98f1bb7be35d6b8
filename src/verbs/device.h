/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA devices as libibverbs shows them, each opened once, when first needed.
 *
 * A device that was opened stays open until it is removed from the machine, also while nobody uses it: applications
 * keep protection domains of their own across ids. A device that is gone is closed when its last user lets go.
 * Any thread. No lock is held while a device is opened or closed.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct rcm_device {
	LIST_ENTRY(rcm_device) link;
	struct ibv_context *verbs;
	struct ibv_pd *pd;			/* the default protection domain, shared by its ids */
	_Atomic(struct ibv_xrcd *) xrcd;	/* made when first asked for */
	__be64 guid;
	int index;				/* the kernel's; -1: unknown */
	uint8_t max_responder_resources;	/* max_qp_rd_atom */
	uint8_t max_initiator_depth;		/* max_qp_init_rd_atom */
	uint64_t roce_ports;			/* a bit for each, by number; those from 64 on are not told of */
	unsigned refs;				/* this and the rest: under the list's lock */
	bool pinned;				/* handed out by rcm_device_list_open(), for good */
	bool removed;
};

/*
 * The device with this node GUID and kernel index (-1: any with the GUID), opening it where it isn't open yet; a device
 * that appeared meanwhile is found. -ENODEV: not visible to this process; -ENOMEM; what opening it said.
 */
int rcm_device_get(__be64 guid, int64_t index, struct rcm_device **ret_device);

/* NULL: nothing. */
void rcm_device_put(struct rcm_device *device);

/* Whether that port is known to be of RoCE. */
static inline bool rcm_device_is_roce(const struct rcm_device *device, unsigned port)
{
	return port < 64 && device->roce_ports >> port & 1;
}

/* It was removed: nobody gets it any more, and it is closed with its last user. */
void rcm_device_set_removed(struct rcm_device *device);

/* The XRC domain shared by its ids: 0 or -errno. It lives as long as the device. */
int rcm_device_xrcd(struct rcm_device *device, struct ibv_xrcd **ret_xrcd);

/*
 * Opens what can be opened, and gives a NULL-terminated list, to be freed with free(3). The contexts stay open, also
 * after that and after a removal: applications use what was in the list, and what they made of it, for as long as they
 * like, and tell nobody when they are done.
 * *ret_count: how many. 0, -ENOMEM, -ENODEV where there is none, or none can be opened.
 */
int rcm_device_list_open(struct ibv_context ***ret_list, int *ret_count);
