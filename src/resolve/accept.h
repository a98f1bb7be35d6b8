/* SPDX-License-Identifier: BSD-2-Clause */
/* Which service records a resolution takes for good: immutable once made, shared by reference. Any thread. */
#pragma once

#include <stdatomic.h>

#include "base/limits.h"
#include "resolve/rank.h"

/* NULL: all. */
struct rcm_accept {
	atomic_uint refs;
	bool full;				/* of partitions alone that the port is a full member of */
	unsigned count;				/* of these GIDs alone; 0: of any */
	struct rcm_gid gids[];			/* sorted */
};

/* 0 or -ENOMEM; *ret_accept is NULL where all are taken. gids: count of 16 bytes each. */
int rcm_accept_new(bool full, const void *gids, unsigned count, struct rcm_accept **ret_accept);

/* NULL: nothing. */
struct rcm_accept *rcm_accept_get(struct rcm_accept *accept);
void rcm_accept_put(struct rcm_accept *accept);

/* A record of that GID in that partition (0: in none that it tells), seen through a port. Reads a port's P_Keys, each
 * partition's once for a memory. */
bool rcm_accept_takes(const struct rcm_accept *accept, struct rcm_rank_memory *memory, const struct rcm_gid *via,
		      const struct rcm_gid *gid, uint16_t pkey);

/* The bytes that tell it from others, for a key: so many, and writes them. */
unsigned rcm_accept_size(const struct rcm_accept *accept);
void rcm_accept_write(const struct rcm_accept *accept, uint8_t *to);
