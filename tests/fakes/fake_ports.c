/* SPDX-License-Identifier: BSD-2-Clause */
/* Local umad ports as a test wants them. */
#include "fake_ports.h"

#include <errno.h>
#include <string.h>

static struct rcm_sa_port ports[RCM_FAKE_PORTS_MAX];
static int usable[RCM_FAKE_PORTS_MAX];
static unsigned count;
static int failure;

void rcm_fake_ports_clear(void)
{
	count = 0;
	failure = 0;
}

void rcm_fake_ports_fail(int error)
{
	failure = error;
}

void rcm_fake_ports_add(uint8_t n, bool infiniband, int is_usable)
{
	struct rcm_sa_port *port = &ports[count];

	*port = (struct rcm_sa_port){ .device = "fake0", .number = n, .infiniband = infiniband,
				      .active = true };
	port->gid = (struct rcm_gid){ { 0xfe, 0x80, [15] = n } };
	usable[count++] = is_usable;
}

static int find(const struct rcm_gid *gid)
{
	if (failure)
		return failure;
	for (unsigned i = 0; i < count; i++)
		if (!memcmp(&ports[i].gid, gid, sizeof(*gid)))
			return (int)i;
	return -ENODEV;
}

int rcm_sa_ports(struct rcm_sa_port *ret_ports, unsigned max)
{
	unsigned n = count < max ? count : max;

	if (failure)
		return failure;
	memcpy(ret_ports, ports, n * sizeof(*ports));
	return (int)n;
}

int rcm_sa_port_by_gid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	int i = find(gid);

	if (i < 0)
		return i;
	*ret_port = ports[i];
	return 0;
}

bool rcm_sa_port_is_full_member(const struct rcm_gid *gid, uint16_t pkey)
{
	return find(gid) >= 0 && pkey;
}

int rcm_sa_umad_usable(const struct rcm_gid *gid)
{
	int i = find(gid);

	return i < 0 ? i : usable[i];
}

const struct rcm_sa_ops rcm_sa_umad = { .name = "fake" };
