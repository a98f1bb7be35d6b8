/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that are sent by one system call. */
#include "dns/packets.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include "dns/batch.h"

/* A kernel that doesn't know UDP_SEGMENT would send as one datagram what is to be several. */
bool rcm_packets_may_share(int fd, const union rcm_dns_address *to)
{
	bool here = to->sa.sa_family == AF_INET ? ntohl(to->in.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET :
						  IN6_IS_ADDR_LOOPBACK(&to->in6.sin6_addr);
	const int none = 0;

	return here && !setsockopt(fd, SOL_UDP, UDP_SEGMENT, &none, sizeof(none));
}

void rcm_packets_begin(struct rcm_packets *packets, bool shared)
{
	packets->shared = shared;
	packets->count = 0;
	packets->len = packets->last = 0;
}

uint8_t *rcm_packets_room(struct rcm_packets *packets)
{
	return packets->bytes + packets->len;
}

static void packets_join(struct rcm_packets *packets, size_t len)
{
	unsigned at = packets->count - 1;
	struct cmsghdr *size = &packets->sizes[at].header;
	const uint16_t each = (uint16_t)len;

	packets->iovs[at].iov_len += len;
	packets->questions[at]++;
	memset(&packets->sizes[at], 0, sizeof(packets->sizes[at]));
	*size = (struct cmsghdr){ .cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof(each)) };
	memcpy(CMSG_DATA(size), &each, sizeof(each));
	packets->headers[at].msg_hdr.msg_control = size;
	packets->headers[at].msg_hdr.msg_controllen = sizeof(packets->sizes[at]);
}

static void packets_start(struct rcm_packets *packets, size_t len)
{
	unsigned at = packets->count++;

	packets->iovs[at] = (struct iovec){ packets->bytes + packets->len, len };
	packets->headers[at] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &packets->iovs[at], .msg_iovlen = 1 } };
	packets->questions[at] = 1;
}

void rcm_packets_add(struct rcm_packets *packets, size_t len)
{
	if (packets->shared && packets->last == len)
		packets_join(packets, len);
	else
		packets_start(packets, len);
	packets->last = len;
	packets->len += len;
}

int rcm_packets_send(struct rcm_packets *packets, int fd)
{
	int n = rcm_batch_send(fd, packets->headers, packets->count), sent = 0;

	/* Told once, about what was sent before; if it still is so it is told again, to who reads. */
	if (n == -ECONNREFUSED)
		n = rcm_batch_send(fd, packets->headers, packets->count);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		sent += packets->questions[i];
	return sent;
}
