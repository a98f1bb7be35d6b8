/* SPDX-License-Identifier: BSD-2-Clause */
/* A host that the test makes up: its addresses, its routes, and what connect() says of the way to an address. For
 * -Wl,--wrap=rcm_netlink_dump,--wrap=socket,--wrap=bind,--wrap=connect,--wrap=getsockname,--wrap=recv. */
#pragma once

#include "dns/dns.h"
#include "dns/srcaddr.h"

struct fake_own {
	uint16_t type;			/* of its message; 0: RTM_NEWADDR */
	uint8_t family, prefix, flags;
	unsigned index;
	const char *local, *address;	/* NULL: not told; both: the address is the other end's */
	bool local_last;
	size_t cut;			/* octets that are missing of it */
};

struct fake_block {
	const char *prefix;
	uint8_t bits;
};

struct fake_way {
	const char *to, *from;		/* no source: it can't be told */
};

extern struct fake_routes {
	const struct fake_own *owns;
	unsigned owns_count;
	const struct fake_block *blocks;
	unsigned blocks_count;
	const struct fake_way *ways;	/* to others there is none */
	unsigned ways_count;
	int addresses_error, routes_error;	/* 0 or -errno, of their lists */
	int socket_error[AF_MAX], bind_error;	/* 0 or errno */
	int news;			/* what is written there, the monitor has to read */
	int reads[4];			/* what its next reads give: > 0, or minus an errno; 0: EAGAIN */
	unsigned read, asked, dumped;	/* how often the monitor was read, ways were asked for, addresses listed */
	bool connected;
	union rcm_dns_address last;
} host;

#define HOST_HAS(what, rows) (host.what = (rows), host.what##_count = sizeof(rows) / sizeof(*(rows)))

/* Around each test: nothing is there. */
int fake_routes_begin(void **state);
int fake_routes_end(void **state);

/* IPv4 or IPv6, as text. */
union rcm_dns_address fake_address(const char *text);

/* The ways from there, followed. */
struct rcm_srcaddr *fake_routes_follow(void);

/* How many ways were asked for to sort the two. */
unsigned fake_routes_asked_for(struct rcm_srcaddr *srcaddr, const char *a, const char *b);
