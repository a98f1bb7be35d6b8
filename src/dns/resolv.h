/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub resolver's configuration, resolv.conf(5), read as glibc reads it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dns/dns.h"
#include "dns/sortlist.h"

enum { RCM_RESOLV_SERVERS = 3 };	/* more are not looked at */

/* A snapshot, its environment variables applied. Shared by reference; one thread. */
struct rcm_resolv {
	unsigned refs;
	unsigned servers_count;			/* at least one */
	union rcm_dns_address servers[RCM_RESOLV_SERVERS];	/* with port and, for link-local ones, scope */
	unsigned search_count;
	char **search;
	unsigned ndots;
	int timeout_ms;				/* of each question at each server */
	int attempts;				/* rounds over the servers */
	bool rotate;
	bool use_tcp;
	bool edns;
	bool trust_ad;
	bool no_aaaa;
	bool single_request;			/* the second family is asked for when the first is done */
	bool reopen;				/* and from another port, if the same gave nothing */
	bool no_tld_query;
	struct rcm_sortlist sortlist;		/* for who wants IPv4 addresses alone */
};

/* Reads the file, and goes by the copy of the environment (environment.h); 0 or -errno. The caller owns the one
 * reference. */
int rcm_resolv_read(const char *path, struct rcm_resolv **ret_resolv);

struct rcm_resolv *rcm_resolv_get(struct rcm_resolv *resolv);
void rcm_resolv_put(struct rcm_resolv *resolv);

bool rcm_resolv_is_same(const struct rcm_resolv *a, const struct rcm_resolv *b);

/* Whether that server is one of resolv's. */
bool rcm_resolv_has(const struct rcm_resolv *resolv, const union rcm_dns_address *server);
