/* SPDX-License-Identifier: BSD-2-Clause */
/* What a registration depends on of its port, read in sysfs. */
#include "publish/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/sysfs.h"

enum { STATE_ACTIVE = 4, PKEY_FULL = 0xffff, PKEY_LIMITED = 0x7fff, TABLE_MAX = 0x10000, GUID_SIZE = 8 };

static unsigned long look_number(const struct rcm_sa_port *port, const char *name)
{
	char line[64];

	if (rcm_sysfs_line(line, sizeof(line), "class/infiniband/%s/ports/%u/%s", port->device, port->number, name))
		return 0;
	return strtoul(line, NULL, 0);
}

/* 0xFFFF, else 0x7FFF, else the first. */
static uint16_t look_prefer(uint16_t best, uint16_t pkey)
{
	if (!pkey || best == PKEY_FULL)
		return best;
	return !best || pkey == PKEY_FULL || pkey == PKEY_LIMITED ? pkey : best;
}

static void look_pkeys(const struct rcm_sa_port *port, struct rcm_publish_port *to)
{
	unsigned hash = 2166136261u;		/* FNV-1a */
	char line[64];

	to->pkey = 0;
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		uint16_t pkey;

		if (rcm_sysfs_line(line, sizeof(line), "class/infiniband/%s/ports/%u/pkeys/%u", port->device,
				   port->number, i))
			break;
		pkey = (uint16_t)strtoul(line, NULL, 0);
		to->pkey = look_prefer(to->pkey, pkey);
		hash = (hash ^ pkey) * 16777619u;
	}
	to->pkeys = hash;
}

/* The port whose first GID has the same lower half. */
static int look_by_guid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	struct rcm_sa_port *ports = calloc(RCM_SA_PORTS_MAX, sizeof(*ports));
	int count, ret = -ENODEV;

	if (!ports)
		return -ENOMEM;
	count = rcm_sa_ports(ports, RCM_SA_PORTS_MAX);
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
	struct rcm_sa_port port;
	int ret = rcm_sa_port_by_gid(gid, &port);

	if (ret)
		ret = look_by_guid(gid, &port);
	if (ret)
		return ret;
	ret_port->gid = port.gid;
	ret_port->active = look_number(&port, "state") == STATE_ACTIVE;
	ret_port->lid = (uint16_t)look_number(&port, "lid");
	ret_port->sm_lid = (uint16_t)look_number(&port, "sm_lid");
	if (pkeys)
		look_pkeys(&port, ret_port);
	return 0;
}
