/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to an SA: a local port, open or not, and where its SM is. */
#include "sa/way.h"

#include <errno.h>
#include <stdio.h>

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

/* DEVICE/PORT. */
enum { WAY_NAME_MAX = sizeof(((struct rcm_sa_port *)NULL)->device) + sizeof("/255") };

static struct rcm_tell_facts way_facts(const struct rcm_way *way, char name[WAY_NAME_MAX])
{
	snprintf(name, WAY_NAME_MAX, "%s/%u", way->port.device, way->port.number);
	return (struct rcm_tell_facts) { .server = name, .ttl_s = -1, .kept_s = -1 };
}

int rcm_way_send(struct rcm_way *way, unsigned agent, const uint8_t *mad, unsigned listen_ms)
{
	int ret = way->ops->send(way->umad, agent, &way->address, mad, listen_ms);
	struct rcm_tell_facts facts;
	char name[WAY_NAME_MAX];

	if (!rcm_tell_wants())
		return ret;
	facts = way_facts(way, name);
	if (ret)
		rcm_tell_facts(RCM_TELL_QUESTION, &facts, "%s can't be sent through %s: errno %d",
			       rcm_wire_subject(mad), name, -ret);
	else
		rcm_tell_facts(RCM_TELL_QUESTION, &facts, "%s at the SA at LID %u, through %s", rcm_wire_subject(mad),
			       way->address.lid, name);
	return ret;
}

int rcm_way_recv(struct rcm_way *way, struct rcm_umad_message *ret_message)
{
	int ret = way->ops->recv(way->umad, ret_message);
	struct rcm_tell_facts facts;
	char name[WAY_NAME_MAX];

	if (ret || ret_message->len < RCM_MAD_HEADER_SIZE || !rcm_tell_wants())
		return ret;
	facts = way_facts(way, name);
	facts.status = ret_message->timed_out ? -ETIMEDOUT : 0;
	rcm_tell_facts(RCM_TELL_ANSWER, &facts, "%s of the SA%s", rcm_wire_subject(ret_message->mad),
		       ret_message->timed_out ? ": none, the kernel gave up" : "");
	return ret;
}
