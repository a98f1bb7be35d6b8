/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread and what it owns: requests, flights, kept answers, back ends. Inside src/resolve only. */
#pragma once

#include <stdatomic.h>
#include <sys/queue.h>

#include "addr/reach.h"
#include "dns/nss.h"
#include "loop/timer.h"
#include "resolve/answer.h"
#include "resolve/cache.h"
#include "resolve/request.h"

struct rcm_engine;
struct rcm_flight;
struct rcm_record_lookup;

/*
 * Where a request is; each change is made by the function named.
 * POSTED   on the way to the engine, or in its backlog	(rcm_request_start, rcm_flight_reset)
 * NAMING   of its service's port, by a worker		(rcm_servname_start)
 * WAITING  on a flight					(rcm_flight_join)
 * ENDED    has its answer; delivered at the turn's end	(rcm_request_end)
 */
enum rcm_request_state { RCM_REQUEST_POSTED, RCM_REQUEST_NAMING, RCM_REQUEST_WAITING, RCM_REQUEST_ENDED };

struct rcm_request {
	atomic_uint refs;			/* the caller's and the engine's */
	atomic_bool cancelled;
	enum rcm_request_state state;		/* the rest is the engine's, once posted */
	uint16_t port;				/* host order */
	bool fresh;
	bool service_is_name;			/* its port is to be looked up */
	enum rcm_dns_source source;
	rcm_outcome_fn *done;
	void *arg;
	uint64_t deadline;			/* ns; 0: none */
	int flags, family, qp_type;		/* of its hints: what the engine needs, these and the next two */
	bool by_id;
	uint64_t service_id;
	struct rcm_gid port_gid;
	const struct rcm_sa_ops *sa;
	STAILQ_ENTRY(rcm_request) queued;	/* posted, backlog or ended */
	STAILQ_ENTRY(rcm_request) cancels;
	TAILQ_ENTRY(rcm_request) waiter;	/* of its flight, or of the engine's naming */
	union {
		struct rcm_flight *flight;	/* while WAITING */
		struct rcm_dns_lookup *naming;	/* while NAMING */
	};
	struct rcm_engine *engine;		/* since it began */
	struct rcm_answer *answer;
	struct rcm_timer timer;
	const char *node, *service;		/* in or behind the key; NULL: none */
	unsigned key_hash, key_len;
	uint8_t key[];
};

STAILQ_HEAD(rcm_requests, rcm_request);
TAILQ_HEAD(rcm_waiters, rcm_request);

/* An SA client that is in use. */
struct rcm_sa_client {
	const struct rcm_sa_ops *ops;		/* NULL: free slot */
	struct rcm_sa *sa;
};

enum { RCM_SA_CLIENTS = 4 };			/* ours, the kernel's, and room for tests */

/* Back ends; tests put others in place. */
struct rcm_backends {
	const struct rcm_dns_ops *dns;
	const struct rcm_sa_ops *sa;		/* where a question names none */
	int (*sa_ports)(struct rcm_sa_port *ports, unsigned max);
	rcm_nss_ask_fn *ask_service;		/* by workers, where services aren't local; NULL: always local */
	bool (*services_are_local)(void);
};

struct rcm_engine {
	struct rcm_loop loop;
	struct rcm_backends backends;
	struct rcm_dns *dns;			/* NULL: not opened yet */
	struct rcm_sa_client sa[RCM_SA_CLIENTS];
	struct rcm_reach reach;
	struct rcm_nss *services;		/* workers for service names; NULL: not needed yet */
	struct rcm_waiters naming;
	struct rcm_flight *flights;		/* by key */
	struct rcm_cache cache;
	struct rcm_requests backlog;		/* taken from the post box, not begun */
	struct rcm_requests ended;
};

/* Events counted and levels shown by rcm_engine_stats(). */
enum rcm_count {
	RCM_COUNT_STARTED, RCM_COUNT_RESOLVED, RCM_COUNT_FAILED, RCM_COUNT_CANCELLED, RCM_COUNT_KEPT_HITS,
	RCM_COUNT_SHARED, RCM_COUNT_LOOKUPS, RCM_COUNT_TIMEOUTS, RCM_COUNTS
};

void rcm_engine_count(enum rcm_count which);

/* Posts a request, or its cancelling (takes over a reference), and wakes the engine where it sleeps. Any thread. */
void rcm_engine_post(struct rcm_request *request);
void rcm_engine_post_cancel(struct rcm_request *request);

/* Starts the thread where it isn't running: 0, -EAGAIN, -EMFILE, -ENOMEM. Any thread. */
int rcm_engine_start(void);

/* Other back ends. Tests only, before the first request. */
void rcm_engine_use(const struct rcm_backends *backends);

/* On the engine's thread: begins what was posted, or ends it at once. */
void rcm_request_begin(struct rcm_engine *engine, struct rcm_request *request);

/* On the engine's thread: goes on once a worker has found the port of its service name (0), or -errno. */
void rcm_request_resume(struct rcm_request *request, int status);

/* On the engine's thread: the application wants it to end. */
void rcm_request_stop(struct rcm_request *request);

/* On the engine's thread: settles the outcome, taking over the reference to answer. The request waits nowhere any
 * more. */
void rcm_request_end(struct rcm_engine *engine, struct rcm_request *request, struct rcm_answer *answer);

/* On the engine's thread: calls the completion of an ended request and gives up the engine's reference. */
void rcm_request_deliver(struct rcm_request *request);
