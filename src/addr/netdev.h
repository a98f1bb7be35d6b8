/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces that local RDMA devices use, from sysfs. Resolver thread. */
#pragma once

#include <stdbool.h>

/* Whether there is any RDMA device. What was found is taken for true for a second. */
bool rcm_netdev_any(void);

/* Whether an RDMA device uses this interface: its own, or one that a GID of it stands for (VLAN, bond, Soft-RoCE). */
bool rcm_netdev_is_rdma(unsigned ifindex);

/* Another place than /sys (NULL: that again), looked at anew. Tests only. */
void rcm_netdev_sysfs_replace(const char *directory);
