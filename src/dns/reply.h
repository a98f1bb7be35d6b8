/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the addresses out of a name server's answer (RFC 1035 4.1, RFC 3596). Pure: no I/O, safe on any bytes. */
#pragma once

#include <arpa/nameser.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/dns.h"
#include "dns/eai.h"

/* What the answers to the questions of one name have in common; zeroed before the first. */
struct rcm_reply {
	unsigned count;
	union rcm_dns_address *addresses;	/* free() when done */
	uint32_t ttl;				/* the least of all records used; meaningful where count > 0 */
	char *canonname;			/* the last alias's end that can be a host's name; NULL: none; free() */
};

/*
 * Adds the addresses of an answer to a question of type ns_t_a or ns_t_aaaa to reply, in their order, following
 * CNAME records. FOUND: at least one; NODATA: none; MALFORMED or NOMEM: reply is as before. Addresses of one
 * name beyond RCM_RESULTS_MAX are left out.
 */
enum rcm_dns_verdict rcm_reply_add(struct rcm_reply *reply, ns_type type, const unsigned char *bytes, size_t len);

/* Frees what it holds and makes it an empty one. */
void rcm_reply_clear(struct rcm_reply *reply);
