/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that nobody can guess, many at a time. */
#include "dns/random.h"

#include <sys/random.h>

#include "base/err.h"

enum { STOCK = sizeof(((struct rcm_random *)0)->stock) / sizeof(uint16_t) };

int rcm_random_take(struct rcm_random *random, uint16_t *ret_number)
{
	ssize_t n;

	if (!random->left) {
		n = getrandom(random->stock, sizeof(random->stock), GRND_NONBLOCK);
		if (n < 0)
			return rcm_errno();
		random->left = (unsigned)n / sizeof(uint16_t);
	}
	if (!random->left || random->left > STOCK)
		return -EIO;
	*ret_number = random->stock[--random->left];
	return 0;
}
