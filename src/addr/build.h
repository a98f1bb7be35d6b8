/* SPDX-License-Identifier: BSD-2-Clause */
/* The only maker and freer of struct rdma_addrinfo lists. */
#pragma once

#include <rdma/rdma_cma.h>

#include "addr/hints.h"

/* One result. For RAI_PASSIVE dst is what becomes ai_src_addr. */
struct rcm_result {
	union rcm_sockaddr dst;
	union rcm_sockaddr src;			/* sa_family 0: none */
	const struct ibv_path_data *route;	/* NULL: none */
	unsigned routes;
	bool as_given;				/* passed on: either address may be none, and nothing is set in them */
};

/*
 * Makes a list of count (at least one) results as the contract says: port, flags, qp type and port space from hints;
 * canonname (may be NULL) on the first entry. Where hints leave both transports open each address comes once, as RC
 * with RDMA_PS_TCP. One allocation for the whole list. 0 or -ENOMEM.
 */
int rcm_addrinfo_build(const struct rcm_hints *hints, uint16_t port, const struct rcm_result *results, unsigned count,
		       const char *canonname, struct rdma_addrinfo **ret_list);

/* NULL: nothing. */
void rcm_addrinfo_free(struct rdma_addrinfo *list);
