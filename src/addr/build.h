/* SPDX-License-Identifier: BSD-2-Clause */
/* The only maker and freer of struct rdma_addrinfo lists. */
#pragma once

#include <rdma/rdma_cma.h>

#include "addr/hints.h"
#include "base/limits.h"

/* What else than its address a service record holds. */
struct rcm_service_rest {
	uint16_t pkey;				/* as it was registered; 0: none */
	uint32_t lease;				/* seconds */
	char name[65];				/* NUL-terminated */
	uint8_t data[64];			/* as on the wire */
};

/* The SRV record that a result comes from; port in host order. */
struct rcm_srv_rest {
	uint16_t priority, weight, port;
	char target[RCM_NODE_MAX + 1];
};

/* One result. For RAI_PASSIVE dst is what becomes ai_src_addr. */
struct rcm_result {
	union rcm_sockaddr dst;
	union rcm_sockaddr src;			/* sa_family 0: none */
	const struct ibv_path_data *route;	/* NULL: none */
	unsigned routes;
	const struct rcm_service_rest *service;	/* RAI_SA: the rest of its record; NULL: not known */
	const struct rcm_srv_rest *srv;		/* RAI_SRV: its record, which has its port */
	bool as_given;				/* passed on: either address may be none, and nothing is set in them */
};

/*
 * Makes a list of count (at least one) results as the contract says: port, flags, qp type and port space from hints;
 * canonname (may be NULL) on the first entry. Where hints leave both transports open each address comes once, as RC
 * with RDMA_PS_TCP. One allocation for the whole list. 0 or -ENOMEM.
 */
int rcm_addrinfo_build(const struct rcm_hints *hints, uint16_t port, const struct rcm_result *results, unsigned count,
		       const char *canonname, struct rdma_addrinfo **ret_list);

/* The rest of the record of an entry of such a list, which has it as long as the list is; NULL: it has none. */
const struct rcm_service_rest *rcm_addrinfo_service(const struct rdma_addrinfo *ai);

/* The same of an SRV record. */
const struct rcm_srv_rest *rcm_addrinfo_srv(const struct rdma_addrinfo *ai);

/* NULL: nothing. */
void rcm_addrinfo_free(struct rdma_addrinfo *list);
