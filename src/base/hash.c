/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash (Aumasson and Bernstein, 2012), with a key that this process alone knows. */
#include "base/hash.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

/* Rounds for each word and at the end: 2 and 4 in the paper, whose vectors test it; 1 and 3 are enough for tables, of
 * which nobody sees the hashes. */
enum { WORD_ROUNDS = 1, END_ROUNDS = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint8_t key[16];

static uint64_t hash_rotated(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static uint64_t word_of(const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, bytes, len);
	return le64toh(word);
}

static void hash_mix(uint64_t v[4], unsigned rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = hash_rotated(v[1], 13) ^ v[0];
		v[3] = hash_rotated(v[3], 16) ^ v[2];
		v[0] = hash_rotated(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = hash_rotated(v[1], 17) ^ v[2];
		v[3] = hash_rotated(v[3], 21) ^ v[0];
		v[2] = hash_rotated(v[2], 32);
	}
}

static void hash_take(uint64_t v[4], uint64_t word, unsigned rounds)
{
	v[3] ^= word;
	hash_mix(v, rounds);
	v[0] ^= word;
}

uint64_t rcm_hash_with(const uint8_t with[16], unsigned word_rounds, unsigned end_rounds,
		       const void *bytes, size_t len)
{
	uint64_t k0 = word_of(with, 8), k1 = word_of(with + 8, 8);
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	};
	const uint8_t *at = bytes;
	size_t left = len;

	for (; left >= 8; left -= 8, at += 8)
		hash_take(v, word_of(at, 8), word_rounds);
	hash_take(v, (uint64_t)len << 56 | word_of(at, left), word_rounds);
	v[2] ^= 0xff;
	hash_mix(v, end_rounds);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The kernel's gift to each program stands in where there is no randomness yet, early in a boot. */
static void hash_make_key(void)
{
	const void *gift = (const void *)getauxval(AT_RANDOM);

	if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key) && gift)
		memcpy(key, gift, sizeof(key));
}

unsigned rcm_hash(const void *bytes, size_t len)
{
	pthread_once(&once, hash_make_key);
	return (unsigned)rcm_hash_with(key, WORD_ROUNDS, END_ROUNDS, bytes, len);
}
