/* SPDX-License-Identifier: BSD-2-Clause */
/* Which destinations the kernel's routes can't tell apart, so that one question to it serves for all of them. */
#pragma once

#include "dns/dns.h"

/* The prefix of a route, of any table, or of a rule. */
struct rcm_block {
	uint8_t family, bits;
	uint8_t prefix[16];
};

/* All of them. Zeroed: none is known. */
struct rcm_blocks {
	unsigned count;
	struct rcm_block *blocks;
	bool blind[2];		/* IPv4, IPv6: nothing can be said: there are too many, or routes of several ways */
};

/* Reads them anew: 0 or -errno, and none is known then. */
int rcm_blocks_read(struct rcm_blocks *blocks);
void rcm_blocks_clear(struct rcm_blocks *blocks);

/* Adds one; 0, or -ENOMEM. */
int rcm_blocks_add(struct rcm_blocks *blocks, const struct rcm_block *block);

/*
 * The longest prefix that an address is in. Two addresses with the same one are in the same prefixes of every table, so
 * they have the same route. -1: nothing can be said of it.
 */
int rcm_blocks_find(const struct rcm_blocks *blocks, const union rcm_dns_address *address);
