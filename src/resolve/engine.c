/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread: its start, its post box, its turns, and what becomes of it in a fork. */
#include "resolve/engine.h"

#include "addr/service.h"
#include "base/container.h"
#include "base/err.h"
#include "base/fork.h"
#include "base/limits.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "loop/wake.h"
#include "resolve/config.h"
#include "resolve/flight.h"
#include "resolve/record.h"
#include "resolve/servname.h"

/* FORKED: a child still holding the parent's engine; ABANDONED: it has given that up, and has no thread yet. */
enum life { NOT_STARTED, RUNNING, FORKED, ABANDONED };

/* The one resolver of the process. */
static struct {
	struct rcm_lock starting;	/* held while a thread is being started */
	_Atomic(enum life) life;

	/* Held by the engine's thread while it works, and by a fork: a child finds the engine between two turns. Who
	 * wants the gate comes through the door, so that a busy engine can't keep a fork waiting. */
	struct rcm_lock door, gate;

	struct rcm_lock box;

	/* Under box: what is posted, and not yet taken by the thread. */
	struct rcm_requests posted RCM_GUARDED_BY(box);
	struct rcm_requests cancels RCM_GUARDED_BY(box);

	atomic_bool asleep;		/* set under box; the engine has to be woken */
	struct rcm_wake wake;

	struct rcm_engine engine;	/* the thread's alone */
} self = {
	.starting = RCM_LOCK_INIT, .door = RCM_LOCK_INIT, .gate = RCM_LOCK_INIT, .box = RCM_LOCK_INIT,
	.posted = STAILQ_HEAD_INITIALIZER(self.posted),
	.cancels = STAILQ_HEAD_INITIALIZER(self.cancels),
	.engine = {
		.backlog = STAILQ_HEAD_INITIALIZER(self.engine.backlog),
		.ended = STAILQ_HEAD_INITIALIZER(self.engine.ended),
		.naming = TAILQ_HEAD_INITIALIZER(self.engine.naming),
		.backends = {
			&rcm_dns_system, &rcm_sa_umad, rcm_sa_ports, rcm_servname_ask, rcm_service_is_local,
		},
	},
};

static _Atomic(uint64_t) counts[RCM_COUNTS];
static _Atomic(uint64_t) level_in_flight, level_kept, sa_queries, sa_retries;

void rcm_engine_count(enum rcm_count which)
{
	atomic_fetch_add_explicit(&counts[which], 1, memory_order_release);
}

static uint64_t counted(enum rcm_count which)
{
	return atomic_load_explicit(&counts[which], memory_order_acquire);
}

void rcm_engine_stats(struct rai_stats *ret_stats)
{
	/* The ends before the starts, so that outstanding is never negative: what is seen to have ended was counted as
	 * started before, and loads that acquire stay in this order. */
	uint64_t resolved = counted(RCM_COUNT_RESOLVED), failed = counted(RCM_COUNT_FAILED);
	uint64_t cancelled = counted(RCM_COUNT_CANCELLED), started = counted(RCM_COUNT_STARTED);

	*ret_stats = (struct rai_stats){
		.started = started, .resolved = resolved, .failed = failed, .cancelled = cancelled,
		.kept_hits = counted(RCM_COUNT_KEPT_HITS), .shared = counted(RCM_COUNT_SHARED),
		.lookups = counted(RCM_COUNT_LOOKUPS), .timeouts = counted(RCM_COUNT_TIMEOUTS),
		.sa_queries = atomic_load_explicit(&sa_queries, memory_order_relaxed),
		.sa_retries = atomic_load_explicit(&sa_retries, memory_order_relaxed),
		.outstanding = started - resolved - failed - cancelled,
		.in_flight = atomic_load_explicit(&level_in_flight, memory_order_relaxed),
		.kept = atomic_load_explicit(&level_kept, memory_order_relaxed),
	};
}

