/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to name servers and their answers as octets (RFC 1035 4.1, RFC 3596, RFC 6891). Pure, safe on any bytes. */
#pragma once

#include "dns/dns.h"
#include "dns/rr.h"

enum {
	RCM_MESSAGE_QUESTION_MAX = 12 + RCM_LABELS_MAX + 4 + 11,
	RCM_MESSAGE_MAX = 65535,
	RCM_MESSAGE_EDNS_SIZE = 1232,	/* the datagram that we say we take: none is cut in pieces on its way */
};

struct rcm_message_question {
	const uint8_t *name;		/* labels */
	size_t name_len;
	uint16_t type;			/* ns_t_a, ns_t_aaaa or ns_t_srv */
	bool edns;			/* with an OPT record */
	bool trust_ad;			/* asks whether the answer was verified */
};

/* The message with that id; its length. */
size_t rcm_message_ask(const struct rcm_message_question *question, uint16_t id,
		       uint8_t bytes[RCM_MESSAGE_QUESTION_MAX]);

/* What a message is good for; points into it. */
struct rcm_message_answer {
	const uint8_t *bytes;
	size_t len;
	uint16_t type;			/* of the question, and its name */
	const uint8_t *asked;
	unsigned rcode;			/* with the upper bits that OPT carries */
	bool truncated, authoritative, recursion;
	bool empty;			/* no answer and no additional record in it but OPT: a referral is as empty */
	unsigned count;			/* records of that type at the end of the name's aliases */
	uint32_t ttl;			/* the least of those and the aliases; of no meaning where there is none */
	uint32_t negative_ttl;		/* how long "no" may be kept (RFC 2308); UINT32_MAX: not said */
	size_t records, records_count;	/* where the answer section begins, and its records */
	size_t extras, extras_count;	/* the same of the additional section, as far as it can be read */
	char canonname[NS_MAXDNAME];	/* the last of the aliases' ends that can be a host's name; "": none */
	uint8_t end[RCM_LABELS_MAX];	/* the name whose records count */
};

/*
 * Reads an answer, whose id the caller has compared. 0; -ENOENT: it answers another question, or none; -EBADMSG: what
 * it says can't be read. Its records may be in any order; octets behind the message don't matter. Where whole is not
 * set and the server has cut it, the records are not looked at.
 */
int rcm_message_read(const struct rcm_message_question *question, bool whole, const uint8_t *bytes, size_t len,
		  struct rcm_message_answer *ret_answer);

/* Whether a record is one of those that count: of the question's type, of the name at the end of the aliases. */
bool rcm_message_wants(const struct rcm_message_answer *answer, const struct rcm_rr *rr);

/* The answer's count addresses, in its order; of one to a question for addresses. */
void rcm_message_addresses(const struct rcm_message_answer *answer, union rcm_dns_address *addresses);

/* The data of an A or AAAA record, which fits, as an address. */
void rcm_message_put_address(union rcm_dns_address *to, uint16_t type, const uint8_t *data);
