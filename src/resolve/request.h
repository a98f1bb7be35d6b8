/* SPDX-License-Identifier: BSD-2-Clause */
/* One caller's resolution: started from any thread, carried out by the engine's thread, completed once. */
#pragma once

#include <rdma/rdma_cma.h>
#include <rdma/rai.h>

#include "addr/hints.h"
#include "base/limits.h"
#include "dns/dns.h"
#include "sa/sa.h"

#define RCM_DEADLINE_DEFAULT UINT32_MAX

/* What is asked; rcm_request_start() copies all of it. */
struct rcm_question {
	const char *node;		/* NULL: none */
	const char *service;		/* NULL: none */
	struct rcm_hints hints;		/* RAI_SA in its flags: the SA is asked, else names */
	struct rcm_gid port;		/* SA: GID of the local port; all zero: every active InfiniBand port, merged */
	const struct rcm_sa_ops *sa;	/* SA: which client; NULL: our own */
	uint32_t deadline_ms;		/* from now; 0: none; RCM_DEADLINE_DEFAULT: by environment and configuration */
	bool fresh;			/* don't use kept answers */
	enum rcm_dns_source source;
};

struct rcm_answer;			/* shared, immutable, reference-counted */

/* How it ended. */
struct rcm_outcome {
	int status;			/* 0 or -errno */
	uint64_t arg;			/* event's param.arg: results found; EAI_* code; MAD status */
	struct rcm_answer *answer;	/* status 0: the completion takes over this reference */
	uint16_t port;			/* names: what service means, host order */
	char *text;			/* failures: the step and the reason, for the completion to free(); or NULL */
};

/* Called once, on the engine's thread, with no lock held. May call rcm_request_put(), not start another request's
 * wait. */
typedef void rcm_outcome_fn(void *arg, struct rcm_outcome *outcome);

struct rcm_request;

/*
 * 0, and done is called exactly once, maybe before this returns; or -ENOMEM, -EAGAIN (no thread), -EMFILE and it never
 * is. Waits for nothing but a short mutex. *ret_request: a reference for rcm_request_cancel(), given up with
 * rcm_request_put().
 */
int rcm_request_start(const struct rcm_question *question, rcm_outcome_fn *done, void *arg,
		      struct rcm_request **ret_request);

/* Asks for an end: done is called soon with -ECANCELED, unless the outcome was on its way already. Never waits. */
void rcm_request_cancel(struct rcm_request *request);

/* NULL: nothing. */
void rcm_request_put(struct rcm_request *request);

/* Makes the list of an answer for a question's hints and the outcome's port: 0 or -ENOMEM. Any thread. */
int rcm_answer_list(const struct rcm_answer *answer, const struct rcm_hints *hints, uint16_t port,
		    struct rdma_addrinfo **ret_list);

/* Results in it (after the cut to RCM_RESULTS_MAX). */
unsigned rcm_answer_count(const struct rcm_answer *answer);

/* The first result's destination: where rdma_resolve_route() goes right after RAI_SA. */
const union rcm_sockaddr *rcm_answer_first(const struct rcm_answer *answer);

/* NULL: nothing. */
void rcm_answer_put(struct rcm_answer *answer);

/* Starts again, in the child of a fork, what was under way when it forked. Cheap where nothing is to do; called first
 * by each public call that may wait or start something. */
void rcm_engine_enter(void);

/* Counters, see rai_get_stats(). Any thread. */
void rcm_engine_stats(struct rai_stats *ret_stats);
