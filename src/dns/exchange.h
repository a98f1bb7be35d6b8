/* SPDX-License-Identifier: BSD-2-Clause */
/* One question's course: from server to server and attempt to attempt, by UDP or TCP, with EDNS or without. */
#pragma once

#include "dns/eai.h"
#include "dns/servers.h"

struct rcm_again;

struct rcm_exchange {
	struct rcm_carried carried;
	struct rcm_again *again;	/* the same, asked once more before its time is over; NULL: not done */
	TAILQ_ENTRY(rcm_exchange) place;
	struct rcm_timer timer;
	struct rcm_servers *servers;
	const struct rcm_resolv *resolv;
	struct rcm_contact *contact;	/* who is asked; NULL: nobody now */
	const void *went_by;		/* the socket it last left by */
	struct rcm_message_question question;
	uint64_t asked_at;
	uint8_t order[RCM_RESOLV_SERVERS];
	uint8_t tries;
	int error;			/* why it could not be sent; 0: it was */
	bool placed;
	bool waits;			/* for a place, as it has been asked before: contact isn't asked yet */
	bool by_tcp;
	bool cut;			/* this server's answer by UDP was truncated */
	enum rcm_dns_verdict verdict;	/* what is told if no server answers better */
	const union rcm_dns_address *speaker;

	/* Once: the verdict, who said so (NULL: nobody), and what it said (NULL: nothing, but for FOUND and NODATA). */
	void (*done)(struct rcm_exchange *exchange, enum rcm_dns_verdict verdict,
		     const union rcm_dns_address *speaker, const struct rcm_message_answer *answer);
};

/*
 * Begins to ask. servers, resolv, question, order and done are set, all else is zero; resolv and the name live on. done
 * is called later, never from here.
 */
void rcm_exchange_start(struct rcm_exchange *exchange);

/* Asks the same server once more, from another port, and goes on waiting for the first and for this one. */
void rcm_exchange_again(struct rcm_exchange *exchange);

/* done is not called any more. Nothing where it was. */
void rcm_exchange_drop(struct rcm_exchange *exchange);
