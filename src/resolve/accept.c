/* SPDX-License-Identifier: BSD-2-Clause */
/* Which service records a resolution takes for good. */
#include "resolve/accept.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static int gid_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct rcm_gid));
}

int rcm_accept_new(bool full, const void *gids, unsigned count, struct rcm_accept **ret_accept)
{
	struct rcm_accept *accept = NULL;

	if (full || count) {
		accept = malloc(sizeof(*accept) + count * sizeof(accept->gids[0]));
		if (!accept)
			return -ENOMEM;
		atomic_init(&accept->refs, 1);
		accept->full = full;
		accept->count = count;
		if (count)
			memcpy(accept->gids, gids, count * sizeof(accept->gids[0]));
		qsort(accept->gids, count, sizeof(accept->gids[0]), gid_compare);
	}
	*ret_accept = accept;
	return 0;
}

struct rcm_accept *rcm_accept_get(struct rcm_accept *accept)
{
	if (accept)
		atomic_fetch_add_explicit(&accept->refs, 1, memory_order_relaxed);
	return accept;
}

void rcm_accept_put(struct rcm_accept *accept)
{
	if (accept && atomic_fetch_sub_explicit(&accept->refs, 1, memory_order_acq_rel) == 1)
		free(accept);
}

bool rcm_accept_takes(const struct rcm_accept *accept, struct rcm_rank_memory *memory, const struct rcm_gid *via,
		      const struct rcm_gid *gid, uint16_t pkey)
{
	if (!accept)
		return true;
	if (accept->count && !bsearch(gid, accept->gids, accept->count, sizeof(*gid), gid_compare))
		return false;
	return !accept->full || rcm_rank_is_full(memory, via, pkey);
}

unsigned rcm_accept_size(const struct rcm_accept *accept)
{
	return accept ? 1 + accept->count * (unsigned)sizeof(accept->gids[0]) : 0;
}

void rcm_accept_write(const struct rcm_accept *accept, uint8_t *to)
{
	if (!accept)
		return;
	*to = accept->full;
	memcpy(to + 1, accept->gids, accept->count * sizeof(accept->gids[0]));
}
