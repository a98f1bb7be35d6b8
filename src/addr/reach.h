/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a local RDMA device reaches, by route lookup, and from which source address. */
#pragma once

#include "addr/build.h"

/*
 * Puts, stably, the results that a local RDMA device reaches before the others and fills their src where it is empty.
 * Without any RDMA device nothing changes and nothing is asked. Local kernel calls only (netlink, sysfs). Resolver
 * thread.
 */
void rcm_reach_order(struct rcm_result *results, unsigned count);
