/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread: its start and its turns. */
#include "resolve/resolver.h"

#include <string.h>

#include "base/container.h"
#include "base/fds.h"
#include "base/log.h"
#include "base/thread.h"
#include "dns/environment.h"
#include "resolve/config.h"
#include "resolve/course.h"
#include "resolve/flight.h"
#include "resolve/fork.h"
#include "resolve/outcome.h"
#include "resolve/ports.h"
#include "resolve/publication.h"

/* ---- The gate ---- */

static void gate_take(struct rcm_engine *engine) RCM_UNCHECKED
{
	rcm_lock_acquire(&engine->door);
	rcm_lock_acquire(&engine->gate);
	rcm_lock_release(&engine->door);
}

static void gate_leave(struct rcm_loop *loop) RCM_UNCHECKED
{
	struct rcm_engine *engine = rcm_container(loop, struct rcm_engine, loop);

	atomic_store_explicit(&engine->waits, true, memory_order_relaxed);
	rcm_lock_release(&engine->gate);
}

static void gate_enter(struct rcm_loop *loop)
{
	struct rcm_engine *engine = rcm_container(loop, struct rcm_engine, loop);

	gate_take(engine);
	atomic_store_explicit(&engine->waits, false, memory_order_relaxed);
	/* Awake: whoever posts from here on need not ring. */
	atomic_store_explicit(&engine->asleep, false, memory_order_relaxed);
}

/* Between two turns, as far as a fork is concerned: the watcher may wait for what the forking thread holds. */
static void steps_tell(struct rcm_engine *engine) RCM_UNCHECKED
{
	if (STAILQ_EMPTY(&engine->steps))
		return;
	rcm_lock_release(&engine->gate);
	rcm_tell_list(&engine->steps);
	gate_take(engine);
	rcm_tell_forget(&engine->steps);
}

/* ---- Turns ---- */

static void levels_show(struct rcm_engine *engine)
{
	struct rcm_sa_stats sum = { 0 }, one;

	atomic_store_explicit(&engine->stats.in_flight, rcm_flight_count(engine), memory_order_relaxed);
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++) {
		engine->sa[i].ops->stats(engine->sa[i].sa, &one);
		sum.queries += one.queries;
		sum.retries += one.retries;
	}
	atomic_store_explicit(&engine->stats.sa_queries, sum.queries, memory_order_relaxed);
	atomic_store_explicit(&engine->stats.sa_retries, sum.retries, memory_order_relaxed);
}

/* At most as many as are left in *budget. */
static void backlog_begin(struct rcm_engine *engine, unsigned *budget)
{
	struct rcm_request *request;

	while (*budget && (request = STAILQ_FIRST(&engine->backlog))) {
		STAILQ_REMOVE_HEAD(&engine->backlog, queued);
		rcm_course_begin(engine, request);
		--*budget;
	}
}

static void errands_run(struct rcm_engine *engine, struct rcm_errands *errands)
{
	struct rcm_errand *errand;

	while ((errand = STAILQ_FIRST(errands))) {
		STAILQ_REMOVE_HEAD(errands, entry);
		errand->run(engine, errand);
	}
}

static void cancels_serve(struct rcm_requests *cancels)
{
	struct rcm_request *request;

	while ((request = STAILQ_FIRST(cancels))) {
		STAILQ_REMOVE_HEAD(cancels, cancels);
		rcm_course_stop(request);
		rcm_request_unref(request);
	}
}

static void ended_tell(struct rcm_request *request)
{
	struct rcm_answer *answer = request->answer;

	request->answer = NULL;
	rcm_request_tell(request, answer, true);
}

static void ended_announce(struct rcm_engine *engine)
{
	const struct rcm_request *request;

	if (rcm_tell_wants())
		STAILQ_FOREACH(request, &engine->ended, queued)
			rcm_request_announce(request, request->answer);
}

static void ended_tell_all(struct rcm_engine *engine)
{
	struct rcm_request *request;
	rcm_outcome_fn *last = NULL;

	while ((request = STAILQ_FIRST(&engine->ended))) {
		STAILQ_REMOVE_HEAD(&engine->ended, queued);
		/* Who is told otherwise sees all that was told before. */
		if (last && last != request->done)
			rcm_outcomes_told();
		last = request->done;
		ended_tell(request);
	}
	if (last)
		rcm_outcomes_told();
}

/* All of a turn together, so that a burst of answers wakes a reader once. */
static void ended_deliver(struct rcm_engine *engine)
{
	ended_announce(engine);
	steps_tell(engine);
	ended_tell_all(engine);
}

/* Begins what was posted, and what is posted meanwhile, within the budget of a turn: whoever posts without a pause must
 * not keep the answers from coming in. True where this turn must not sleep. */
