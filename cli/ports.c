/* SPDX-License-Identifier: BSD-2-Clause */
/* Local InfiniBand ports by name, as libibumad reads them. */
#include "ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_ACTIVE = 4 };	/* IBTA 14.2.5.6, PortInfo:PortState */

/* Drivers that know one link layer only, and simulators, leave the text empty: those are InfiniBand. */
static bool is_infiniband(const umad_port_t *port)
{
	return port->link_layer[0] == 0 || strcmp(port->link_layer, "InfiniBand") == 0 ||
	       strcmp(port->link_layer, "IB") == 0;
}

static void gid_set(struct sockaddr_ib *sib, __be64 prefix, __be64 guid)
{
	memset(sib, 0, sizeof(*sib));
	sib->sib_family = AF_IB;
	sib->sib_addr.sib_subnet_prefix = prefix;
	sib->sib_addr.sib_interface_id = guid;
}

static void port_fill(struct cli_port *port, const umad_port_t *from)
{
	snprintf(port->name, sizeof(port->name), "%s/%d", from->ca_name, from->portnum);
	gid_set(&port->gid, from->gid_prefix, from->port_guid);
}

static bool read_gid(const char *text, struct cli_port *port)
{
	struct ib_addr gid;

	if (inet_pton(AF_INET6, text, &gid) != 1)
		return false;
	snprintf(port->name, sizeof(port->name), "%s", text);
	gid_set(&port->gid, gid.sib_subnet_prefix, gid.sib_interface_id);
	return true;
}

/* Splits DEVICE/PORT. */
static bool read_name(const char *text, char device[UMAD_CA_NAME_LEN], int *ret_number)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	unsigned long number;
	char *end;

	if (len == 0 || len >= UMAD_CA_NAME_LEN || slash[1] < '0' || slash[1] > '9')
		return false;
	number = strtoul(slash + 1, &end, 10);
	if (*end || number > UCHAR_MAX)
		return false;
	memcpy(device, text, len);
	device[len] = 0;
	*ret_number = (int)number;
	return true;
}

int cli_port_find(const char *text, struct cli_port *ret_port)
{
	char device[UMAD_CA_NAME_LEN];
	umad_port_t port;
	int number, rc;

	if (read_gid(text, ret_port))
		return 0;
	if (!read_name(text, device, &number))
		return -EINVAL;
	if (umad_init() < 0 || umad_get_port(device, number, &port) < 0)
		return -ENODEV;
	rc = is_infiniband(&port) ? 0 : -EPROTOTYPE;
	if (rc == 0)
		port_fill(ret_port, &port);
	umad_release_port(&port);
	return rc;
}

bool cli_port_lacks_pkey(const char *name, uint16_t pkey)
{
	enum { MEMBERSHIP = 0x8000 };	/* IBTA 10.9.3 */
	char device[UMAD_CA_NAME_LEN];
	umad_port_t port;
	bool lacks;
	int number;

	if (!read_name(name, device, &number) || umad_init() < 0 || umad_get_port(device, number, &port) < 0)
		return false;
	lacks = port.pkeys_size > 0;
	for (unsigned i = 0; lacks && i < port.pkeys_size; i++)
		lacks = (port.pkeys[i] | MEMBERSHIP) != (pkey | MEMBERSHIP);
	umad_release_port(&port);
	return lacks;
}

static size_t device_ports(const char *device, bool active, struct cli_port *ports, size_t max)
{
	size_t count = 0;
	umad_ca_t ca;

	if (umad_get_ca(device, &ca) < 0)
		return 0;
	for (int i = 0; i < UMAD_CA_MAX_PORTS && count < max; i++) {
		const umad_port_t *port = ca.ports[i];

		if (port && (!active || port->state == STATE_ACTIVE) && is_infiniband(port))
			port_fill(&ports[count++], port);
	}
	umad_release_ca(&ca);
	return count;
}

static int ports_list(bool active, struct cli_port *ports, size_t max)
{
	char devices[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	size_t count = 0;
	int n;

	if (umad_init() < 0)
		return -ENODEV;
	n = umad_get_cas_names(devices, UMAD_MAX_DEVICES);
	for (int i = 0; i < n; i++)
		count += device_ports(devices[i], active, ports + count, max - count);
	return (int)count;
}

int cli_ports_all(struct cli_port *ports, size_t max)
{
	return ports_list(false, ports, max);
}

int cli_ports_active(struct cli_port *ports, size_t max)
{
	return ports_list(true, ports, max);
}

static void ports_words(char *buf, size_t len)
{
	struct cli_port ports[CLI_PORTS_MAX];
	int count = ports_list(false, ports, CLI_PORTS_MAX), used;

	if (count <= 0) {
		snprintf(buf, len, "no such port; this host has no InfiniBand port");
		return;
	}
	used = snprintf(buf, len, "no such port; there %s ", count == 1 ? "is" : "are");
	for (int i = 0; i < count; i++) {
		if ((size_t)used + strlen(ports[i].name) + sizeof(", , ...") > len) {
			snprintf(buf + used, len - (size_t)used, ", ...");
			return;
		}
		used += snprintf(buf + used, len - (size_t)used, "%s%s", i ? ", " : "", ports[i].name);
	}
}

int cli_ports_choose(const char *name, struct cli_port *ports, char why[CLI_PORTS_WORDS])
{
	int rc;

	if (!name) {
		rc = cli_ports_active(ports, CLI_PORTS_MAX);
		snprintf(why, CLI_PORTS_WORDS, "this host has no active InfiniBand port; see rai ports");
		return rc > 0 ? rc : -ENODEV;
	}
	rc = cli_port_find(name, ports);
	if (rc == -EINVAL)
		snprintf(why, CLI_PORTS_WORDS, "neither DEVICE/PORT nor a GID");
	else if (rc == -EPROTOTYPE)
		snprintf(why, CLI_PORTS_WORDS, "not an InfiniBand port: no SA to ask");
	else if (rc < 0)
		ports_words(why, CLI_PORTS_WORDS);
	return rc < 0 ? rc : 1;
}
