/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash: a number that nobody who doesn't know the key can tell from one of chance. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Rounds for each word and at the end: 2 and 4 in the paper, whose vectors test it. Pure. */
uint64_t rcm_siphash(const uint8_t with[16], unsigned word_rounds, unsigned end_rounds, const void *bytes, size_t len);
