/* SPDX-License-Identifier: BSD-2-Clause */
/* The SRV records of one answer (RFC 2782), and what it says of their targets besides. Pure, safe on any bytes. */
#pragma once

#include "dns/eai.h"
#include "dns/message.h"

/* Zeroed: none. */
struct rcm_srvs {
	unsigned count;
	struct rcm_dns_srv *records;		/* their addresses are those below */
	unsigned addresses_count;
	union rcm_dns_address *addresses;
	uint32_t ttl;				/* the least of all that is in here */
};

/*
 * Reads an answer to a question for SRV records that has some. FOUND; DECLINED: it has one alone, of target "."; a
 * "." among others counts for nothing; MALFORMED: none of them names what can be a host; NOMEM. Of the same record
 * twice one is taken, of more than RCM_SRV_RECORDS_MAX those with the best priorities.
 *
 * Addresses come from the additional section where they are of a target, and the target is in the domain that was asked
 * for: the name asked without the labels in front of it that begin with "_". So whoever answers for one domain can't
 * say where hosts of another are. What isn't there may exist all the same.
 */
enum rcm_dns_verdict rcm_srvs_read(struct rcm_srvs *srvs, const struct rcm_message_answer *answer);

/* Frees what it holds and makes it an empty one. */
void rcm_srvs_clear(struct rcm_srvs *srvs);
