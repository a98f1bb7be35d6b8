/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces that local RDMA devices use, from sysfs. One thread at a time. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

/* What was found, which is taken for true for a second. Zeros: nothing was looked for yet. */
struct rcm_netdevs {
	uint64_t looked;		/* ns; 0: never */
	unsigned devices, count;
	struct rcm_netdev {
		char name[IF_NAMESIZE];
		unsigned index;
	} netdevs[RCM_NETDEVS_MAX];
};

/* Whether there is any RDMA device. */
bool rcm_netdevs_any(struct rcm_netdevs *known);

/* Whether an RDMA device uses this interface: its own, or one that a GID of it stands for (VLAN, bond, Soft-RoCE). */
bool rcm_netdevs_has(struct rcm_netdevs *known, unsigned ifindex);
