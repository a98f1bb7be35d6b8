/* SPDX-License-Identifier: BSD-2-Clause */
/* What rai_get_stats() shows. */
#include "resolve/stats.h"

void rcm_stats_count(struct rcm_stats *stats, enum rcm_count which)
{
	atomic_fetch_add_explicit(&stats->counts[which], 1, memory_order_release);
}

static uint64_t stats_of(const struct rcm_stats *stats, enum rcm_count which)
{
	return atomic_load_explicit(&stats->counts[which], memory_order_acquire);
}

static uint64_t stats_level(const _Atomic(uint64_t) *level)
{
	return atomic_load_explicit(level, memory_order_relaxed);
}

/* Started, and not ended; 0 also where another thread's start isn't seen yet. */
static uint64_t stats_outstanding(uint64_t started, uint64_t ended)
{
	return started > ended ? started - ended : 0;
}

void rcm_stats_rest(struct rcm_stats *stats, unsigned resting)
{
	uint64_t ended = stats_of(stats, RCM_COUNT_RESOLVED) + stats_of(stats, RCM_COUNT_FAILED) +
			 stats_of(stats, RCM_COUNT_CANCELLED);
	uint64_t outstanding = stats_outstanding(stats_of(stats, RCM_COUNT_STARTED), ended);

	if (outstanding > resting)
		atomic_fetch_add(&stats->counts[RCM_COUNT_CANCELLED], outstanding - resting);
	atomic_store_explicit(&stats->in_flight, 0, memory_order_relaxed);
}

void rcm_stats_show(const struct rcm_stats *stats, uint64_t kept, struct rai_stats *ret_stats)
{
	/* The ends before the starts, so that outstanding is never negative: what is seen to have ended was counted as
	 * started before, and loads that acquire stay in this order. */
	uint64_t resolved = stats_of(stats, RCM_COUNT_RESOLVED), failed = stats_of(stats, RCM_COUNT_FAILED);
	uint64_t cancelled = stats_of(stats, RCM_COUNT_CANCELLED), started = stats_of(stats, RCM_COUNT_STARTED);

	*ret_stats = (struct rai_stats){
		.started = started, .resolved = resolved, .failed = failed, .cancelled = cancelled,
		.kept_hits = stats_of(stats, RCM_COUNT_KEPT_HITS), .shared = stats_of(stats, RCM_COUNT_SHARED),
		.lookups = stats_of(stats, RCM_COUNT_LOOKUPS), .timeouts = stats_of(stats, RCM_COUNT_TIMEOUTS),
		.sa_queries = stats_level(&stats->sa_queries), .sa_retries = stats_level(&stats->sa_retries),
		.outstanding = stats_outstanding(started, resolved + failed + cancelled),
		.in_flight = stats_level(&stats->in_flight), .kept = kept,
	};
}
