/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked, and how it ended. */
#pragma once

#include "addr/hints.h"
#include "base/limits.h"
#include "dns/dns.h"
#include "sa/sa.h"

#define RCM_DEADLINE_DEFAULT UINT32_MAX

struct rcm_accept;

/* RAI_SA, beside service, which may be NULL then, and the hints' id: which records are listed, or which one is
 * removed. */
struct rcm_listing {
	bool remove;			/* the one of that id, GID and P_Key; nothing is found */
	bool by_gid, by_pkey;
	uint16_t pkey;
	struct rcm_gid gid;
};

/* What is asked; rcm_request_start() copies all of it, or takes a reference. */
struct rcm_question {
	const char *node;		/* NULL: none */
	const char *service;		/* NULL: none */
	union rcm_sockaddr dst;		/* with neither node nor service: what hints hold; sa_family 0: nothing */
	struct rcm_hints hints;		/* RAI_SA in its flags: the SA is asked, else names */
	struct rcm_gid port;		/* SA: GID of the local port; all zero: every active InfiniBand port, merged */
	uint8_t traffic_class;		/* SA: of the paths that are asked for */
	const struct rcm_sa_ops *sa;	/* SA: which client; NULL: our own */
	const struct rcm_listing *listing;	/* SA: with the hints' listing */
	struct rcm_accept *accept;	/* SA: which records are taken, see accept.h; NULL: all */
	uint32_t deadline_ms;		/* from now; 0: none; RCM_DEADLINE_DEFAULT: by environment and configuration */
	bool fresh;			/* don't use kept answers */
	bool waited;			/* by a thread; in the child of a fork, where that isn't, it is over */
	enum rcm_dns_source source;
};

/* What was found: shared, immutable, reference-counted; see answer.h. */
struct rcm_answer;

/* Gives a reference back. NULL: nothing. */
void rcm_answer_put(struct rcm_answer *answer);

/* How it ended. */
struct rcm_outcome {
	int status;			/* 0 or -errno */
	uint64_t arg;			/* event's param.arg: results found; EAI_* code; MAD status */
	struct rcm_answer *answer;	/* status 0: the completion takes over this reference */
	uint16_t port;			/* names: what service means, host order */
	char *text;			/* the step that failed and why, or what is missing, for the completion to
					 * free(); or NULL */
	bool more;			/* see rcm_request_watch_told() */
};

/* Called once, on the engine's thread or inside rcm_request_start(), with no lock held. May call rcm_request_put(), not
 * start another request's wait. */
typedef void rcm_outcome_fn(void *arg, struct rcm_outcome *outcome);