static void show_levels(const struct rcm_engine *engine)
{
	struct rcm_sa_stats sum = { 0 }, one;

	atomic_store_explicit(&level_in_flight, rcm_flight_count(engine), memory_order_relaxed);
	atomic_store_explicit(&level_kept, rcm_cache_count(&engine->cache), memory_order_relaxed);
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++) {
		engine->sa[i].ops->stats(engine->sa[i].sa, &one);
		sum.queries += one.queries;
		sum.retries += one.retries;
	}
	atomic_store_explicit(&sa_queries, sum.queries, memory_order_relaxed);
	atomic_store_explicit(&sa_retries, sum.retries, memory_order_relaxed);
}

void rcm_engine_use(const struct rcm_backends *backends)
{
	self.engine.backends = *backends;
}

/* ---- The post box ---- */

void rcm_engine_post(struct rcm_request *request)
{
	bool wake;

	rcm_lock_acquire(&self.box);
	STAILQ_INSERT_TAIL(&self.posted, request, queued);
	wake = atomic_exchange_explicit(&self.asleep, false, memory_order_relaxed);
	rcm_lock_release(&self.box);
	if (wake)
		rcm_wake_ring(&self.wake);
}

void rcm_engine_post_cancel(struct rcm_request *request)
{
	bool wake;

	rcm_lock_acquire(&self.box);
	STAILQ_INSERT_TAIL(&self.cancels, request, cancels);
	wake = atomic_exchange_explicit(&self.asleep, false, memory_order_relaxed);
	rcm_lock_release(&self.box);
	if (wake)
		rcm_wake_ring(&self.wake);
}

/* Empties the post box into the backlog and *ret_cancels. False where there was nothing: from then on posting wakes. */
static bool collect(struct rcm_engine *engine, struct rcm_requests *ret_cancels)
{
	bool any;

	rcm_lock_acquire(&self.box);
	STAILQ_CONCAT(&engine->backlog, &self.posted);
	STAILQ_CONCAT(ret_cancels, &self.cancels);
	any = !STAILQ_EMPTY(&engine->backlog) || !STAILQ_EMPTY(ret_cancels);
	if (!any)
		atomic_store_explicit(&self.asleep, true, memory_order_relaxed);
	rcm_lock_release(&self.box);
	return any;
}

/* ---- Turns ---- */

/* At most as many as are left in *budget. */
static void begin_some(struct rcm_engine *engine, unsigned *budget)
{
	struct rcm_request *request;

	while (*budget && (request = STAILQ_FIRST(&engine->backlog))) {
		STAILQ_REMOVE_HEAD(&engine->backlog, queued);
		rcm_request_begin(engine, request);
		--*budget;
	}
}

static void stop_all(struct rcm_requests *cancels)
{
	struct rcm_request *request;

	while ((request = STAILQ_FIRST(cancels))) {
		STAILQ_REMOVE_HEAD(cancels, cancels);
		rcm_request_stop(request);
		rcm_request_put(request);
	}
}

/* All of a turn together, so that a burst of answers wakes a reader once. */
static void deliver(struct rcm_engine *engine)
{
	struct rcm_request *request;

	if (STAILQ_EMPTY(&engine->ended))
		return;
	while ((request = STAILQ_FIRST(&engine->ended))) {
		STAILQ_REMOVE_HEAD(&engine->ended, queued);
		rcm_request_deliver(request);
	}
}

/* Begins what was posted, and what is posted meanwhile, within the budget of a turn: who posts without a pause must not
 * keep the answers from coming in. True where this turn must not sleep. */
static bool serve_box(struct rcm_engine *engine)
{
	struct rcm_requests cancels = STAILQ_HEAD_INITIALIZER(cancels);
	unsigned budget = RCM_TURN_REQUESTS;
	bool any;

	do {
		any = collect(engine, &cancels);
		begin_some(engine, &budget);
		stop_all(&cancels);
		deliver(engine);
	} while (any && budget);
	return any;
}

static void gate_leave(struct rcm_loop *loop) RCM_RELEASES(&self.gate)
{
	(void)loop;
	rcm_lock_release(&self.gate);
}

static void gate_enter(struct rcm_loop *loop) RCM_ACQUIRES(&self.gate)
{
	(void)loop;
	rcm_lock_acquire(&self.door);
	rcm_lock_acquire(&self.gate);
	rcm_lock_release(&self.door);
	/* Awake: who posts from here on need not ring. */
	atomic_store_explicit(&self.asleep, false, memory_order_relaxed);
}

