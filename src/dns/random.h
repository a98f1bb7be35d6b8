/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that nobody can guess: what protects an answer's id (RFC 5452 9.2). */
#pragma once

#include <stdint.h>

/* A stock of them, zeroed before first use. Not to be used on in the child of a fork. */
struct rcm_random {
	unsigned left;
	uint16_t stock[256];
};

/* 0 or -errno: the kernel gives none, or not yet. There is no weaker source instead. */
int rcm_random_take(struct rcm_random *random, uint16_t *ret_number);
