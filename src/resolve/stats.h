/* SPDX-License-Identifier: BSD-2-Clause */
/* What rai_get_stats() shows. Any thread. */
#pragma once

#include <rdma/rai.h>
#include <stdatomic.h>
#include <stdint.h>

/* Events that are counted. */
enum rcm_count {
	RCM_COUNT_STARTED, RCM_COUNT_RESOLVED, RCM_COUNT_FAILED, RCM_COUNT_CANCELLED, RCM_COUNT_KEPT_HITS,
	RCM_COUNT_SHARED, RCM_COUNT_LOOKUPS, RCM_COUNT_TIMEOUTS, RCM_COUNTS
};

struct rcm_stats {
	_Atomic(uint64_t) counts[RCM_COUNTS];
	_Atomic(uint64_t) in_flight, sa_queries, sa_retries;	/* levels, as the engine's last turn found them */
};

void rcm_stats_count(struct rcm_stats *stats, enum rcm_count which);

/* In the child of a fork: of the parent's resolutions these are still under way, and of its lookups none. */
void rcm_stats_rest(struct rcm_stats *stats, unsigned resting);

/* kept: answers kept now. */
void rcm_stats_show(const struct rcm_stats *stats, uint64_t kept, struct rai_stats *ret_stats);
