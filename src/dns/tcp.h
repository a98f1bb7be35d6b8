/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to one name server by TCP: connections that are kept, many questions on each, answers in any order (RFC
 * 7766). */
#pragma once

#include "dns/carried.h"
#include "loop/timer.h"

struct rcm_tcp_connection;

struct rcm_tcp {
	struct rcm_carry *carry;
	union rcm_dns_address address;
	TAILQ_HEAD(, rcm_tcp_connection) connections;
	unsigned connections_count;
	struct rcm_carrieds waiting;	/* for a connection */
	struct rcm_carrieds failing;	/* about to be told that there is none */
	unsigned pipeline;		/* questions a connection is given at once: one, or as many as were answered */
	struct rcm_timer flush;
};

void rcm_tcp_init(struct rcm_tcp *tcp, struct rcm_carry *carry, const union rcm_dns_address *address);

/* Closes all; what they carried is put down, and not told. */
void rcm_tcp_done(struct rcm_tcp *tcp);

/* Takes a question that nobody carries, to be sent at the turn's end, or by flush. Whether it can be is told later. */
void rcm_tcp_put(struct rcm_tcp *tcp, struct rcm_carried *carried);
void rcm_tcp_flush(struct rcm_tcp *tcp);

/* Nothing is told of it any more. */
void rcm_tcp_take_back(struct rcm_tcp *tcp, struct rcm_carried *carried);