static void *run(void *arg)
{
	struct rcm_engine *engine = arg;
	bool more;
	int ret;

	gate_enter(NULL);
	for (;;) {
		more = serve_box(engine);
		show_levels(engine);
		ret = rcm_loop_turn(&engine->loop, more ? 0 : -1);
		if (ret)
			rcm_error("resolver: epoll_wait failed with %d", ret);
		deliver(engine);
	}
	return NULL;
}

/* ---- Start ---- */

static void woken(struct rcm_wake *wake)
{
	(void)wake;
}

static int loop_start(struct rcm_engine *engine)
{
	int ret;

	ret = rcm_loop_init(&engine->loop);
	if (ret)
		return ret;
	engine->loop.before_wait = gate_leave;
	engine->loop.after_wait = gate_enter;
	atomic_store_explicit(&self.asleep, false, memory_order_relaxed);
	ret = rcm_wake_init(&engine->loop, &self.wake, woken);
	if (ret)
		goto out_loop;
	ret = rcm_thread_start("rai-resolver", RCM_THREAD_STACK, run, engine);
	if (ret)
		goto out_wake;
	return 0;
out_wake:
	rcm_wake_done(&self.wake);
out_loop:
	rcm_loop_done(&engine->loop);
	return ret;
}

/* ---- Fork ---- */

static void engine_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&self.starting);
	rcm_lock_acquire(&self.door);
	rcm_lock_acquire(&self.gate);
	rcm_lock_release(&self.door);
	rcm_lock_acquire(&self.box);
}

static void engine_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&self.box);
	rcm_lock_release(&self.gate);
	rcm_lock_release(&self.starting);
}

/* Not released but made anew: the engine's thread, which isn't here, may stand in the door. */
static void engine_fork_child(void)
{
	self.engine.loop.epfd = -1;
	rcm_lock_init(&self.box);
	rcm_lock_init(&self.gate);
	rcm_lock_init(&self.door);
	rcm_lock_init(&self.starting);
	atomic_store(&self.asleep, false);
	if (atomic_load(&self.life) == RUNNING)
		atomic_store(&self.life, FORKED);
}

__attribute__((constructor)) static void engine_watch_forks(void)
{
	static const struct rcm_fork fork = { engine_fork_prepare, engine_fork_parent, engine_fork_child };

	rcm_fork_watch(RCM_FORK_ENGINE, &fork);
}

/* In the child: gives up what belongs to the parent's engine. Its epoll registrations are the parent's, too, and its
 * descriptors were closed at the fork. */
static void abandon(struct rcm_engine *engine)
{
	rcm_flight_reset(engine);
	rcm_servname_reset(engine);
	if (engine->dns)
		engine->backends.dns->abandon(engine->dns);
	engine->dns = NULL;
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++) {
		engine->sa[i].ops->abandon(engine->sa[i].sa);
		engine->sa[i] = (struct rcm_sa_client){ 0 };
	}
	rcm_reach_reset(&engine->reach);
	rcm_wake_abandon(&self.wake);
	rcm_loop_done(&engine->loop);
}

static int engine_start_locked(void) RCM_REQUIRES(self.starting)
{
	int ret;

	rcm_lock_assert_held(&self.starting);
	if (atomic_load(&self.life) == RUNNING)
		return 0;
	if (atomic_load(&self.life) == FORKED) {
		abandon(&self.engine);
		atomic_store(&self.life, ABANDONED);
	}
	ret = loop_start(&self.engine);
	if (!ret)
		atomic_store(&self.life, RUNNING);
	return ret;
}

int rcm_engine_start(void)
{
	int ret;

	if (atomic_load_explicit(&self.life, memory_order_acquire) == RUNNING)
		return 0;
	rcm_lock_acquire(&self.starting);
	ret = engine_start_locked();
	rcm_lock_release(&self.starting);
	return ret;
}

void rcm_engine_enter(void)
{
	if (atomic_load_explicit(&self.life, memory_order_acquire) >= FORKED)
		rcm_engine_start();
}
