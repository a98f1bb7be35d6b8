/* SPDX-License-Identifier: BSD-2-Clause */
/* What a registration depends on of its port, read in sysfs. */
#include "publish/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/sysfs.h"

enum { STATE_ACTIVE = 4, PKEY_FULL = 0xffff, PKEY_LIMITED = 0x7fff, TABLE_MAX = 0x10000, GUID_SIZE = 8 };

/* What isn't there, or no number, is 0; an error only where there was no means to look. */
static int look_number(const struct rcm_sa_port *port, const char *name, unsigned long *ret_value)
{
	char line[64];
	int ret = rcm_sysfs_line(line, sizeof(line), "class/infiniband/%s/ports/%u/%s", port->device, port->number,
				 name);

	if (rcm_is_want(ret))
		return ret;
	*ret_value = ret ? 0 : strtoul(line, NULL, 0);
	return 0;
}

/* 0xFFFF, else 0x7FFF, else the first. */
static uint16_t look_prefer(uint16_t best, uint16_t pkey)
{
	if (!pkey || best == PKEY_FULL)
		return best;
	return !best || pkey == PKEY_FULL || pkey == PKEY_LIMITED ? pkey : best;
}

static int look_pkeys(const struct rcm_sa_port *port, struct rcm_publish_port *to)
{
	unsigned hash = 2166136261u;		/* FNV-1a */
	char line[64];
	int ret = 0;

	to->pkey = 0;
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		uint16_t pkey;

		ret = rcm_sysfs_line(line, sizeof(line), "class/infiniband/%s/ports/%u/pkeys/%u", port->device,
				     port->number, i);
		if (ret)
			break;
		pkey = (uint16_t)strtoul(line, NULL, 0);
		to->pkey = look_prefer(to->pkey, pkey);
		hash = (hash ^ pkey) * 16777619u;
	}
	to->pkeys = hash;
	return rcm_is_want(ret) ? ret : 0;
}

/* The port whose first GID has the same lower half. */
static int look_by_guid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	struct rcm_sa_port *ports = calloc(RCM_SA_PORTS_MAX, sizeof(*ports));
	int count, ret = -ENODEV;

	if (!ports)
		return -ENOMEM;
	count = rcm_sa_ports(ports, RCM_SA_PORTS_MAX);
	if (rcm_is_want(count))
		ret = count;
	for (int i = 0; i < count && ret; i++) {
		if (!ports[i].infiniband || memcmp(ports[i].gid.raw + GUID_SIZE, gid->raw + GUID_SIZE, GUID_SIZE) != 0)
			continue;
		*ret_port = ports[i];
		ret = 0;
	}
	free(ports);
	return ret;
}

int rcm_publish_look(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port)
{
	struct rcm_publish_port found = *ret_port;
	unsigned long state, lid, sm_lid;
	struct rcm_sa_port port;
	int ret = rcm_sa_port_by_gid(gid, &port);

	if (ret == -ENODEV)
		ret = look_by_guid(gid, &port);
	if (!ret)
		ret = look_number(&port, "state", &state);
	if (!ret)
		ret = look_number(&port, "lid", &lid);
	if (!ret)
		ret = look_number(&port, "sm_lid", &sm_lid);
	if (!ret && pkeys)
		ret = look_pkeys(&port, &found);
	if (ret)
		return ret;
	found.gid = port.gid;
	found.active = state == STATE_ACTIVE;
	found.lid = (uint16_t)lid;
	found.sm_lid = (uint16_t)sm_lid;
	*ret_port = found;
	return 0;
}
