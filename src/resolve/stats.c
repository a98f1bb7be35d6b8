/* SPDX-License-Identifier: BSD-2-Clause */
/* What rai_get_stats() shows. */
#include "resolve/stats.h"

void rcm_stats_count(struct rcm_stats *stats, enum rcm_count which)
{
	atomic_fetch_add_explicit(&stats->counts[which], 1, memory_order_release);
}

static uint64_t counted(const struct rcm_stats *stats, enum rcm_count which)
{
	return atomic_load_explicit(&stats->counts[which], memory_order_acquire);
}

static uint64_t level(const _Atomic(uint64_t) *level)
{
	return atomic_load_explicit(level, memory_order_relaxed);
}

void rcm_stats_show(const struct rcm_stats *stats, uint64_t kept, struct rai_stats *ret_stats)
{
	/* The ends before the starts, so that outstanding is never negative: what is seen to have ended was counted as
	 * started before, and loads that acquire stay in this order. */
	uint64_t resolved = counted(stats, RCM_COUNT_RESOLVED), failed = counted(stats, RCM_COUNT_FAILED);
	uint64_t cancelled = counted(stats, RCM_COUNT_CANCELLED), started = counted(stats, RCM_COUNT_STARTED);

	*ret_stats = (struct rai_stats){
		.started = started, .resolved = resolved, .failed = failed, .cancelled = cancelled,
		.kept_hits = counted(stats, RCM_COUNT_KEPT_HITS), .shared = counted(stats, RCM_COUNT_SHARED),
		.lookups = counted(stats, RCM_COUNT_LOOKUPS), .timeouts = counted(stats, RCM_COUNT_TIMEOUTS),
		.sa_queries = level(&stats->sa_queries), .sa_retries = level(&stats->sa_retries),
		.outstanding = started - resolved - failed - cancelled,
		.in_flight = level(&stats->in_flight), .kept = kept,
	};
}
