/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel how it would send to an address. Resolver thread. */
#pragma once

#include "addr/sockaddr.h"

struct rcm_route {
	unsigned ifindex;		/* out of which interface; of a local address the one that has it */
	union rcm_sockaddr src;		/* from which address, port 0; sa_family 0: the kernel names none */
};

/*
 * The route to an AF_INET or AF_INET6 address, its scope heeded. 0, or -ENETUNREACH, -EAFNOSUPPORT, -ENOMEM, -EMFILE.
 * One netlink exchange with the kernel (RTM_GETROUTE, rtnetlink(7)), no packet.
 */
int rcm_route_lookup(const union rcm_sockaddr *dst, struct rcm_route *ret_route);
