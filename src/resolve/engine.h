/* SPDX-License-Identifier: BSD-2-Clause */
/* All state of the resolver: requests, flights, kept answers, back ends, and the post box by which other threads reach
 * its own. Inside src/resolve only. */
#pragma once

#include "addr/reach.h"
#include "base/lock.h"
#include "dns/weight.h"
#include "loop/wake.h"
#include "publish/publisher.h"
#include "resolve/cache.h"
#include "resolve/gauge.h"
#include "resolve/monitor.h"
#include "resolve/request.h"
#include "resolve/stats.h"

struct rcm_flight;

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
	int (*port_look)(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port);
	const struct rcm_alerts_ops *alerts;	/* NULL: devices tell nothing by themselves */
	struct rcm_dice (*dice)(void);		/* for the order of SRV records; NULL: rcm_dice_new() */
};

/* What other threads want done on the engine's, but for resolutions. */
struct rcm_errand {
	STAILQ_ENTRY(rcm_errand) entry;
	void (*run)(struct rcm_engine *engine, struct rcm_errand *errand);
};

STAILQ_HEAD(rcm_errands, rcm_errand);

/* The local ports as a look found them. */
struct rcm_ports_seen {
	uint64_t at, pkeys_at;			/* ns; 0: never */
	unsigned hash, pkeys;
};

/*
 * FRESH      no thread was ever started			(at first)
 * RUNNING    there is a thread				(rcm_resolver_start)
 * FORKED     a child still holding the parent's engine	(the fork)
 * ABANDONED  it has given that up, and has no thread yet	(rcm_resolver_start)
 * LOST       the program has closed its descriptors: all that was under way has ended, and what comes still
 *            ends at once; another takes its place		(resolver_lose)
 */
enum rcm_engine_life {
	RCM_ENGINE_FRESH, RCM_ENGINE_RUNNING, RCM_ENGINE_FORKED, RCM_ENGINE_ABANDONED, RCM_ENGINE_LOST,
};

struct rcm_engine {
	struct rcm_lock starting;		/* held while a thread is being started */
	_Atomic(enum rcm_engine_life) life;
	struct rcm_engine *before;		/* the one that was lost: threads may still be in it, so it stays */
	void (*lose)(struct rcm_engine *engine);	/* its descriptors are gone, or what it was posted comes late */

	/* Held by the engine's thread while it works, and by a fork: a child finds the engine between two turns. The
	 * way to the gate is through the door, so that a busy engine can't keep a fork waiting. */
	struct rcm_lock door, gate;

	struct rcm_lock box;
	struct rcm_requests posted RCM_GUARDED_BY(box), cancels RCM_GUARDED_BY(box);
	struct rcm_errands errands RCM_GUARDED_BY(box);
	struct rcm_waiters resting RCM_GUARDED_BY(box);	/* in the child of a fork: what the parent had under way */
	atomic_bool asleep;			/* set under box; the engine has to be woken */
	atomic_bool waits;			/* for descriptors and timers, or on its way there */
	_Atomic(uint64_t) proven_at;		/* ns; when it was last rung, or found whole */
	struct rcm_wake wake;

	/* Any thread. */
	struct rcm_stats stats;
	struct rcm_cache cache;
	struct rcm_lock reach_lock;
	struct rcm_reach reach RCM_GUARDED_BY(reach_lock);
	_Atomic(struct rcm_dns *) dns;		/* NULL: not opened yet */
	atomic_uint numbers;			/* given to requests */

	/* The thread's alone. */
	struct rcm_loop loop;
	struct rcm_backends backends;
	struct rcm_sa_client sa[RCM_SA_CLIENTS];
	struct rcm_ports_seen ports_seen;
	struct rcm_publisher publisher;
	struct rcm_monitor monitor;
	struct rcm_gauge gauge;
	unsigned sa_hosts;			/* paths in the last answer with those to all hosts; 0: none yet */
	struct rcm_waiters reading, naming;
	struct rcm_flight *flights;		/* by key */
	LIST_HEAD(, rcm_flight) older;		/* that nobody joins any more */
	unsigned older_count;
	struct rcm_requests backlog;		/* taken from the post box, not begun */
	struct rcm_requests ended;
	struct rcm_tell_list steps;		/* of this turn, which are told while nobody holds the gate */
};

/* The one of the process. */
struct rcm_engine *rcm_engine_the(void);

/* Puts a fresh one in the place of one that was lost: 0 or -ENOMEM. */
int rcm_engine_succeed(struct rcm_engine *lost) RCM_REQUIRES(&lost->starting);

/* Other back ends. Tests only, before the first request. */
void rcm_engine_use(const struct rcm_backends *backends);

/* The number of the next request. Any thread. */
unsigned rcm_engine_number(struct rcm_engine *engine);

/* False: the program has closed its descriptors. One that works finds that by itself; one that sleeps, or doesn't come
 * though it was woken a while ago, may be out of reach, and is looked at. Any thread. */
bool rcm_engine_is_whole(struct rcm_engine *engine);

/* The name back end as other threads may use it; NULL: it isn't there, or the parent's of a fork. Any thread. */
struct rcm_dns *rcm_engine_dns(struct rcm_engine *engine);

/* Posts a request, or its cancelling (takes over a reference), and wakes the engine where it sleeps. Any thread,
 * without locks but the adoption's: what a lost one is posted ends at once. */
void rcm_engine_post(struct rcm_engine *engine, struct rcm_request *request);
void rcm_engine_post_cancel(struct rcm_engine *engine, struct rcm_request *request);
void rcm_engine_post_errand(struct rcm_engine *engine, struct rcm_errand *errand);

/* Of a request that rests: whether it does; puts it to rest; wakes it, true: it did, and is the caller's to post or to
 * end. Any thread. */
bool rcm_engine_rests(struct rcm_engine *engine, struct rcm_request *request);
void rcm_engine_lay(struct rcm_engine *engine, struct rcm_request *request);
bool rcm_engine_lift(struct rcm_engine *engine, struct rcm_request *request);

/* All that rests, was started with done, and is none that wanted(arg) says yes of: the caller's to end. */
void rcm_engine_lift_unwanted(struct rcm_engine *engine, rcm_outcome_fn *done, bool (*wanted)(const void *arg),
			      struct rcm_waiters *ret_lifted);

/* On the engine's thread: empties the post box into the backlog, *ret_cancels and *ret_errands. False where there was
 * nothing: from then on posting wakes. */
bool rcm_engine_collect(struct rcm_engine *engine, struct rcm_requests *ret_cancels, struct rcm_errands *ret_errands);

/* On the engine's thread: finds, and opens where it isn't yet, an SA client; NULL ops: the default one. 0 or -errno. */
int rcm_engine_sa(struct rcm_engine *engine, const struct rcm_sa_ops *ops, struct rcm_sa_client **ret_client);

/* On the engine's thread: settles the outcome, taking over the reference to answer. The request waits nowhere any
 * more. */
void rcm_engine_end(struct rcm_engine *engine, struct rcm_request *request, struct rcm_answer *answer);
