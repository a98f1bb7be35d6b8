/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of local ports in sysfs. */
#include "sa/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sysfs.h"

enum { STATE_ACTIVE = 4, LID_UNICAST_MAX = 0xbfff };
enum { PKEY_FULL = 0xffff, PKEY_LIMITED = 0x7fff, PKEY_IS_FULL = 0x8000, TABLE_MAX = 0x10000 };
enum { SEATS = 8 };			/* of GIDs, for each thread */

/* IBTA volume 1, 4.1.1: the SA's well-known GUID, in the subnet's own prefix. */
static const uint8_t sa_guid[8] = { 0x02, 0, 0, 0, 0, 0, 0, 0x02 };

int rcm_port_mad_module(void)
{
	char line[16];
	int ret = rcm_sysfs_line(line, sizeof(line), "class/infiniband_mad/abi_version");

	return !ret || rcm_is_want(ret) ? ret : -ENODEV;
}

/* One line of a file of a port. */
static int read_line(const char *device, unsigned number, const char *name, char *line, size_t size)
{
	return rcm_sysfs_line(line, size, "class/infiniband/%s/ports/%u/%s", device, number, name);
}

/* The same of a file of a table, "gids" or "pkeys". */
static int read_entry(const char *device, unsigned number, const char *table, unsigned index, char *line, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "%s/%u", table, index);
	return read_line(device, number, name, line, size);
}

static int read_number(const char *device, unsigned number, const char *name, unsigned long *ret_value)
{
	char line[64];
	int ret = read_line(device, number, name, line, sizeof(line));

	if (!ret)
		*ret_value = strtoul(line, NULL, 0);
	return ret;
}

static int read_gid(const char *device, unsigned number, unsigned index, struct rcm_gid *ret_gid)
{
	char line[64];
	int ret = read_entry(device, number, "gids", index, line, sizeof(line));

	if (!ret && inet_pton(AF_INET6, line, ret_gid->raw) != 1)
		ret = -EIO;
	return ret;
}

int rcm_port_pkey(const char *device, unsigned number, uint16_t *ret_pkey, uint16_t *ret_index)
{
	uint16_t best = 0, best_index = 0;
	char line[64];

	for (unsigned i = 0; i < TABLE_MAX && best != PKEY_FULL; i++) {
		int ret = read_entry(device, number, "pkeys", i, line, sizeof(line));
		uint16_t pkey;

		if (rcm_is_want(ret))
			return ret;
		if (ret)
			break;
		/* A place may be empty, the first too. */
		pkey = (uint16_t)strtoul(line, NULL, 0);
		if (!pkey || (best && pkey != PKEY_FULL && (pkey != PKEY_LIMITED || best == PKEY_LIMITED)))
			continue;
		best = pkey;
		best_index = (uint16_t)i;
	}
	if (!best)
		return -ENODEV;
	*ret_pkey = best;
	*ret_index = best_index;
	return 0;
}

int rcm_port_address(const struct rcm_sa_port *port, struct rcm_sa_address *ret_address)
{
	unsigned long state, lid, sm_lid, sm_sl;
	int ret = read_number(port->device, port->number, "state", &state);

	if (ret)
		return rcm_is_want(ret) ? ret : -ENODEV;
	if (state != STATE_ACTIVE)
		return -ENETDOWN;
	ret = read_number(port->device, port->number, "sm_lid", &sm_lid);
	if (!ret)
		ret = read_number(port->device, port->number, "sm_sl", &sm_sl);
	if (!ret)
		ret = read_number(port->device, port->number, "lid", &lid);
	if (ret)
		return rcm_is_want(ret) ? ret : -ENETDOWN;
	if (!sm_lid || sm_lid > LID_UNICAST_MAX)
		return -ENETDOWN;
	ret_address->lid = (uint16_t)sm_lid;
	ret_address->sl = (uint8_t)sm_sl;
	ret_address->global = !lid;
	memcpy(ret_address->gid.raw, port->gid.raw, 8);
	memcpy(ret_address->gid.raw + 8, sa_guid, sizeof(sa_guid));
	return 0;
}

static bool gid_is_zero(const struct rcm_gid *gid)
{
	static const struct rcm_gid zero;

	return !memcmp(gid, &zero, sizeof(zero));
}

/* Old kernels, and the simulator, know no other link layer than InfiniBand, and don't name it. An error only where
 * there was no means to look. */
static int read_is_infiniband(const char *device, unsigned number, bool *ret_infiniband)
{
	char line[64];
	int ret = read_line(device, number, "link_layer", line, sizeof(line));

	if (rcm_is_want(ret))
		return ret;
	*ret_infiniband = ret || !strcmp(line, "InfiniBand") || !strcmp(line, "IB");
	return 0;
}

/* A file without a number is as one of 0. */
static int read_number_or_0(const char *device, unsigned number, const char *name, unsigned long *ret_value)
{
	int ret;

	*ret_value = 0;
	ret = read_number(device, number, name, ret_value);
	return rcm_is_want(ret) ? ret : 0;
}

static int port_read_gid(const char *device, unsigned number, struct rcm_sa_port *port)
{
	int ret = read_gid(device, number, 0, &port->gid);

	if (ret)
		memset(&port->gid, 0, sizeof(port->gid));
	return rcm_is_want(ret) ? ret : 0;
}

