/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries questions to the configured name servers and their answers back: c-ares on the engine's loop. One thread. */
#pragma once

#include <arpa/nameser.h>
#include <stdbool.h>
#include <stddef.h>

#include "dns/eai.h"
#include "dns/resolv.h"

struct rcm_cares;
struct rcm_cares_name;

struct rcm_cares_answer {
	ns_type type;			/* of the question: ns_t_a or ns_t_aaaa */
	enum rcm_dns_verdict verdict;	/* FOUND: bytes are to be read */
	const unsigned char *bytes;	/* the message; NULL where the verdict isn't an answer's */
	size_t len;
	const union rcm_dns_address *server;	/* who said so; NULL: nobody */
};

/* The questions about one name. Embedded in what asks; zeroed before first use. */
struct rcm_exchange {
	struct rcm_cares_name *name;	/* NULL: nothing is under way */
	struct rcm_resolv *resolv;	/* whose servers are asked; who asks keeps the reference */
	void (*answered)(struct rcm_exchange *exchange, const struct rcm_cares_answer *answer, bool last);
};

/* How questions travel; the scripted fake of the tests is another. */
struct rcm_cares_ops {
	/* 0 or -errno. */
	int (*open)(struct rcm_loop *loop, struct rcm_cares **ret_cares);

	/*
	 * Asks for A, AAAA or both of a full name at the servers of resolv, which lives as long as the exchange. 0:
	 * answered() is called once for each, maybe before this returns, the last time with last set; or -EAGAIN: all
	 * RCM_DNS_CHANNELS_MAX channels are full; or another -errno. Nothing is called then. Not to be called from
	 * answered(): a channel may go here.
	 */
	int (*ask)(struct rcm_cares *cares, struct rcm_resolv *resolv, const char *name, bool a, bool aaaa,
		   struct rcm_exchange *exchange);

	/* answered() is not called any more. c-ares can't take a single question back: its answer is dropped. */
	void (*drop)(struct rcm_exchange *exchange);

	/* Closes all sockets; no completions. cares NULL: nothing. */
	void (*close)(struct rcm_cares *cares);

	/* The same in the child of a fork, leaving alone the epoll registrations that the parent shares. */
	void (*abandon)(struct rcm_cares *cares);
};

extern const struct rcm_cares_ops rcm_cares_network;
