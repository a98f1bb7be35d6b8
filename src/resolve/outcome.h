/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a resolution: its status, its numbers, and in words why it failed. Any thread. */
#pragma once

#include "resolve/engine.h"

/* What was asked, as far as its end tells of it. */
struct rcm_about {
	const char *node, *service;	/* NULL: none */
	bool sa;
	enum rcm_kind kind;
	uint16_t port;			/* that the service means, host order */
	unsigned number;		/* of the request */
	bool more;			/* rcm_outcomes_told() follows */
};

/* The last step of a resolution, which comes before its end: a watcher that waits for nothing else has all of them. */
void rcm_outcome_announce(const struct rcm_about *about, const struct rcm_answer *answer);
void rcm_request_announce(const struct rcm_request *request, const struct rcm_answer *answer);

/* Calls done with the outcome, taking over the reference to answer, and counts it. */
void rcm_outcome_tell(struct rcm_engine *engine, const struct rcm_about *about, struct rcm_answer *answer,
		      rcm_outcome_fn *done, void *arg);

/* The same for a request that waits nowhere, of which the engine's reference is given back. */
void rcm_request_tell(struct rcm_request *request, struct rcm_answer *answer, bool more);

/* Those that were told one after the other have been; and who wants to know. */
void rcm_outcomes_told(void);
void rcm_outcomes_watch(void (*told)(void));
