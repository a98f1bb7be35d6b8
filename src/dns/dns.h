/* SPDX-License-Identifier: BSD-2-Clause */
/* What a source of host names offers to the resolver engine. All calls and completions are on the loop's thread. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "loop/loop.h"

enum rcm_dns_source { RCM_DNS_CONFIGURED, RCM_DNS_SERVERS, RCM_DNS_HOSTS };

/* A name, not a number. */
struct rcm_dns_query {
	const char *name;
	int family;			/* AF_INET, AF_INET6 or AF_UNSPEC */
	enum rcm_dns_source source;
	bool srv;			/* its SRV records are asked for, and the addresses of their targets */
	bool full;			/* it is a full name: no domain is tried behind it */
};

/* An address without a port: in.sin_port and in6.sin6_port are 0; sin6_scope_id is kept. */
union rcm_dns_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* One SRV record (RFC 2782), and which of its answer's addresses its target has; another may have the same. */
struct rcm_dns_srv {
	uint16_t priority, weight, port;
	unsigned first, count;
	char target[RCM_NODE_MAX + 1];	/* a full name, without a dot at its end */
};

/* Valid during the completion only. */
struct rcm_dns_answer {
	int status;			/* 0, or -errno as the contract says: ENOENT ENODATA ETIMEDOUT EAGAIN EIO ... */
	int code;			/* EAI_* that goes with it; 0 on success */
	uint32_t ttl;			/* seconds this may be kept, a "no" too; 0: not at all (hosts file, modules) */
	unsigned count;
	const union rcm_dns_address *addresses;	/* all, in RFC 6724 order as getaddrinfo() on this host gives them */
	const char *canonname;		/* or NULL */
	const char *text;		/* failures: step and reason ("name server 192.0.2.1 is silent"), or NULL */
	int missing;			/* a family whose addresses aren't in it, as it stayed silent; 0: none */

	/* To a query for SRV records: in no order, and none without an address. Addresses are in no order, either. */
	unsigned srv_count;
	const struct rcm_dns_srv *srv;
	unsigned targets, targets_lost;	/* how many hosts they name, and those that no address was found of */
};

typedef void rcm_dns_done_fn(void *arg, const struct rcm_dns_answer *answer);

/* status 0: the service's port, host order; or -ENOENT: there is none; or another -errno. */
typedef void rcm_dns_service_fn(void *arg, int status, uint16_t port);

struct rcm_dns;				/* a back end's state */
struct rcm_dns_lookup;			/* one name under way */
struct rcm_dns_service;			/* one service name under way */

/* What a back end tells whoever opened it, on the loop's thread. */
struct rcm_dns_owner {
	/* What names mean here may be another thing from now on: answers that were kept don't count, and whoever asks
	 * now must not get the answer of a lookup that was started before. */
	void (*changed)(void *arg);

	/* Whoever waits since settle() gave 0 need not any more. status 0, or -errno: there is no configuration. */
	void (*settled)(void *arg, int status);
	void *arg;
};

struct rcm_dns_ops {
	const char *name;

	/* 0 or -errno. owner is copied. */
	int (*open)(struct rcm_loop *loop, const struct rcm_dns_owner *owner, struct rcm_dns **ret_dns);

	/*
	 * Whether the configuration in force is what the host's files say now: 1; 0: they are being read, and settled()
	 * will be called; or -errno. To be called before a name or service is asked for, and before a kept answer is
	 * given out. Waits for nothing.
	 */
	int (*settle)(struct rcm_dns *dns);

	/* Whether that is known to be so; and whether sort() goes by this host's routes and addresses as they are now,
	 * which settle() sees to. Any thread; neither waits for anything. */
	bool (*is_settled)(struct rcm_dns *dns);
	bool (*knows_ways)(struct rcm_dns *dns);

	/* Any thread, where is_settled(): an answer that start() would give without asking anybody. 1, and done was
	 * called; 0: there is none. Waits for nothing. */
	int (*answer_now)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg);

	/* Puts addresses in the order in which getaddrinfo() would give them now. Any thread; waits for nothing. */
	void (*sort)(struct rcm_dns *dns, union rcm_dns_address *addresses, unsigned count);

	/* Starts a lookup: 0, and done is called once, never before start returned; or -errno and it is not called.
	 * *ret_lookup is valid until done is called or cancel() was, and query->name has to be so long. Waits for
	 * nothing. */
	int (*start)(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		     struct rcm_dns_lookup **ret_lookup);

	/* From now on the same name, letter by letter but for their case, is at that place. */
	void (*move)(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, const char *name);

	/* What has been found so far, to someone whose time is over, at once; the lookup goes on. False: nothing. */
	bool (*partial)(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg);

	/* done will not be called any more. */
	void (*cancel)(struct rcm_dns *dns, struct rcm_dns_lookup *lookup);

	/* The port of a service name for SOCK_STREAM, SOCK_DGRAM or (type 0) either. 1: it is known; -ENOENT: it is
	 * known that there is none; 0: it has to be asked for. Any thread, where is_settled(). */
	int (*service_now)(struct rcm_dns *dns, const char *name, int type, uint16_t *ret_port);

	/* As start() and cancel(). */
	int (*service_start)(struct rcm_dns *dns, const char *name, int type, rcm_dns_service_fn *done, void *arg,
			     struct rcm_dns_service **ret_service);
	void (*service_cancel)(struct rcm_dns *dns, struct rcm_dns_service *service);

	/* Ends all without completions; waits for no network. dns NULL: nothing. */
	void (*close)(struct rcm_dns *dns);

	/* In the child of a fork: gives up descriptors and memory without touching what the parent shares (epoll
	 * registrations, worker threads). dns NULL: nothing. */
	void (*abandon)(struct rcm_dns *dns);

	/* Around a fork: takes and gives back what guards the state that any thread may use, so that the child finds
	 * it whole. */
	void (*fork_prepare)(struct rcm_dns *dns);
	void (*fork_done)(struct rcm_dns *dns);
};

/* The host's own names: per nsswitch.conf our own questions or getaddrinfo() workers (pick.c). */
extern const struct rcm_dns_ops rcm_dns_system;
