/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions under way, by id. */
#include "dns/carried.h"

#include <errno.h>

/* Few of the 65,536 are taken at any time. */
int rcm_carried_register(struct rcm_carry *carry, struct rcm_carried **table, struct rcm_carried *carried)
{
	do {
		if (rcm_random_take(&carry->random, &carried->id))
			return -ENOKEY;
	} while (rcm_carried_find(*table, carried->id));
	HASH_ADD(hh, *table, id, sizeof(carried->id), carried);
	return carried->hh.tbl ? 0 : -ENOMEM;
}

struct rcm_carried *rcm_carried_find(struct rcm_carried *table, uint16_t id)
{
	struct rcm_carried *carried;

	HASH_FIND(hh, table, &id, sizeof(id), carried);
	return carried;
}

void rcm_carried_unregister(struct rcm_carried **table, struct rcm_carried *carried)
{
	HASH_DEL(*table, carried);
}
