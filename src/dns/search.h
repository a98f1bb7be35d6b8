/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that are asked for instead of a short one. Pure. */
#pragma once

#include "dns/eai.h"
#include "dns/resolv.h"

/* What an unsuccessful candidate means for those after it (res_search(3)). */
enum rcm_search_kind { RCM_SEARCH_END, RCM_SEARCH_AS_IS, RCM_SEARCH_DOMAIN };

enum { RCM_SEARCH_NAME_MAX = 2 * 1025 };

/*
 * The index-th name to ask for instead of name, into buf (RCM_SEARCH_NAME_MAX bytes): as it is where it has ndots dots
 * or ends in one, then with each search domain, then as it is unless that was done. RCM_SEARCH_END: there are no more.
 */
enum rcm_search_kind rcm_search_name(const struct rcm_resolv *resolv, const char *name, unsigned index, char *buf);

/* How many characters of a name for SRV records are labels of service and protocol, which begin with "_": domains are
 * tried behind what follows them, and its dots count. */
unsigned rcm_search_prefix(const char *name);

/* A name's way through its candidates; zeroed at first. */
struct rcm_search {
	const union rcm_dns_address *server;	/* who told the verdict; NULL: nobody */
	uint16_t candidate;
	uint16_t skipped;			/* domains behind one that could not be asked */
	uint8_t kind;				/* enum rcm_search_kind of it */
	uint8_t verdict;			/* enum rcm_dns_verdict that is told if no candidate is found, once */
	bool known;				/* there is one, */
	bool final;				/* and no other will be */
};

/* The next candidate that can be the name of a host, into buf: glibc takes no answer about another. False: none is
 * left. */
bool rcm_search_next(struct rcm_search *search, const struct rcm_resolv *resolv, const char *name, char *buf);

/* The candidate as the user knows it, into buf. */
void rcm_search_print(const struct rcm_search *search, const struct rcm_resolv *resolv, const char *name, char *buf);

/* The candidate was not found: on to the one after it, or to the last. */
void rcm_search_fail(struct rcm_search *search, const struct rcm_resolv *resolv, const char *name,
		     enum rcm_dns_verdict verdict, const union rcm_dns_address *server);
