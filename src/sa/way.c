/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to an SA: a local port, open or not, and where its SM is. */
#include "sa/way.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/tell.h"
#include "sa/wire.h"

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

int rcm_way_send(struct rcm_way *way, unsigned agent, const uint8_t *mad, unsigned listen_ms)
{
	int ret = way->ops->send(way->umad, agent, &way->address, mad, listen_ms);

	if (ret)
		rcm_tell(RCM_TELL_QUESTION, "%s can't be sent through %s/%u: errno %d", rcm_wire_subject(mad),
			 way->port.device, way->port.number, -ret);
	else
		rcm_tell(RCM_TELL_QUESTION, "%s at the SA at LID %u, through %s/%u", rcm_wire_subject(mad),
			 way->address.lid, way->port.device, way->port.number);
	return ret;
}

int rcm_way_recv(struct rcm_way *way, struct rcm_umad_message *ret_message)
{
	int ret = way->ops->recv(way->umad, ret_message);

	if (!ret && ret_message->len >= RCM_MAD_HEADER_SIZE)
		rcm_tell(RCM_TELL_ANSWER, "%s of the SA%s", rcm_wire_subject(ret_message->mad),
			 ret_message->timed_out ? ": none, the kernel gave up" : "");
	return ret;
}
