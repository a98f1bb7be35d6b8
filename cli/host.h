/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a host RDMA programs and names need, looked at without asking anybody. root is "" but for tests. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "finding.h"
#include "links.h"

enum {
	CLI_NODES_MAX = 128,		/* device nodes looked at */
	CLI_NAMESERVERS_MAX = 3,	/* as resolv.conf(5) has it */
};

/* Kernel modules, or what they bring where they are built in; links are this host's ports. */
void cli_host_modules(const char *root, const struct cli_link *links, size_t count, struct cli_finding *ret_finding);

struct cli_node {
	char path[80];		/* "/dev/infiniband/uverbs0" */
	bool needed;		/* without it there are no connections; else services are asked for in another way */
};

/* Nodes that there should be as the kernel tells: how many, at most CLI_NODES_MAX. */
size_t cli_host_nodes(const char *root, struct cli_node *nodes);

void cli_host_node(const char *root, const struct cli_node *node, struct cli_finding *ret_finding);

/* May the process lock memory without a limit? */
bool cli_host_locks_freely(void);
void cli_host_memlock(const struct rlimit *limit, bool freely, struct cli_finding *ret_finding);

/* A file that everybody reads: nsswitch.conf, hosts. */
void cli_host_file(const char *root, const char *path, const char *without, struct cli_finding *ret_finding);

struct cli_nameserver {
	char text[80];		/* as it is written */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address;
	socklen_t len;
};

/* Name servers of resolv.conf: how many; the finding says which line is wrong, or that the file can't be read. */
size_t cli_host_nameservers(const char *root, struct cli_nameserver servers[CLI_NAMESERVERS_MAX],
			    struct cli_finding *ret_finding);
