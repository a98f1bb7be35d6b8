/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that nobody can guess: what protects an answer's id (RFC 5452 9.2). */
#pragma once

#include <stdint.h>

/* A stock of them, zeroed before first use. Not to be used on in the child of a fork. */
struct rcm_random {
	unsigned left;
	uint16_t stock[256];
};

uint16_t rcm_random_take(struct rcm_random *random);