static bool box_serve(struct rcm_engine *engine)
{
	struct rcm_requests cancels = STAILQ_HEAD_INITIALIZER(cancels);
	struct rcm_errands errands = STAILQ_HEAD_INITIALIZER(errands);
	unsigned budget = RCM_TURN_REQUESTS;
	bool any;

	do {
		any = rcm_engine_collect(engine, &cancels, &errands);
		errands_run(engine, &errands);
		backlog_begin(engine, &budget);
		cancels_serve(&cancels);
		ended_deliver(engine);
	} while (any && budget);
	return any;
}

static void resolver_show(void *arg, struct rai_stats *ret_stats)
{
	struct rcm_engine *engine = arg;

	rcm_stats_show(&engine->stats, rcm_cache_count(&engine->cache), ret_stats);
}

__attribute__((destructor)) static void resolver_remove_gauge(void)
{
	rcm_gauge_remove(&rcm_engine_the()->gauge);
}

/* ---- An engine without descriptors ---- */

/* Whatever was under way, or came since. What is published isn't over with that. */
static void lost_end(struct rcm_engine *engine, struct rcm_errands *ret_late)
{
	struct rcm_requests cancels = STAILQ_HEAD_INITIALIZER(cancels);
	struct rcm_errands errands = STAILQ_HEAD_INITIALIZER(errands);
	struct rcm_request *request;

	rcm_flight_reset(engine);
	rcm_course_reset(engine);
	rcm_engine_collect(engine, &cancels, &errands);
	/* Nobody can be woken here. */
	atomic_store(&engine->asleep, false);
	rcm_publication_lose_all(engine, &errands, ret_late);
	while ((request = STAILQ_FIRST(&engine->backlog))) {
		STAILQ_REMOVE_HEAD(&engine->backlog, queued);
		rcm_engine_end(engine, request, rcm_answer_fixed(RCM_ANSWER_LOST));
	}
	while ((request = STAILQ_FIRST(&cancels))) {
		STAILQ_REMOVE_HEAD(&cancels, cancels);
		rcm_request_unref(request);
	}
}

/*
 * By the thread that finds it, the engine's, a worker or one that posts: the engine's may sleep by a descriptor that
 * nobody can reach any more. That one gives up where it wakes once more (epfd). What the engine had open isn't closed,
 * nor what it had in use freed: numbers may be the program's by now, and threads be on their way through.
 */
static void resolver_lose(struct rcm_engine *engine)
{
	struct rcm_tell_list steps = STAILQ_HEAD_INITIALIZER(steps), *outer;
	struct rcm_errands late = STAILQ_HEAD_INITIALIZER(late);

	outer = rcm_tell_hold(&steps);
	rcm_lock_acquire(&engine->starting);
	gate_take(engine);
	if (atomic_exchange(&engine->life, RCM_ENGINE_LOST) == RCM_ENGINE_RUNNING) {
		engine->loop.epfd = -1;
		rcm_fds_doubt();
	}
	lost_end(engine, &late);
	ended_announce(engine);
	ended_tell_all(engine);
	gate_leave(&engine->loop);
	rcm_lock_release(&engine->starting);
	rcm_tell_release(&steps, outer);
	rcm_publication_forward(&late);
}

/* What is published goes on without waiting for whoever resolves next. */
static void resolver_lost(struct rcm_engine *engine)
{
	resolver_lose(engine);
	if (rcm_publication_any_stranded())
		rcm_resolver_start(&engine);
}

static void resolver_loop_lost(struct rcm_loop *loop)
{
	resolver_lost(rcm_container(loop, struct rcm_engine, loop));
}

/* A wake-up may have been lost with the descriptors, and while all wait for what is under way nobody finds that. */
static int resolver_wait_ms(struct rcm_engine *engine)
{
	bool any = rcm_flight_count(engine) || !TAILQ_EMPTY(&engine->reading) || !TAILQ_EMPTY(&engine->naming);

	return any ? RCM_LOOP_LOOK_MS : -1;
}

static void *resolver_run(void *arg)
{
	struct rcm_engine *engine = arg;
	bool more;
	int ret;

	rcm_tell_hold(&engine->steps);
	gate_enter(&engine->loop);
	rcm_gauge_open(&engine->gauge, &engine->loop, resolver_show, engine);
	for (;;) {
		more = box_serve(engine);
		levels_show(engine);
		ret = rcm_loop_turn(&engine->loop, more ? 0 : resolver_wait_ms(engine));
		if (ret)
			break;
		ended_deliver(engine);
	}
	steps_tell(engine);
	rcm_tell_hold(NULL);
	gate_leave(&engine->loop);
	rcm_error("resolver: can't wait any more: %s", strerrordesc_np(-ret));
	resolver_lost(engine);
	return NULL;
}

