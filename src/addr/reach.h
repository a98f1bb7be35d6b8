/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a local RDMA device reaches, by route lookup, and from which source address. */
#pragma once

#include "addr/build.h"
#include "addr/route.h"

/*
 * Puts, stably, the results that a local RDMA device reaches before the others and fills their src where it is empty.
 * Without any RDMA device nothing changes and nothing is asked. Local kernel calls only (netlink, sysfs). Resolver
 * thread.
 */
void rcm_reach_order(struct rcm_result *results, unsigned count);

/* Whether the above would do anything: there is an RDMA device. Cheap. */
bool rcm_reach_matters(void);

/* Another way to ask for routes (NULL: the kernel again); forgets those asked before. Tests only. */
void rcm_reach_route_replace(int (*lookup)(const union rcm_sockaddr *dst, struct rcm_route *ret_route));
