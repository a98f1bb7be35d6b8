/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash (Aumasson and Bernstein, 2012). */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static uint64_t sip_rotated(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static uint64_t sip_word_of(const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, bytes, len);
	return le64toh(word);
}

static void sip_mix(uint64_t v[4], unsigned rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = sip_rotated(v[1], 13) ^ v[0];
		v[3] = sip_rotated(v[3], 16) ^ v[2];
		v[0] = sip_rotated(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = sip_rotated(v[1], 17) ^ v[2];
		v[3] = sip_rotated(v[3], 21) ^ v[0];
		v[2] = sip_rotated(v[2], 32);
	}
}

static void sip_take(uint64_t v[4], uint64_t word, unsigned rounds)
{
	v[3] ^= word;
	sip_mix(v, rounds);
	v[0] ^= word;
}

uint64_t rcm_siphash(const uint8_t with[16], unsigned word_rounds, unsigned end_rounds, const void *bytes, size_t len)
{
	uint64_t k0 = sip_word_of(with, 8), k1 = sip_word_of(with + 8, 8);
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	};
	const uint8_t *at = bytes;
	size_t left = len;

	for (; left >= 8; left -= 8, at += 8)
		sip_take(v, sip_word_of(at, 8), word_rounds);
	sip_take(v, (uint64_t)len << 56 | sip_word_of(at, left), word_rounds);
	v[2] ^= 0xff;
	sip_mix(v, end_rounds);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
