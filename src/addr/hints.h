/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the arguments of a resolution and turns them into plain values. */
#pragma once

#include <rdma/rdma_cma.h>

#include "addr/sockaddr.h"

/* What is asked, checked, with defaults settled; no pointers into the caller's memory but node and service. */
struct rcm_hints {
	int flags;			/* RAI_* */
	int family;			/* AF_UNSPEC, AF_INET, AF_INET6, AF_IB */
	int qp_type;			/* 0: both are possible (RC first) */
	int port_space;			/* 0: follows from qp_type */
	int socket_type;		/* by which service names are looked up; 0: both transports are open */
	union rcm_sockaddr src;		/* ai_src_addr; sa_family 0: none */
	bool listing;			/* RAI_SA: whatever records there are, not those to connect to */
	bool by_id;			/* RAI_SA: service was a number */
	uint64_t service_id;
};

/* 0, or -EINVAL, -ENOTSUP, -ENAMETOOLONG as the table of the contract says for what needs no id. hints may be NULL. */
int rcm_hints_check(const char *node, const char *service, const struct rdma_addrinfo *hints,
		    struct rcm_hints *ret_hints);

/* The addresses that hints hold; sa_family 0: none. 0, or -EINVAL: it is no address. */
int rcm_hints_source(const struct rdma_addrinfo *hints, union rcm_sockaddr *ret_src);
int rcm_hints_destination(const struct rdma_addrinfo *hints, union rcm_sockaddr *ret_dst);
