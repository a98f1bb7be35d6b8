/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a local RDMA device reaches, by route lookup, and from which source address. One thread at a time. */
#pragma once

#include "addr/build.h"
#include "addr/netdev.h"
#include "addr/route.h"

enum { RCM_REACH_ROUTES = 256 };

/* What is known of interfaces and routes, each for a second. Zeros: nothing yet. */
struct rcm_reach {
	struct rcm_netdevs netdevs;
	struct rcm_router router;
	/* Who is asked for routes; NULL: the kernel. */
	int (*lookup)(struct rcm_router *router, const union rcm_sockaddr *dst, struct rcm_route *ret_route);
	struct rcm_reach_route {
		union rcm_sockaddr dst;		/* sa_family 0: free */
		uint64_t until;			/* ns */
		bool reached;
		union rcm_sockaddr src;
	} routes[RCM_REACH_ROUTES];		/* asked lately, by destination */
};

/*
 * Puts, stably, the results that a local RDMA device reaches before the others and fills their src where it is empty.
 * Without any RDMA device nothing changes and nothing is asked. Local kernel calls only (netlink, sysfs).
 */
void rcm_reach_order(struct rcm_reach *reach, struct rcm_result *results, unsigned count);

/* Forgets all, and closes what is open. Also in the child of a fork. */
void rcm_reach_reset(struct rcm_reach *reach);
