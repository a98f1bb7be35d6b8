/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA devices and their ports as the kernel tells them in /sys/class/infiniband. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	CLI_LINKS_MAX = 256,	/* ports told of */
	CLI_GIDS_MAX = 8,	/* kinds of GID of a port */
};

struct cli_gid {
	unsigned index;
	char type[24];		/* "IB", "RoCE v1", "RoCE v2" */
	char text[48];
};

struct cli_link {
	char device[64];
	unsigned port;
	char layer[24];		/* "InfiniBand", "Ethernet" */
	char state[24];		/* "ACTIVE", "DOWN" */
	char netdev[32];	/* empty: none */
	unsigned sm_lid;	/* 0: none */
	unsigned gid_count;
	struct cli_gid gids[CLI_GIDS_MAX];	/* the first of each type and scope */
};

/* Ports below root ("/sys") by device and number, at most max: how many. */
size_t cli_links_read(const char *root, struct cli_link *links, size_t max);

bool cli_link_is_infiniband(const struct cli_link *link);

/* NULL where IP addresses, or services of the SA, can be resolved through the port; else why not. */
const char *cli_link_no_addresses(const struct cli_link *link);
const char *cli_link_no_services(const struct cli_link *link);
