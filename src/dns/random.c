/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that nobody can guess, many at a time. */
#include "dns/random.h"

#include "base/random.h"

enum { STOCK = sizeof(((struct rcm_random *)0)->stock) / sizeof(uint16_t) };

uint16_t rcm_random_take(struct rcm_random *random)
{
	if (!random->left) {
		rcm_random_fill(random->stock, sizeof(random->stock));
		random->left = STOCK;
	}
	return random->stock[--random->left];
}
