/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers kept for later requests, by key, until their time is over; limited in number and bytes. Any thread. */
#pragma once

#include "base/lock.h"
#include "resolve/answer.h"

struct rcm_kept;

/* Zeroed: empty. */
struct rcm_cache {
	struct rcm_lock lock;
	struct rcm_kept *table RCM_GUARDED_BY(lock);	/* in the order they were put */
	size_t bytes RCM_GUARDED_BY(lock);
};

/* The answer kept under a key, a reference of its own to it; or NULL. now in ns of rcm_clock_boot(); one
 * that has expired is dropped. */
struct rcm_answer *rcm_cache_find(struct rcm_cache *cache, const void *key, unsigned key_len,
				  unsigned hash, uint64_t now);

/* Drops what is kept under a key, if anything is. */
void rcm_cache_drop(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash);

/*
 * Keeps an answer (taking a reference of its own) until expires. Nothing must be kept under the key: whoever puts has
 * looked before, and a second look costs cache misses. One thread puts. The oldest give way where there are too many.
 * Without memory for it, it isn't kept.
 */
void rcm_cache_put(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash,
		   struct rcm_answer *answer, uint64_t now, uint64_t expires);

void rcm_cache_clear(struct rcm_cache *cache);

unsigned rcm_cache_count(struct rcm_cache *cache);
