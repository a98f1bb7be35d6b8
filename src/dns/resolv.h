/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub resolver's configuration, as glibc reads it, and the names it makes of a short one. */
#pragma once

#include <resolv.h>
#include <stdbool.h>
#include <stddef.h>

#include "dns/dns.h"

/* A snapshot of resolv.conf(5), its environment variables applied. Shared by reference; one thread. */
struct rcm_resolv {
	unsigned refs;
	unsigned servers_count;
	union rcm_dns_address servers[MAXNS];	/* with port and, for link-local ones, scope */
	unsigned search_count;
	char *search[MAXDNSRCH];
	unsigned ndots;
	int timeout_ms;			/* per server, first round */
	int attempts;
	bool rotate;
	bool use_tcp;
	bool edns;
	bool no_tld_query;
	bool beyond_us;			/* has what only glibc's own resolver can honour */
};

/* Reads the files and the environment; 0 or -errno. The caller owns the one reference. */
int rcm_resolv_read(struct rcm_resolv **ret_resolv);

/* The same from a state that res_ninit() filled. */
int rcm_resolv_from(const struct __res_state *res, struct rcm_resolv **ret_resolv);

struct rcm_resolv *rcm_resolv_get(struct rcm_resolv *resolv);
void rcm_resolv_put(struct rcm_resolv *resolv);

/* What an unsuccessful candidate means for those after it (res_search(3)). */
enum rcm_search_kind { RCM_SEARCH_END, RCM_SEARCH_AS_IS, RCM_SEARCH_DOMAIN };

/*
 * The index-th name to ask for instead of name, into buf (RCM_SEARCH_NAME_MAX bytes): as it is where it has ndots dots
 * or ends in one, then with each search domain, then as it is unless that was done. RCM_SEARCH_END: there are no more.
 */
enum rcm_search_kind rcm_search_name(const struct rcm_resolv *resolv, const char *name, unsigned index, char *buf);
enum { RCM_SEARCH_NAME_MAX = 2 * MAXDNAME };

/* The index of the last candidate, the one to go on with after a server failed at a search domain. */
unsigned rcm_search_last(const struct rcm_resolv *resolv, const char *name);