static int port_read_routing(const char *device, unsigned number, struct rcm_sa_port *port)
{
	unsigned long lid = 0, lmc = 0, sm_lid = 0;
	int ret = port_read_gid(device, number, port);

	if (!ret && port->infiniband)
		ret = read_number_or_0(device, number, "lid", &lid);
	if (!ret && port->infiniband)
		ret = read_number_or_0(device, number, "lid_mask_count", &lmc);
	if (!ret && port->infiniband)
		ret = read_number_or_0(device, number, "sm_lid", &sm_lid);
	port->lid = (uint16_t)lid;
	port->lmc = (uint8_t)lmc;
	port->sm_lid = (uint16_t)sm_lid;
	return ret;
}

/* What it is and whether it is up. */
static int port_read(const char *device, unsigned number, struct rcm_sa_port *ret_port)
{
	struct rcm_sa_port port = { .number = (uint8_t)number };
	unsigned long state;
	int ret;

	if (snprintf(port.device, sizeof(port.device), "%s", device) >= (int)sizeof(port.device))
		return -ENAMETOOLONG;
	ret = read_number(device, number, "state", &state);
	if (!ret)
		ret = read_is_infiniband(device, number, &port.infiniband);
	if (ret)
		return ret;
	port.active = state == STATE_ACTIVE;
	*ret_port = port;
	return 0;
}

struct walk {
	int (*fn)(const char *device, unsigned number, void *arg);
	void *arg;
	const char *device;
};

static int walk_port(const char *name, void *arg)
{
	struct walk *walk = arg;
	unsigned long number = strtoul(name, NULL, 10);

	return number && number <= UINT8_MAX ? walk->fn(walk->device, (unsigned)number, walk->arg) : 0;
}

static int walk_device(const char *name, void *arg)
{
	struct walk *walk = arg;

	walk->device = name;
	return rcm_sysfs_each(walk_port, walk, "class/infiniband/%s/ports", name);
}

static int walk_ports(int (*fn)(const char *device, unsigned number, void *arg), void *arg)
{
	struct walk walk = { .fn = fn, .arg = arg };

	return rcm_sysfs_each(walk_device, &walk, "class/infiniband");
}

struct list {
	struct rcm_sa_port *ports;
	unsigned count, max;
};

static int list_add(const char *device, unsigned number, void *arg)
{
	struct list *list = arg;
	struct rcm_sa_port *port = &list->ports[list->count];
	int ret;

	if (list->count == list->max)
		return 1;
	/* A port or device that vanishes meanwhile is none. */
	ret = port_read(device, number, port);
	if (!ret)
		ret = port_read_routing(device, number, port);
	if (ret)
		return rcm_is_want(ret) ? ret : 0;
	list->count++;
	return 0;
}

static int port_compare(const void *a, const void *b)
{
	const struct rcm_sa_port *p = a, *q = b;
	int order = strcmp(p->device, q->device);

	return order ? order : p->number - q->number;
}

int rcm_sa_ports(struct rcm_sa_port *ports, unsigned max)
{
	struct list list = { .ports = ports, .max = max };
	int ret = walk_ports(list_add, &list);

	if (ret < 0)
		return ret;
	qsort(ports, list.count, sizeof(*ports), port_compare);
	return (int)list.count;
}

/* Where a GID was found: a port's table, and the place in it. */
struct seat {
	struct rcm_gid gid;
	char device[20];
	uint8_t number;
	unsigned index;
};

static int find_gid(const char *device, unsigned number, void *arg)
{
	struct seat *seat = arg;
	struct rcm_gid gid;
	int ret = 0;

	if (strlen(device) >= sizeof(seat->device))
		return 0;
	for (unsigned i = 0; i < TABLE_MAX && !(ret = read_gid(device, number, i, &gid)); i++) {
		if (memcmp(&gid, &seat->gid, sizeof(gid)) != 0)
			continue;
		snprintf(seat->device, sizeof(seat->device), "%s", device);
		seat->number = (uint8_t)number;
		seat->index = i;
		return 1;
	}
	return rcm_is_want(ret) ? ret : 0;
}

/* Whether it is there still. */
static bool seat_holds(const struct seat *seat)
{
	struct rcm_gid gid;

	return seat->number && !read_gid(seat->device, seat->number, seat->index, &gid) &&
	       !memcmp(&gid, &seat->gid, sizeof(gid));
}

int rcm_sa_port_by_gid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	static _Thread_local struct seat last[SEATS];
	struct seat *known = &last[gid->raw[15] % SEATS], seat = *known;
	int ret = 1;

	if (gid_is_zero(gid))
		return -ENODEV;
	if (memcmp(&seat.gid, gid, sizeof(*gid)) != 0 || !seat_holds(&seat)) {
		seat = (struct seat){ .gid = *gid };
		ret = walk_ports(find_gid, &seat);
	}
	if (ret < 0)
		return ret;
	if (ret)
		ret = port_read(seat.device, seat.number, ret_port);
	else
		ret = -ENODEV;
	if (ret)
		return rcm_is_want(ret) ? ret : -ENODEV;
	*known = seat;
	ret_port->gid = *gid;
	return 0;
}

bool rcm_sa_port_is_full_member(const struct rcm_gid *gid, uint16_t pkey)
{
	struct rcm_sa_port port;
	char line[64];
	int ret = rcm_sa_port_by_gid(gid, &port);

	for (unsigned i = 0; i < TABLE_MAX && !ret; i++) {
		ret = read_entry(port.device, port.number, "pkeys", i, line, sizeof(line));
		if (!ret && strtoul(line, NULL, 0) == (pkey | PKEY_IS_FULL))
			return true;
	}
	return false;
}
