/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of several service records comes first. */
#pragma once

#include "sa/sa.h"

/* The best first: what can be reached, then of a partition of which the port is a full member (a limited one may not
 * speak with its likes), then as the publisher prefers, then as chance has it, always the same for one client. */
struct rcm_rank {
	bool reached, full;
	uint8_t preference;
	uint64_t spread;
};

int rcm_rank_compare(const struct rcm_rank *a, const struct rcm_rank *b);

/* -1, 0, 1 */
static inline int rcm_rank_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The last octet of ServiceData8, 1 the best and 255 the last; 0, as it is where nothing was said, counts as 128. */
uint8_t rcm_rank_preference(const uint8_t data[64]);

/* Clients spread over the records of a service that are alike otherwise, each with an order of its own. */
uint64_t rcm_rank_spread(const struct rcm_gid *client, const struct rcm_gid *server, uint64_t service_id);

/* Partitions that were looked up; zeros: none. */
struct rcm_rank_memory {
	struct {
		struct rcm_gid port;
		uint16_t pkey;
		bool full;
	} seen[16];
	unsigned count;
};

/* Whether a port is a full member of a partition; 0 is none. Reads files, each partition's once. */
bool rcm_rank_is_full(struct rcm_rank_memory *memory, const struct rcm_gid *port, uint16_t pkey);
