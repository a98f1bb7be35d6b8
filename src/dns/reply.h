/* SPDX-License-Identifier: BSD-2-Clause */
/* What the answers to the questions of one name give together. */
#pragma once

#include "dns/eai.h"
#include "dns/srvs.h"

/* Zeroed before the first answer. */
struct rcm_reply {
	unsigned count;
	bool limited;				/* ttl is set */
	uint32_t ttl;				/* the least of all that counts; meaningful where count > 0 */
	union rcm_dns_address *addresses;	/* IPv4 first; free() when done */
	struct rcm_srvs *srvs;			/* SRV records, where those were asked for; count is theirs */
	char *canonname;			/* the last alias's end that can be a host's name; NULL: none; free() */
};

/*
 * Adds what an answer without an error says. FOUND: its addresses, all of them; NODATA: there is none, and how long
 * that may be kept; NOMEM: reply is as before. To a question for SRV records: their verdict.
 */
enum rcm_dns_verdict rcm_reply_add(struct rcm_reply *reply, const struct rcm_message_answer *answer);

/* Frees what it holds and makes it an empty one. */
void rcm_reply_clear(struct rcm_reply *reply);
