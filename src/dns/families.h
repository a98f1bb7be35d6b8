/* SPDX-License-Identifier: BSD-2-Clause */
/* The two questions about one full name, for IPv4 and IPv6 addresses: asked together or one after the other, and how
 * long the one is waited for when the other is there; or the one for its SRV records. */
#pragma once

#include "dns/exchange.h"
#include "dns/reply.h"

/* In the place of a family: SRV records, by one question. */
enum { RCM_FAMILIES_SRV = 0x10000 };

struct rcm_families {
	struct rcm_servers *servers;
	const struct rcm_resolv *resolv;
	struct rcm_exchange exchanges[2];	/* A, or SRV, and AAAA */
	struct rcm_timer timer;			/* when to do something about the silent one */
	uint64_t give_up_at;			/* 0: not before its own time is over */
	uint64_t again_after;			/* ns until the silent one is asked once more, then doubled */
	unsigned waiting, open;			/* bits of exchanges: not asked yet; not answered yet */
	bool hidden;				/* A stands in for AAAA, which is not to be asked for */
	bool half;				/* one family's addresses are missing for a failure */
	int missing;				/* that family where it was given up for its silence, else 0 */
	enum rcm_dns_verdict verdict;		/* the greater of both */
	const union rcm_dns_address *speaker;	/* who said so; NULL: nobody */
	struct rcm_reply reply;

	/* Once, when both are over, or enough. It may free it. */
	void (*done)(struct rcm_families *families, void *arg);
	void *arg;
	size_t name_len;
	uint8_t name[];
};

/* How names are asked about; the scripted fake of the tests is another. */
struct rcm_families_ops {
	/*
	 * Asks about a full name, its addresses of a family or of both (AF_UNSPEC), or RCM_FAMILIES_SRV; resolv lives
	 * on. 0: done is called once, later; -EINVAL: name can't be one; -EAGAIN: the server has no room now,
	 * servers->room is called when it may; or -ENOMEM.
	 */
	int (*start)(struct rcm_servers *servers, const struct rcm_resolv *resolv, const char *name, int family,
		     void (*done)(struct rcm_families *families, void *arg), void *arg,
		     struct rcm_families **ret_families);

	/* Sends what start() was told, which else is sent in the loop's next turn. */
	void (*flush)(struct rcm_servers *servers);

	/* Frees it, over or not; done is not called any more. NULL: nothing. */
	void (*free)(struct rcm_families *families);
};

extern const struct rcm_families_ops rcm_families_network;
