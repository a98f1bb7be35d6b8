/* SPDX-License-Identifier: BSD-2-Clause */
/* Letters of names, which are ASCII's whatever the locale of the process: RFC 4343. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline uint8_t rcm_ascii_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static inline bool rcm_ascii_same(const char *a, const char *b)
{
	while (*a && rcm_ascii_lower((uint8_t)*a) == rcm_ascii_lower((uint8_t)*b)) {
		a++;
		b++;
	}
	return *a == *b;
}
