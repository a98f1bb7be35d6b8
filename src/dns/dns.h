/* SPDX-License-Identifier: BSD-2-Clause */
/* What a source of host names offers to the resolver engine. All calls and completions are on the loop's thread. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "loop/loop.h"

enum rcm_dns_source { RCM_DNS_CONFIGURED, RCM_DNS_SERVERS, RCM_DNS_HOSTS };

/* A name, not a number; copied by start(). */
struct rcm_dns_query {
	const char *name;
	int family;			/* AF_INET, AF_INET6 or AF_UNSPEC */
	enum rcm_dns_source source;
	uint32_t timeout_ms;		/* how long the caller waits; 0: no limit. A hint: it has a timer of its own */
};

/* An address without a port: in.sin_port and in6.sin6_port are 0; sin6_scope_id is kept. */
union rcm_dns_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Valid during the completion only. */
struct rcm_dns_answer {
	int status;			/* 0, or -errno as the contract says: ENOENT ENODATA ETIMEDOUT EAGAIN EIO ... */
	int code;			/* EAI_* that goes with it; 0 on success */
	uint32_t ttl;			/* seconds this may be kept; 0: not at all (hosts file, system modules) */
	unsigned count;
	const union rcm_dns_address *addresses;	/* all, in RFC 6724 order as getaddrinfo() on this host gives them */
	const char *canonname;		/* or NULL */
	const char *text;		/* failures: step and reason ("name server 192.0.2.1 is silent"), or NULL */
};

typedef void rcm_dns_done_fn(void *arg, const struct rcm_dns_answer *answer);

struct rcm_dns;				/* a back end's state */
struct rcm_dns_lookup;			/* one name under way */

struct rcm_dns_ops {
	const char *name;

	/* 0 or -errno. */
	int (*open)(struct rcm_loop *loop, struct rcm_dns **ret_dns);

	/* Starts a lookup: 0, and done is called once, never before start returned; or -errno and it is not called.
	 * *ret_lookup is valid until done is called or cancel() was. Waits for nothing. */
	int (*start)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		     struct rcm_dns_lookup **ret_lookup);

	/* done will not be called any more. */
	void (*cancel)(struct rcm_dns *dns, struct rcm_dns_lookup *lookup);

	/* Ends all without completions; waits for no network. dns NULL: nothing. */
	void (*close)(struct rcm_dns *dns);

	/* In the child of a fork: gives up descriptors and memory without touching what the parent shares (epoll
	 * registrations, worker threads). dns NULL: nothing. */
	void (*abandon)(struct rcm_dns *dns);
};

/* The host's own names: per nsswitch.conf c-ares or getaddrinfo() workers (pick.c). */
extern const struct rcm_dns_ops rcm_dns_system;
