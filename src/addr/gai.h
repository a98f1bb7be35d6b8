/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of rdma_getaddrinfo(), which programs wrote for rdma-core's. */
#pragma once

#include "addr/hints.h"

/* What is to be asked, for what rdma_getaddrinfo() was given. */
struct rcm_gai {
	const char *node, *service;	/* in: as given; out: to be asked for. Both NULL: the hints are the result */
	struct rcm_hints hints;
	union rcm_sockaddr dst;		/* where the hints are the result */
	int eai;			/* not 0: what comes out where the service has a port; without one, at once */
};

/*
 * Takes what rcm_hints_check() refuses as getaddrinfo() and rdma-core take it: bits and types that nobody knows are
 * passed over, AF_IB is no filter without RAI_FAMILY and RAI_NUMERICHOST, and what can't be looked up has its EAI_*
 * code. With RAI_SA or RAI_SRV it is rcm_hints_check(). 0, or -EINVAL: nothing was given, or an address that is none;
 * with those two as there.
 */
int rcm_gai_take(struct rcm_gai *gai, const struct rdma_addrinfo *hints);

/* The service has no port for streams: true where it may have one for datagrams, which is now what is asked for. */
bool rcm_gai_datagram(struct rcm_gai *gai);
