/* SPDX-License-Identifier: BSD-2-Clause */
/* Local InfiniBand ports by name, as libibumad reads them. */
#pragma once

#include <infiniband/ib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_PORTS_MAX = 64 };	/* as many as the library looks at */

struct cli_port {
	char name[48];		/* "mlx5_0/1", or the GID as it was given */
	struct sockaddr_ib gid;	/* what to bind an id to */
};

/*
 * Reads DEVICE/PORT, or a GID, which is not looked up: 0; -EINVAL: it is neither; -ENODEV: no such port;
 * -EPROTOTYPE: the port is not InfiniBand.
 */
int cli_port_find(const char *text, struct cli_port *ret_port);

/* Is the port of that name in no partition of this P_Key, as full or limited member? false where nothing tells. */
bool cli_port_lacks_pkey(const char *name, uint16_t pkey);

enum { CLI_PORTS_WORDS = 160 };

/*
 * Where to ask an SA: at the port of that name, as above, or at all active InfiniBand ports where it is NULL; ports has
 * room for CLI_PORTS_MAX. How many; else -errno, of no port at all -ENODEV, and why has its words: "no such port; there
 * are mlx5_0/1, mlx5_1/1".
 */
int cli_ports_choose(const char *name, struct cli_port *ports, char why[CLI_PORTS_WORDS]);

/* All InfiniBand ports, at most max, or those that are active: how many, or -errno. */
int cli_ports_all(struct cli_port *ports, size_t max);
int cli_ports_active(struct cli_port *ports, size_t max);
