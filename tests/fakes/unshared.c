/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qemu-user doesn't turn round the octets of UDP_SEGMENT's size for a big-endian program: the kernel would take them for
 * another. There no questions share a packet.
 */
#include "asleep.h"
#include "dns/packets.h"

bool __wrap_rcm_packets_may_share(int fd, const union rcm_dns_address *to);
bool __real_rcm_packets_may_share(int fd, const union rcm_dns_address *to);

bool __wrap_rcm_packets_may_share(int fd, const union rcm_dns_address *to)
{
	return !emulated() && __real_rcm_packets_may_share(fd, to);
}
