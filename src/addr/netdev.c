/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces that local RDMA devices use. */
#include "addr/netdev.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

/* So many empty entries of a GID table are its end. */
enum { GAP_MAX = 32 };

static const char *sysfs = "/sys";

static struct {
	uint64_t looked;		/* ns; 0: never */
	unsigned devices, count;
	struct netdev {
		char name[IF_NAMESIZE];
		unsigned index;
	} netdevs[RCM_NETDEVS_MAX];
} known;

static void add(const char *name)
{
	struct netdev *netdev = &known.netdevs[known.count];
	size_t len = strlen(name) + 1;
	unsigned index;

	if (len > sizeof(netdev->name) || known.count == RCM_NETDEVS_MAX)
		return;
	/* A GID table names the same interface again and again. */
	for (unsigned i = 0; i < known.count; i++)
		if (!strcmp(known.netdevs[i].name, name))
			return;
	index = if_nametoindex(name);
	if (!index)
		return;
	memcpy(netdev->name, name, len);
	netdev->index = index;
	known.count++;
}

/* Calls fn with the path of each entry of a directory, and its name. */
static unsigned each_entry(const char *directory, void (*fn)(const char *path, const char *name))
{
	char path[512];
	unsigned count = 0;
	struct dirent *e;
	DIR *d;

	d = opendir(directory);
	if (!d)
		return 0;
	while ((e = readdir(d))) {	/* NOLINT(concurrency-mt-unsafe): d is nobody else's */
		if (e->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", directory, e->d_name) >= (int)sizeof(path))
			continue;
		count++;
		fn(path, e->d_name);
	}
	closedir(d);
	return count;
}

static void add_own(const char *path, const char *name)
{
	(void)path;
	add(name);
}

/* One file a GID, that can't be read where the table has no entry: false. */
static bool add_of_gid(const char *path)
{
	char name[IF_NAMESIZE + 1];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (n <= 0)
		return false;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	add(name);
	return true;
}

/* Tables have a thousand entries and more, and the kernel gives a GID the first free one. */
static void add_of_port(const char *path, const char *port)
{
	char file[512];

	(void)port;
	for (unsigned i = 0, gap = 0; gap < GAP_MAX; i++) {
		snprintf(file, sizeof(file), "%.450s/gid_attrs/ndevs/%u", path, i);
		gap = add_of_gid(file) ? 0 : gap + 1;
	}
}

static void add_of_device(const char *path, const char *device)
{
	char directory[512];

	(void)device;
	if (snprintf(directory, sizeof(directory), "%s/device/net", path) < (int)sizeof(directory))
		each_entry(directory, add_own);
	if (snprintf(directory, sizeof(directory), "%s/ports", path) < (int)sizeof(directory))
		each_entry(directory, add_of_port);
}

static void look(void)
{
	uint64_t now = rcm_clock_now();
	char directory[256];

	if (known.looked && now - known.looked < RCM_NS_PER_S)
		return;
	known.looked = now;
	known.count = 0;
	snprintf(directory, sizeof(directory), "%s/class/infiniband", sysfs);
	known.devices = each_entry(directory, add_of_device);
}

bool rcm_netdev_any(void)
{
	look();
	return known.devices;
}

bool rcm_netdev_is_rdma(unsigned ifindex)
{
	look();
	for (unsigned i = 0; i < known.count; i++)
		if (known.netdevs[i].index == ifindex)
			return true;
	return false;
}

void rcm_netdev_sysfs_replace(const char *directory)
{
	sysfs = directory ? directory : "/sys";
	known.looked = 0;
}
