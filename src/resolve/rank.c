/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of several service records comes first. */
#include "resolve/rank.h"

#include <string.h>

enum { PREFERENCE_AT = 15, PREFERENCE_NONE = 128, MEMORY_MAX = 16 };

int rcm_rank_compare(const struct rcm_rank *a, const struct rcm_rank *b)
{
	if (a->reached != b->reached)
		return a->reached ? -1 : 1;
	if (a->full != b->full)
		return a->full ? -1 : 1;
	if (a->preference != b->preference)
		return a->preference < b->preference ? -1 : 1;
	return rcm_rank_number(a->spread, b->spread);
}

uint8_t rcm_rank_preference(const uint8_t data[64])
{
	return data[PREFERENCE_AT] ? data[PREFERENCE_AT] : PREFERENCE_NONE;
}

/* FNV-1a, with a last mixing (of MurmurHash3): the ends differ in few bits. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (const uint8_t *at = bytes; len; len--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

uint64_t rcm_rank_spread(const struct rcm_gid *client, const struct rcm_gid *server, uint64_t service_id)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325u, client->raw, sizeof(client->raw));

	hash = hash_bytes(hash, server->raw, sizeof(server->raw));
	hash = hash_bytes(hash, &service_id, sizeof(service_id));
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
	return hash ^ hash >> 33;
}

bool rcm_rank_is_full(struct rcm_rank_memory *memory, const struct rcm_gid *port, uint16_t pkey)
{
	bool full;

	if (!pkey)
		return false;
	/* Where none was seen the P_Key is 0. */
	for (unsigned i = 0; i < MEMORY_MAX; i++)
		if (memory->seen[i].pkey == pkey && !memcmp(&memory->seen[i].port, port, sizeof(*port)))
			return memory->seen[i].full;
	full = rcm_sa_port_is_full_member(port, pkey);
	memory->seen[memory->count % MEMORY_MAX].port = *port;
	memory->seen[memory->count % MEMORY_MAX].pkey = pkey;
	memory->seen[memory->count++ % MEMORY_MAX].full = full;
	return full;
}
