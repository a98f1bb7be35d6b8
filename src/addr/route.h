/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel how it would send to an address. One thread at a time. */
#pragma once

#include "addr/sockaddr.h"

struct nl_sock;

/* How the kernel is asked. Zeros: not yet. */
struct rcm_router {
	struct nl_sock *sock;
};

struct rcm_route {
	unsigned ifindex;		/* out of which interface; of a local address the one that has it */
	union rcm_sockaddr src;		/* from which address, port 0; sa_family 0: the kernel names none */
};

/*
 * The route to an AF_INET or AF_INET6 address, its scope heeded. 0, or -ENETUNREACH, -EAFNOSUPPORT, -ENOMEM, what
 * socket(2) said. One netlink exchange with the kernel (RTM_GETROUTE, rtnetlink(7)), no packet.
 */
int rcm_route_lookup(struct rcm_router *router, const union rcm_sockaddr *dst, struct rcm_route *ret_route);

/* As before the first lookup. Also in the child of a fork, where the parent's socket would get answers to the child. */
void rcm_router_close(struct rcm_router *router);
