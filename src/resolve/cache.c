/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers kept for later requests. */
#include "resolve/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/table.h"

struct rcm_kept {
	UT_hash_handle hh;
	uint64_t expires;
	struct rcm_answer *answer;
	unsigned key_len;
	uint8_t key[];
};

static size_t weight(const struct rcm_kept *kept)
{
	return sizeof(*kept) + kept->key_len + kept->answer->size;
}

static void drop(struct rcm_cache *cache, struct rcm_kept *kept)
{
	cache->bytes -= weight(kept);
	HASH_DEL(cache->table, kept);
	rcm_answer_put(kept->answer);
	free(kept);
}

static struct rcm_kept *find(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash)
{
	struct rcm_kept *kept;

	HASH_FIND_BYHASHVALUE(hh, cache->table, key, key_len, hash, kept);
	return kept;
}

struct rcm_answer *rcm_cache_find(struct rcm_cache *cache, const void *key, unsigned key_len,
				  unsigned hash, uint64_t now)
{
	struct rcm_kept *kept = find(cache, key, key_len, hash);

	if (!kept)
		return NULL;
	if (kept->expires > now)
		return kept->answer;
	drop(cache, kept);
	return NULL;
}

void rcm_cache_drop(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash)
{
	struct rcm_kept *kept = find(cache, key, key_len, hash);

	if (kept)
		drop(cache, kept);
}

static bool is_full(const struct rcm_cache *cache, size_t more)
{
	return HASH_COUNT(cache->table) >= RCM_KEPT_MAX || cache->bytes + more > RCM_KEPT_BYTES_MAX;
}

/* Makes room. By age, not by time of expiry: a heap of thousands costs a dozen cache misses a name, and what has
 * expired behind others only waits for its turn. */
static void trim(struct rcm_cache *cache, size_t more, uint64_t now)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): drop() has moved the head to the next. */
	while (cache->table && (cache->table->expires <= now || is_full(cache, more)))
		drop(cache, cache->table);
}

void rcm_cache_put(struct rcm_cache *cache, const void *key, unsigned key_len, unsigned hash,
		   struct rcm_answer *answer, uint64_t now, uint64_t expires)
{
	struct rcm_kept *kept;
	size_t more = sizeof(*kept) + key_len + answer->size;

	if (expires <= now || more > RCM_KEPT_BYTES_MAX)
		return;
	trim(cache, more, now);
	kept = malloc(sizeof(*kept) + key_len);
	if (!kept)
		return;
	kept->key_len = key_len;
	memcpy(kept->key, key, key_len);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, cache->table, kept->key, key_len, hash, kept);
	if (!kept->hh.tbl) {
		free(kept);
		return;
	}
	kept->answer = rcm_answer_get(answer);
	kept->expires = expires;
	cache->bytes += more;
}

void rcm_cache_clear(struct rcm_cache *cache)
{
	struct rcm_kept *kept = cache->table, *next;

	HASH_CLEAR(hh, cache->table);
	cache->bytes = 0;
	for (; kept; kept = next) {
		next = kept->hh.next;
		rcm_answer_put(kept->answer);
		free(kept);
	}
}

unsigned rcm_cache_count(const struct rcm_cache *cache)
{
	return HASH_COUNT(cache->table);
}
