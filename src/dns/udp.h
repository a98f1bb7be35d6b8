/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to one name server by UDP: connected sockets, each from a port of its own that is changed often. */
#pragma once

#include "dns/carried.h"
#include "loop/timer.h"

struct rcm_udp_socket;

struct rcm_udp {
	struct rcm_carry *carry;
	union rcm_dns_address address;
	TAILQ_HEAD(, rcm_udp_socket) sockets;
	unsigned sockets_count;
	struct rcm_udp_socket *current;	/* takes new questions; NULL: none does */
	uint64_t used_at;
	struct rcm_timer idle;
	struct rcm_timer flush;
};

void rcm_udp_init(struct rcm_udp *udp, struct rcm_carry *carry, const union rcm_dns_address *address);

/* Closes all its sockets; what they carried is put down, and not told. */
void rcm_udp_done(struct rcm_udp *udp);

/*
 * Takes a question that nobody carries, to be sent at the turn's end, or by flush: 0, or -errno, such as -EMFILE or
 * -ENETUNREACH. other_than: a socket that it must not go by, as far as that can be had, or NULL.
 */
int rcm_udp_put(struct rcm_udp *udp, struct rcm_carried *carried, const void *other_than);
void rcm_udp_flush(struct rcm_udp *udp);

/* Nothing is told of it any more. */
void rcm_udp_take_back(struct rcm_carried *carried);
