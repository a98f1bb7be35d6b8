/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA devices and their ports as the kernel tells them in /sys/class/infiniband. */
#include "links.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 512, GID_TABLE_MAX = 256 };

/* The first line of a file of the port, empty where there is none. */
__attribute__((format(printf, 3, 4))) static void line_read(char *line, size_t size, const char *format, ...)
{
	char path[PATH_ROOM];
	ssize_t len = -1;
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, line, size - 1);
		close(fd);
	}
	line[len > 0 ? len : 0] = 0;
	line[strcspn(line, "\n")] = 0;
}

/* The next name in a directory that isn't hidden; NULL: no more, or no directory. */
static const char *name_next(DIR *directory)
{
	const struct dirent *entry;

	do
		entry = directory ? readdir(directory) : NULL;
	while (entry && entry->d_name[0] == '.');
	return entry ? entry->d_name : NULL;
}

static void names_end(DIR *directory)
{
	if (directory)
		closedir(directory);
}

enum scope { SCOPE_LOCAL, SCOPE_IPV4, SCOPE_WIDE };

static enum scope gid_scope(const char *text)
{
	struct in6_addr gid;

	inet_pton(AF_INET6, text, &gid);
	if (IN6_IS_ADDR_LINKLOCAL(&gid))
		return SCOPE_LOCAL;
	return IN6_IS_ADDR_V4MAPPED(&gid) ? SCOPE_IPV4 : SCOPE_WIDE;
}

static bool gid_is_known(const struct cli_link *link, const struct cli_gid *gid)
{
	for (unsigned i = 0; i < link->gid_count; i++)
		if (strcmp(link->gids[i].type, gid->type) == 0 &&
		    gid_scope(link->gids[i].text) == gid_scope(gid->text))
			return true;
	return false;
}

/* An entry that isn't in use reads as zeroes, and its type not at all. */
static void gid_read(const char *directory, unsigned index, struct cli_link *link)
{
	struct cli_gid gid = { .index = index };
	struct in6_addr raw;
	char line[64];

	line_read(line, sizeof(line), "%s/gids/%u", directory, index);
	if (inet_pton(AF_INET6, line, &raw) != 1 || IN6_IS_ADDR_UNSPECIFIED(&raw))
		return;
	inet_ntop(AF_INET6, &raw, gid.text, sizeof(gid.text));
	line_read(gid.type, sizeof(gid.type), "%s/gid_attrs/types/%u", directory, index);
	if (cli_link_is_infiniband(link))
		snprintf(gid.type, sizeof(gid.type), "IB");
	else if (strcmp(gid.type, "IB/RoCE v1") == 0)
		snprintf(gid.type, sizeof(gid.type), "RoCE v1");
	if (!link->netdev[0])
		line_read(link->netdev, sizeof(link->netdev), "%s/gid_attrs/ndevs/%u", directory, index);
	if (link->gid_count < CLI_GIDS_MAX && !gid_is_known(link, &gid))
		link->gids[link->gid_count++] = gid;
}

/* IPoIB's interface is one of the device's, and counts ports from 0. */
static void netdev_read(const char *root, struct cli_link *link)
{
	char path[PATH_ROOM], line[24];
	const char *name;
	DIR *names;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device/net", root, link->device);
	names = opendir(path);
	while (!link->netdev[0] && (name = name_next(names))) {
		line_read(line, sizeof(line), "%s/%s/dev_port", path, name);
		if (*line && strtoul(line, NULL, 0) + 1 == link->port)
			snprintf(link->netdev, sizeof(link->netdev), "%.31s", name);
	}
	names_end(names);
}

/* Drivers that know one link layer only, and simulators, tell none: those are InfiniBand, but for iWARP's. */
static void layer_read(const char *root, const char *directory, struct cli_link *link)
{
	enum { NODE_RNIC = 4 };
	char line[24];

	line_read(link->layer, sizeof(link->layer), "%s/link_layer", directory);
	line_read(line, sizeof(line), "%s/class/infiniband/%s/node_type", root, link->device);
	if (!link->layer[0])
		snprintf(link->layer, sizeof(link->layer), "%s", atoi(line) == NODE_RNIC ? "Ethernet" : "InfiniBand");
}

static void link_read(const char *root, struct cli_link *link)
{
	char directory[PATH_ROOM / 2], line[64], *word;

	snprintf(directory, sizeof(directory), "%s/class/infiniband/%s/ports/%u", root, link->device, link->port);
	layer_read(root, directory, link);
	line_read(line, sizeof(line), "%s/state", directory);
	word = strstr(line, ": ");
	snprintf(link->state, sizeof(link->state), "%.23s", word ? word + 2 : "?");
	line_read(line, sizeof(line), "%s/sm_lid", directory);
	link->sm_lid = cli_link_is_infiniband(link) ? (unsigned)strtoul(line, NULL, 0) : 0;
	for (unsigned i = 0; i < GID_TABLE_MAX; i++)
		gid_read(directory, i, link);
	if (!link->netdev[0])
		netdev_read(root, link);
}

static size_t device_read(const char *root, const char *device, struct cli_link *links, size_t max)
{
	char path[PATH_ROOM];
	size_t count = 0;
	const char *name;
	DIR *ports;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports", root, device);
	ports = opendir(path);
	while (count < max && (name = name_next(ports))) {
		struct cli_link *link = &links[count++];

		*link = (struct cli_link) { .port = (unsigned)strtoul(name, NULL, 10) };
		snprintf(link->device, sizeof(link->device), "%.63s", device);
		link_read(root, link);
	}
	names_end(ports);
	return count;
}

static int link_compare(const void *a, const void *b)
{
	const struct cli_link *x = a, *y = b;
	int order = strverscmp(x->device, y->device);

	return order ? order : (x->port > y->port) - (x->port < y->port);
}

size_t cli_links_read(const char *root, struct cli_link *links, size_t max)
{
	char path[PATH_ROOM];
	size_t count = 0;
	const char *name;
	DIR *devices;

	snprintf(path, sizeof(path), "%s/class/infiniband", root);
	devices = opendir(path);
	while ((name = name_next(devices)))
		count += device_read(root, name, links + count, max - count);
	names_end(devices);
	qsort(links, count, sizeof(*links), link_compare);
	return count;
}

bool cli_link_is_infiniband(const struct cli_link *link)
{
	return strcmp(link->layer, "InfiniBand") == 0;
}

static bool link_is_active(const struct cli_link *link)
{
	return strcmp(link->state, "ACTIVE") == 0;
}

const char *cli_link_no_addresses(const struct cli_link *link)
{
	if (!link_is_active(link))
		return "the port is not active";
	if (!link->netdev[0])
		return cli_link_is_infiniband(link) ? "the port has no IPoIB interface" : "the port has no interface";
	return NULL;
}

const char *cli_link_no_services(const struct cli_link *link)
{
	if (!cli_link_is_infiniband(link))
		return "not InfiniBand, so there is no SA";
	if (!link_is_active(link))
		return "the port is not active";
	return link->sm_lid ? NULL : "no subnet manager is known to the port";
}
