/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts that SRV records name, and what has been found of each. Pure. */
#pragma once

#include "dns/dns.h"

struct rcm_targets;

/* A host; several records may name it. */
struct rcm_target {
	struct rcm_targets *all;
	char name[RCM_NODE_MAX + 1];
	int family;				/* that is still to be found; AF_UNSPEC: both */
	bool over;				/* nobody has to be asked about it any more */
	unsigned first, count;			/* its addresses among those of all */
};

/* Zeroed: none. */
struct rcm_targets {
	unsigned count, found;			/* all; those with addresses */
	struct rcm_target *targets;
	unsigned records_count, addresses_count;
	struct rcm_dns_srv *records;
	union rcm_dns_address *addresses;	/* a target's stand together */
	uint32_t ttl;				/* the least of all that counts */
	int missing;				/* a family that stayed silent at some target; 0: none */
	int status, code;			/* where nothing was found: the end that is told of; 0: none yet */
	char *text;				/* and why, or NULL */
};

/* Takes the hosts of an answer with records, once. Of each family is wanted. False: no memory. */
bool rcm_targets_take(struct rcm_targets *targets, const struct rcm_dns_answer *answer, int family);

/*
 * What came with the records of a target that nothing is known of. It is over where that has all the wanted families;
 * where it has one of both, the other is still to be found. False: no memory.
 */
bool rcm_target_take_extras(struct rcm_target *target, const struct rcm_dns_answer *answer);

/* Addresses that it has besides, up to RCM_SRV_ADDRESSES_MAX in all. False: no memory. */
bool rcm_target_add(struct rcm_target *target, const union rcm_dns_address *addresses, unsigned count);

/* It is over, as the answer of whoever was asked about it says. False: no memory. */
bool rcm_target_end(struct rcm_target *target, const struct rcm_dns_answer *answer);

/* Calls done with what was found: something, or the failure that could be mended soonest. */
void rcm_targets_tell(const struct rcm_targets *targets, uint32_t ttl, const char *name, rcm_dns_done_fn *done,
		      void *arg);

/* Frees what it holds. */
void rcm_targets_clear(struct rcm_targets *targets);
