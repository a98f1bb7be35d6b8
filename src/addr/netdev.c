/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces that local RDMA devices use. */
#include "addr/netdev.h"

#include <string.h>

#include "base/clock.h"
#include "base/sysfs.h"

/* So many empty entries of a GID table are its end. */
enum { GAP_MAX = 32 };

/* A walk through the devices: where it is. */
struct netdev_walk {
	struct rcm_netdevs *known;
	const char *device;
	bool asked;
	struct if_nameindex *here;	/* the interfaces of this network namespace, once asked for; NULL: none known */
};

/* 0: not here. For a name that isn't here, as a device of another namespace has them, if_nametoindex(3) would have the
 * kernel look for a module, by starting modprobe. */
static unsigned netdev_index(struct netdev_walk *walk, const char *name)
{
	if (!walk->asked)
		walk->here = if_nameindex();
	walk->asked = true;
	for (const struct if_nameindex *one = walk->here; one && one->if_name; one++)
		if (!strcmp(one->if_name, name))
			return one->if_index;
	return 0;
}

static void netdev_add(struct netdev_walk *walk, const char *name)
{
	struct rcm_netdevs *known = walk->known;
	struct rcm_netdev *netdev = &known->netdevs[known->count];
	size_t len = strlen(name) + 1;
	unsigned index;

	if (len > sizeof(netdev->name) || known->count == RCM_NETDEVS_MAX)
		return;
	/* A GID table names the same interface again and again. */
	for (unsigned i = 0; i < known->count; i++)
		if (!strcmp(known->netdevs[i].name, name))
			return;
	index = netdev_index(walk, name);
	if (!index)
		return;
	memcpy(netdev->name, name, len);
	netdev->index = index;
	known->count++;
}

static int netdev_add_own(const char *name, void *arg)
{
	netdev_add(arg, name);
	return 0;
}

/* Tables have a thousand entries and more, and the kernel gives a GID the first free one. */
static int netdev_add_of_port(const char *port, void *arg)
{
	struct netdev_walk *walk = arg;
	char name[IF_NAMESIZE + 1];

	for (unsigned i = 0, gap = 0; gap < GAP_MAX; i++) {
		/* One file a GID, that can't be read where the table has no entry. */
		if (rcm_sysfs_line(name, sizeof(name), "class/infiniband/%s/ports/%s/gid_attrs/ndevs/%u",
				   walk->device, port, i)) {
			gap++;
			continue;
		}
		gap = 0;
		netdev_add(walk, name);
	}
	return 0;
}

static int netdev_add_of_device(const char *device, void *arg)
{
	struct netdev_walk *walk = arg;

	walk->device = device;
	walk->known->devices++;
	rcm_sysfs_each(netdev_add_own, walk, "class/infiniband/%s/device/net", device);
	rcm_sysfs_each(netdev_add_of_port, walk, "class/infiniband/%s/ports", device);
	return 0;
}

static void netdevs_look(struct rcm_netdevs *known)
{
	struct netdev_walk walk = { .known = known };
	uint64_t now = rcm_clock_now();

	if (known->looked && now - known->looked < RCM_NS_PER_S)
		return;
	known->looked = now;
	known->devices = known->count = 0;
	rcm_sysfs_each(netdev_add_of_device, &walk, "class/infiniband");
	if (walk.here)
		if_freenameindex(walk.here);
}

bool rcm_netdevs_any(struct rcm_netdevs *known)
{
	netdevs_look(known);
	return known->devices;
}

bool rcm_netdevs_has(struct rcm_netdevs *known, unsigned ifindex)
{
	netdevs_look(known);
	for (unsigned i = 0; i < known->count; i++)
		if (known->netdevs[i].index == ifindex)
			return true;
	return false;
}
