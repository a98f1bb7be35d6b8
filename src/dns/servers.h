/* SPDX-License-Identifier: BSD-2-Clause */
/* The name servers that are asked: what is known of each, and what carries questions to it. */
#pragma once

#include "dns/carried.h"
#include "dns/resolv.h"
#include "dns/server.h"
#include "dns/tcp.h"
#include "dns/udp.h"

struct rcm_exchange;
struct rcm_servers;

struct rcm_contact {
	TAILQ_ENTRY(rcm_contact) entry;
	struct rcm_servers *servers;
	struct rcm_server known;
	struct rcm_udp udp;
	struct rcm_tcp tcp;
	TAILQ_HEAD(, rcm_exchange) placed;	/* questions that have a place, in order of asking; */
	TAILQ_HEAD(, rcm_exchange) waiting;	/* those that were asked before, and wait for one */
	struct rcm_timer patience;
	bool gone;				/* nobody asks it any more */
};

struct rcm_servers {
	struct rcm_carry carry;
	TAILQ_HEAD(, rcm_contact) contacts;
	unsigned turn;				/* which one begins, with "options rotate" */
	struct rcm_timer bury;			/* frees those that are gone */
	unsigned beyond;			/* places beyond the window that the next name may take one of */
	void (*room)(void *arg);		/* a question may have a place now */
	void *room_arg;
};

void rcm_servers_init(struct rcm_servers *servers, struct rcm_loop *loop, void (*room)(void *), void *room_arg);

/* Nobody may ask any more. */
void rcm_servers_done(struct rcm_servers *servers);

/* The contact of an address, made where there is none yet; NULL: no memory. */
struct rcm_contact *rcm_servers_get(struct rcm_servers *servers, const union rcm_dns_address *address);

/* In which order a name's questions go to resolv's servers (indexes into them): as configured or in turn, those that
 * have been silent at the end. */
void rcm_servers_order(struct rcm_servers *servers, const struct rcm_resolv *resolv, uint8_t order[RCM_RESOLV_SERVERS]);

/* Gives up all that aren't in resolv: none of their questions may be under way. */
void rcm_servers_keep(struct rcm_servers *servers, const struct rcm_resolv *resolv);

/* Sends what is to be sent. */
void rcm_servers_flush(struct rcm_servers *servers);
