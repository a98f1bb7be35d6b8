/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order addresses are to be tried. */
#include "resolve/ways.h"

#include <stdlib.h>
#include <string.h>

void rcm_ways_sort(struct rcm_engine *engine, struct rcm_result *results, unsigned count)
{
	union rcm_dns_address *addresses;

	if (count < 2 || !engine->dns)
		return;
	addresses = calloc(count, sizeof(*addresses));
	if (!addresses)
		return;
	for (unsigned i = 0; i < count; i++)
		memcpy(&addresses[i], &results[i].dst, rcm_sockaddr_len(results[i].dst.sa.sa_family));
	engine->backends.dns->sort(engine->dns, addresses, count);
	for (unsigned i = 0; i < count; i++)
		rcm_sockaddr_copy(&results[i].dst, &addresses[i].sa, 0);
	free(addresses);
}

bool rcm_ways_matter(struct rcm_engine *engine)
{
	bool matter;

	rcm_lock_acquire(&engine->reach_lock);
	matter = rcm_netdevs_any(&engine->reach.netdevs);
	rcm_lock_release(&engine->reach_lock);
	return matter;
}

void rcm_ways_reach(struct rcm_engine *engine, struct rcm_result *results, unsigned count)
{
	rcm_lock_acquire(&engine->reach_lock);
	rcm_reach_order(&engine->reach, results, count);
	rcm_lock_release(&engine->reach_lock);
}
