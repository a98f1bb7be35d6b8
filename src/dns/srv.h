/* SPDX-License-Identifier: BSD-2-Clause */
/* A service by its SRV records (RFC 2782): these, then the addresses of the hosts that they name, as one lookup. */
#pragma once

#include "dns/lookup.h"

/* Who is asked; each as its like in struct rcm_dns_ops. */
struct rcm_srv_ops {
	/* For the records themselves: the answer has those, and what came with them. */
	int (*records)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		       struct rcm_dns_lookup **ret_lookup);

	/* For a host's addresses. */
	int (*host_now)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg);
	int (*host)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		    struct rcm_dns_lookup **ret_lookup);

	/* Whether addresses that came with the records count as what host() would find. */
	bool (*extras_count)(struct rcm_dns *dns, enum rcm_dns_source source);
};

/* All of them that are under way. */
struct rcm_srv_list;

/* 0 or -ENOMEM. */
int rcm_srv_open(struct rcm_loop *loop, const struct rcm_srv_ops *ops, struct rcm_dns *dns,
		 struct rcm_srv_list **ret_list);

/*
 * As start() in struct rcm_dns_ops, but that the name is copied. A target without an address is passed over; where all
 * are, the status is that of the one that could be mended soonest. Those that stay
 * silent are waited for as long as others answer, and RCM_SRV_WAIT_MS after that where one has been found.
 */
int rcm_srv_start(struct rcm_srv_list *list, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup);

/* Frees all without asking back at whoever was asked, who has to be closed after this. NULL: nothing. */
void rcm_srv_close(struct rcm_srv_list *list);
