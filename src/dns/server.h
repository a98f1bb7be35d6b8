/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of one name server: how soon it answers, whether it does, how much it can take, what it can't do. Pure:
 * the caller tells what happened, and when (ns). */
#pragma once

#include "dns/dns.h"

struct rcm_server {
	union rcm_dns_address address;
	uint64_t round_trip;		/* smoothed; 0: unknown */
	uint64_t best_trip;
	uint64_t answered_at;
	uint64_t probed_at;		/* when it was last asked first in spite of its silence */
	uint64_t halved_at;
	uint64_t no_edns_until;
	uint64_t no_tcp_until;
	unsigned stalled;		/* rounds of questions that lost their places without an answer in between */
	unsigned silent;		/* questions in a row that it let go by */
	unsigned window;		/* places for questions; those in use: */
	unsigned placed;
	unsigned out;			/* questions under way, with a place or without */
};

void rcm_server_init(struct rcm_server *server, const union rcm_dns_address *address);

/* Whether so many more questions have a place; beyond: more places than the window has for others. */
bool rcm_server_has_room(const struct rcm_server *server, unsigned questions, unsigned beyond);

/* How long a question keeps its place unanswered, and how long to wait before it is asked once more. */
uint64_t rcm_server_patience(const struct rcm_server *server);
uint64_t rcm_server_early(const struct rcm_server *server);

/* An answer came to a question that was sent at asked_at, whatever it says. */
void rcm_server_answered(struct rcm_server *server, uint64_t asked_at, uint64_t now);

/* A question that was sent at asked_at has lost its place; or was given up. */
void rcm_server_overdue(struct rcm_server *server, uint64_t asked_at, uint64_t now);
void rcm_server_silent(struct rcm_server *server, uint64_t asked_at, uint64_t now);

/* Whether it is to be asked after others, as its last questions went unanswered. Now and then one says no: a probe. */
bool rcm_server_is_last(struct rcm_server *server, uint64_t now);

/* Whether it has been silent of late: a question to it is given less time. */
bool rcm_server_is_silent(const struct rcm_server *server);

/* It doesn't take EDNS, or TCP: not to be tried again for a while. */
void rcm_server_refuses_edns(struct rcm_server *server, uint64_t now);
void rcm_server_refuses_tcp(struct rcm_server *server, uint64_t now);
