/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers kept for later requests. */
#include "resolve/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "resolve/key.h"

struct rcm_kept {
	UT_hash_handle hh;
	uint64_t expires;
	struct rcm_answer *answer;
	unsigned key_len;
	uint8_t key[];
};

static size_t kept_weight(const struct rcm_kept *kept)
{
	return sizeof(*kept) + kept->key_len + kept->answer->size;
}

static void kept_free(struct rcm_kept *kept)
{
	rcm_answer_put(kept->answer);
	free(kept);
}

static void kept_drop_locked(struct rcm_cache *cache, struct rcm_kept *kept) RCM_REQUIRES(&cache->lock)
{
	rcm_lock_assert_held(&cache->lock);
	cache->bytes -= kept_weight(kept);
	HASH_DEL(cache->table, kept);
	kept_free(kept);
}

static struct rcm_kept *kept_find_locked(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash)
	RCM_REQUIRES(&cache->lock)
{
	struct rcm_kept *kept;

	rcm_lock_assert_held(&cache->lock);
	HASH_FIND_BYHASHVALUE(hh, cache->table, key, key_len, hash, kept);
	return kept;
}

struct rcm_answer *rcm_cache_find(struct rcm_cache *cache, const void *key, unsigned key_len,
				  unsigned hash, uint64_t now)
{
	struct rcm_answer *answer = NULL;
	struct rcm_kept *kept;

	rcm_lock_acquire(&cache->lock);
	kept = kept_find_locked(cache, key, key_len, hash);
	if (kept && kept->expires > now)
		answer = rcm_answer_get(kept->answer);
	else if (kept)
		kept_drop_locked(cache, kept);
	rcm_lock_release(&cache->lock);
	return answer;
}

void rcm_cache_drop(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash)
{
	struct rcm_kept *kept;

	rcm_lock_acquire(&cache->lock);
	kept = kept_find_locked(cache, key, key_len, hash);
	if (kept)
		kept_drop_locked(cache, kept);
	rcm_lock_release(&cache->lock);
}

static bool is_full_locked(struct rcm_cache *cache, size_t more) RCM_REQUIRES(&cache->lock)
{
	rcm_lock_assert_held(&cache->lock);
	return HASH_COUNT(cache->table) >= RCM_KEPT_MAX || cache->bytes + more > RCM_KEPT_BYTES_MAX;
}

/* Makes room. By age, not by time of expiry: a heap of thousands costs a dozen cache misses a name, and what has
 * expired behind others only waits for its turn. */
static void cache_trim_locked(struct rcm_cache *cache, size_t more, uint64_t now) RCM_REQUIRES(&cache->lock)
{
	rcm_lock_assert_held(&cache->lock);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the drop has moved the head to the next. */
	while (cache->table && (cache->table->expires <= now || is_full_locked(cache, more)))
		kept_drop_locked(cache, cache->table);
}

static struct rcm_kept *kept_new(const void *key, unsigned key_len, struct rcm_answer *answer, uint64_t expires)
{
	struct rcm_kept *kept = malloc(sizeof(*kept) + key_len);

	if (!kept)
		return NULL;
	kept->key_len = key_len;
	memcpy(kept->key, key, key_len);
	kept->answer = rcm_answer_get(answer);
	kept->expires = expires;
	return kept;
}

void rcm_cache_put(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash,
		   struct rcm_answer *answer, uint64_t now, uint64_t expires)
{
	struct rcm_kept *kept;
	size_t more = sizeof(*kept) + key_len + answer->size;

	if (expires <= now || more > RCM_KEPT_BYTES_MAX)
		return;
	kept = kept_new(key, key_len, answer, expires);
	if (!kept)
		return;
	rcm_lock_acquire(&cache->lock);
	cache_trim_locked(cache, more, now);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, cache->table, kept->key, key_len, hash, kept);
	if (kept->hh.tbl)
		cache->bytes += more;
	else
		kept_free(kept);
	rcm_lock_release(&cache->lock);
}

void rcm_cache_clear(struct rcm_cache *cache)
{
	struct rcm_kept *kept, *next;

	rcm_lock_acquire(&cache->lock);
	kept = cache->table;
	HASH_CLEAR(hh, cache->table);
	cache->bytes = 0;
	rcm_lock_release(&cache->lock);
	for (; kept; kept = next) {
		next = kept->hh.next;
		kept_free(kept);
	}
}

unsigned rcm_cache_count(struct rcm_cache *cache)
{
	unsigned count;

	rcm_lock_acquire(&cache->lock);
	count = HASH_COUNT(cache->table);
	rcm_lock_release(&cache->lock);
	return count;
}
