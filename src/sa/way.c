/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to an SA: a local port, open or not, and where its SM is. */
#include "sa/way.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"

/* How long an address read from sysfs is believed. */
#define ADDRESS_NS (1 * RCM_NS_PER_S)

int rcm_way_open(struct rcm_way *way)
{
	struct rcm_gid gid = way->port.gid;
	int ret = way->ops->find(&gid, &way->port);

	if (!ret)
		ret = way->ops->open(&way->port, &way->umad);
	return ret == -EPERM ? -EACCES : ret;
}

void rcm_way_close(struct rcm_way *way)
{
	way->ops->close(way->umad);
	way->umad = NULL;
	way->address_until = 0;
}

int rcm_way_look(struct rcm_way *way, bool in_doubt)
{
	uint16_t before = way->address.lid;
	int ret;

	way->address_until = 0;
	ret = way->ops->address(way->umad, in_doubt, &way->address);
	if (ret)
		return ret;
	if (before && before != way->address.lid) {
		rcm_info("sa: the SM of %s/%u is at LID %u now", way->port.device, way->port.number,
			 way->address.lid);
		way->moved_at = rcm_clock_now();
	}
	way->address_until = rcm_clock_now() + ADDRESS_NS;
	return 0;
}
