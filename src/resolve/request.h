/* SPDX-License-Identifier: BSD-2-Clause */
/* One caller's resolution while it is under way. Inside src/resolve only. */
#pragma once

#include <rdma/rai.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/probe.h"
#include "base/tell.h"
#include "loop/timer.h"
#include "resolve/question.h"

struct rcm_engine;
struct rcm_flight;

/*
 * Where a request is; each change is made by the function named.
 * POSTED   on the way to the engine, or in its backlog	(rcm_request_new, rcm_flight_reset, rcm_course_reset);
 *          in the child of a fork also one that rests	(rcm_engine_abandon)
 * READING  until the host's files are read		(rcm_course_begin)
 * NAMING   until its service's port is known		(rcm_course_begin)
 * WAITING  on a flight					(rcm_flight_join)
 * ENDED    has its answer; delivered at the turn's end	(rcm_engine_end)
 */
enum rcm_request_state {
	RCM_REQUEST_POSTED, RCM_REQUEST_READING, RCM_REQUEST_NAMING, RCM_REQUEST_WAITING, RCM_REQUEST_ENDED,
};

/* The steps of a resolution, each a line of RAI_LOG=trace; docs/design.md draws them. */
enum rcm_step {
	RCM_STEP_HERE,			/* answered on the caller's thread */
	RCM_STEP_POSTED,		/* handed to the engine's thread */
	RCM_STEP_READING,		/* waits for the host's files to be read */
	RCM_STEP_NAMING,		/* waits for the port of its service's name */
	RCM_STEP_KEPT,			/* a kept answer */
	RCM_STEP_ASKED,			/* a back end was asked */
	RCM_STEP_JOINED,		/* an equal lookup was under way */
	RCM_STEP_LANDED,		/* the lookup is over */
	RCM_STEP_TOLD,			/* the outcome was told to whoever asked */
	RCM_STEPS
};

struct rcm_request {
	atomic_uint refs;			/* the caller's and the engine's */
	atomic_bool cancelled;
	bool rests;				/* under the engine's box: the parent's of a fork, not started again */
	uint16_t port;				/* host order; the engine's, as all from here on, once posted */
	enum rcm_request_state state;
	unsigned number;			/* as traces know it */
	bool fresh : 1;
	bool waited : 1;			/* by a thread, which isn't there in the child of a fork */
	bool settled;				/* when it was asked, the host's files were those in force */
	bool service_is_name;			/* its port is to be looked up */
	bool by_id;				/* of its hints what the engine needs: this, */
	uint8_t traffic_class;
	uint8_t socket_type;			/* this, */
	uint16_t family;			/* this, */
	enum rcm_dns_source source;
	int flags;				/* this, */
	rcm_outcome_fn *done;
	void *arg;
	uint64_t deadline;			/* ns; 0: none */
	uint64_t service_id;			/* and this */
	struct rcm_gid port_gid;
	const struct rcm_sa_ops *sa;
	struct rcm_listing *listing;		/* its own; NULL: none */
	struct rcm_accept *accept;		/* a reference; NULL: all */
	STAILQ_ENTRY(rcm_request) queued;	/* posted, backlog or ended */
	STAILQ_ENTRY(rcm_request) cancels;
	TAILQ_ENTRY(rcm_request) waiter;	/* of its flight, or of the engine's reading, naming, resting */
	union {
		struct rcm_flight *flight;	/* while WAITING */
		struct rcm_dns_service *naming;	/* while NAMING */
	};
	struct rcm_engine *engine;
	struct rcm_answer *answer;
	struct rcm_timer timer;
	const char *node, *service;		/* in or behind the key; NULL: none */
	unsigned key_hash, key_len;
	uint8_t key[];
};

STAILQ_HEAD(rcm_requests, rcm_request);
TAILQ_HEAD(rcm_waiters, rcm_request);

static inline bool rcm_request_is_sa(const struct rcm_request *request)
{
	return request->flags & RAI_SA;
}

static inline bool rcm_request_is_srv(const struct rcm_request *request)
{
	return request->flags & RAI_SRV;
}

/* What the name back end is asked. */
static inline struct rcm_dns_query rcm_request_query(const struct rcm_request *request)
{
	return (struct rcm_dns_query){
		.name = request->node, .family = request->family, .source = request->source,
		.srv = rcm_request_is_srv(request),
	};
}

/* A question as a request, with two references: 0 or -ENOMEM. Any thread. */
int rcm_request_new(const struct rcm_question *question, struct rcm_request **ret_request);

/* When a back end gives up: somewhat before the request's own deadline, so that it is the one to say why. ns; 0:
 * never. */
uint64_t rcm_request_backend_deadline(const struct rcm_request *request, uint64_t now);

/* Gives a reference back. Any thread. */
void rcm_request_unref(struct rcm_request *request);

/* What is asked for, to probes; docs/tracing.md and the scripts in tools have these numbers. */
enum rcm_kind { RCM_KIND_NAME, RCM_KIND_SA, RCM_KIND_SRV };

static inline enum rcm_kind rcm_kind_of(int flags)
{
	return flags & RAI_SA ? RCM_KIND_SA : flags & RAI_SRV ? RCM_KIND_SRV : RCM_KIND_NAME;
}

static inline const char *rcm_request_text(const struct rcm_request *request)
{
	if (request->node)
		return request->node;
	return request->service ? request->service : "services";
}

/* Its line's word is its probe's name. */
#define RCM_PROBE_RCM_STEP_HERE here
#define RCM_PROBE_RCM_STEP_POSTED posted
#define RCM_PROBE_RCM_STEP_READING reading
#define RCM_PROBE_RCM_STEP_NAMING naming
#define RCM_PROBE_RCM_STEP_KEPT kept
#define RCM_PROBE_RCM_STEP_ASKED asked
#define RCM_PROBE_RCM_STEP_JOINED joined
#define RCM_PROBE_RCM_STEP_LANDED landed
#define RCM_STEP_ARGUMENTS(...) __VA_ARGS__

/* A probe, with its arguments behind the number in brackets; told, and a line of RAI_LOG=trace, "request 7: asked
 * (detail)". Any thread, without a lock. */
const char *rcm_step_text(enum rcm_step step);
const char *rcm_step_status(int status);	/* "ENOENT"; "0" */
#define rcm_step_trace(number, step, arguments, ...) \
	do { \
		RCM_PROBE(RCM_PROBE_##step, number, RCM_STEP_ARGUMENTS arguments); \
		if (rcm_tell_wants()) \
			rcm_step_write(number, step, __VA_ARGS__); \
	} while (0)
void rcm_step_write(unsigned number, enum rcm_step step, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
