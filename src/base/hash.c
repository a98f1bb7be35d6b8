/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash with a key that this process alone knows. */
#include "base/hash.h"

#include <pthread.h>

#include "base/random.h"
#include "base/siphash.h"

/* Enough for tables, of which nobody sees the hashes. */
enum { WORD_ROUNDS = 1, END_ROUNDS = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint8_t key[16];

static void hash_make_key(void)
{
	rcm_random_fill(key, sizeof(key));
}

unsigned rcm_hash(const void *bytes, size_t len)
{
	pthread_once(&once, hash_make_key);
	return (unsigned)rcm_siphash(key, WORD_ROUNDS, END_ROUNDS, bytes, len);
}