/* ---- Start ---- */

static void resolver_woken(struct rcm_wake *wake)
{
	(void)wake;
}

static int loop_start(struct rcm_engine *engine)
{
	int ret;

	ret = rcm_loop_init(&engine->loop);
	if (ret)
		return ret;
	rcm_ports_init(engine);
	engine->loop.before_wait = gate_leave;
	engine->loop.after_wait = gate_enter;
	engine->loop.lost = resolver_loop_lost;
	atomic_store_explicit(&engine->asleep, false, memory_order_relaxed);
	engine->lose = resolver_lost;
	atomic_store(&engine->waits, false);
	ret = rcm_wake_init(&engine->loop, &engine->wake, resolver_woken);
	if (ret)
		goto out_loop;
	engine->loop.witness = &engine->wake.source;
	ret = rcm_thread_start("rai-resolver", RCM_THREAD_STACK, resolver_run, engine);
	if (ret)
		goto out_wake;
	return 0;
out_wake:
	rcm_wake_done(&engine->wake);
out_loop:
	rcm_loop_done(&engine->loop);
	return ret;
}

static void engine_leave_parent_locked(struct rcm_engine *engine) RCM_REQUIRES(&engine->starting)
{
	rcm_lock_assert_held(&engine->starting);
	if (atomic_load(&engine->life) != RCM_ENGINE_FORKED)
		return;
	rcm_engine_abandon(engine);
	atomic_store(&engine->life, RCM_ENGINE_ABANDONED);
}

static int engine_read_environment(struct rcm_engine *engine)
{
	rcm_config_get();
	rcm_gauge_want(&engine->gauge);
	return rcm_environment_take();
}

static int engine_start_locked(struct rcm_engine *engine) RCM_REQUIRES(&engine->starting)
{
	int ret = 0;

	rcm_lock_assert_held(&engine->starting);
	if (atomic_load(&engine->life) == RCM_ENGINE_RUNNING)
		return 0;
	/* It was lost since. */
	if (atomic_load(&engine->life) == RCM_ENGINE_LOST)
		return -EAGAIN;
	engine_leave_parent_locked(engine);
	/* All on this thread: libc lets no other read the environment while a program's changes it. One that takes
	 * another's place may be started by that one's thread, and has what it had. */
	if (atomic_load(&engine->life) != RCM_ENGINE_FRESH || !engine->before)
		ret = engine_read_environment(engine);
	if (!ret)
		ret = loop_start(engine);
	if (!ret)
		atomic_store(&engine->life, RCM_ENGINE_RUNNING);
	return ret;
}

/* Afterwards the engine of the process is no lost one. */
static int engine_replace_lost(void)
{
	struct rcm_engine *engine = rcm_engine_the();
	int ret;

	if (atomic_load(&engine->life) != RCM_ENGINE_LOST)
		return 0;
	rcm_lock_acquire(&engine->starting);
	ret = rcm_engine_succeed(engine);
	rcm_lock_release(&engine->starting);
	return ret;
}

static int resolver_start(struct rcm_engine **ret_engine)
{
	struct rcm_engine *engine = rcm_engine_the();
	int ret;

	/* Else what is posted would end with all that is under way. */
	if (!rcm_engine_is_whole(engine))
		resolver_lose(engine);
	ret = engine_replace_lost();
	engine = rcm_engine_the();
	*ret_engine = engine;
	if (ret || atomic_load_explicit(&engine->life, memory_order_acquire) == RCM_ENGINE_RUNNING)
		return ret;
	rcm_lock_acquire(&engine->starting);
	ret = engine_start_locked(engine);
	rcm_lock_release(&engine->starting);
	return ret;
}

int rcm_resolver_start(struct rcm_engine **ret_engine)
{
	int ret = resolver_start(ret_engine);

	if (ret && rcm_publication_any_stranded())
		rcm_publication_forsake_all(ret);
	/* Also where another thread could start it meanwhile. */
	if (rcm_publication_any_stranded() && atomic_load(&(*ret_engine)->life) == RCM_ENGINE_RUNNING)
		rcm_publication_take_over(*ret_engine);
	return ret;
}

void rcm_resolver_leave_parent(void)
{
	struct rcm_engine *engine = rcm_engine_the();

	if (atomic_load(&engine->life) != RCM_ENGINE_FORKED)
		return;
	rcm_lock_acquire(&engine->starting);
	engine_leave_parent_locked(engine);
	rcm_lock_release(&engine->starting);
}
