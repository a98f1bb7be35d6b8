/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that are sent by one system call, a datagram each. */
#pragma once

#include <sys/socket.h>

#include "dns/carried.h"

/*
 * To a server on this host several of one length, as the two of a name are, leave in one packet, which the kernel takes
 * apart where it is received (UDP_SEGMENT, Linux 4.18): it goes the whole way there once. To others each has a packet
 * of its own, as not every device is good at the other.
 */
struct rcm_packets {
	bool shared;
	unsigned count;			/* packets, each with so many questions: */
	uint8_t questions[RCM_CARRY_BATCH];
	struct mmsghdr headers[RCM_CARRY_BATCH];
	struct iovec iovs[RCM_CARRY_BATCH];
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} sizes[RCM_CARRY_BATCH];
	size_t last;			/* octets of the last question, of all: */
	size_t len;
	uint8_t bytes[RCM_CARRY_BATCH * RCM_MESSAGE_QUESTION_MAX];
};

/* Whether a connected socket's questions may share packets. */
bool rcm_packets_may_share(int fd, const union rcm_dns_address *to);

/* Empty. shared: as rcm_packets_may_share() says. */
void rcm_packets_begin(struct rcm_packets *packets, bool shared);

/* Room for the next of at most RCM_CARRY_BATCH questions; and what was written there, len octets, is that. */
uint8_t *rcm_packets_room(struct rcm_packets *packets);
void rcm_packets_add(struct rcm_packets *packets, size_t len);

/* How many questions were sent, the first ones, or -errno. */
int rcm_packets_send(struct rcm_packets *packets, int fd);
