/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of the resolver in a fork. */
#include "resolve/fork.h"

#include "base/fork.h"
#include "resolve/course.h"
#include "resolve/flight.h"
#include "resolve/publication.h"

/* Those that any thread takes last, in the order of docs/locking.md. */
static void leaves_acquire(struct rcm_engine *engine) RCM_UNCHECKED
{
	rcm_lock_acquire(&engine->box);
	rcm_lock_acquire(&engine->cache.lock);
	rcm_lock_acquire(&engine->reach_lock);
	if (engine->dns)
		engine->backends.dns->fork_prepare(engine->dns);
}

/* With its start lock: who puts another in its place holds that, and may have done so before it was to be had. */
static struct rcm_engine *engine_hold(void) RCM_UNCHECKED
{
	struct rcm_engine *engine = rcm_engine_the();

	rcm_lock_acquire(&engine->starting);
	while (engine != rcm_engine_the()) {
		rcm_lock_release(&engine->starting);
		engine = rcm_engine_the();
		rcm_lock_acquire(&engine->starting);
	}
	return engine;
}

static void engine_fork_prepare(void) RCM_UNCHECKED
{
	struct rcm_engine *engine = engine_hold();

	rcm_lock_acquire(&engine->door);
	rcm_lock_acquire(&engine->gate);
	rcm_lock_release(&engine->door);
	leaves_acquire(engine);
}

static void engine_fork_parent(void) RCM_UNCHECKED
{
	struct rcm_engine *engine = rcm_engine_the();

	if (engine->dns)
		engine->backends.dns->fork_done(engine->dns);
	rcm_lock_release(&engine->reach_lock);
	rcm_lock_release(&engine->cache.lock);
	rcm_lock_release(&engine->box);
	rcm_lock_release(&engine->gate);
	rcm_lock_release(&engine->starting);
}

/* What the forking thread holds is given back. The door isn't its: the engine's thread, which isn't here, may stand in
 * it. */
static void engine_fork_child(void) RCM_UNCHECKED
{
	struct rcm_engine *engine = rcm_engine_the();

	engine->loop.epfd = -1;
	atomic_store(&engine->asleep, false);
	/* One that was lost has the parent's all the same, in its box. */
	if (atomic_load(&engine->life) == RCM_ENGINE_RUNNING || atomic_load(&engine->life) == RCM_ENGINE_LOST)
		atomic_store(&engine->life, RCM_ENGINE_FORKED);
	rcm_lock_init(&engine->door);
	engine_fork_parent();
}

__attribute__((constructor)) static void engine_watch_forks(void)
{
	static const struct rcm_fork fork = { engine_fork_prepare, engine_fork_parent, engine_fork_child };

	rcm_fork_watch(RCM_FORK_ENGINE, &fork);
}

/* Nobody in this process knows of it. */
static void request_forget(struct rcm_request *request)
{
	rcm_request_unref(request);	/* the engine's reference, and the thread's that waited */
	rcm_request_unref(request);
}

/* Of those who wait for one some are in this process, an id say, and some were threads of the parent. How many rest. */
static unsigned requests_rest(struct rcm_engine *engine)
{
	struct rcm_requests cancels = STAILQ_HEAD_INITIALIZER(cancels);
	struct rcm_errands errands = STAILQ_HEAD_INITIALIZER(errands);
	struct rcm_request *request;
	unsigned resting = 0;

	rcm_engine_collect(engine, &cancels, &errands);
	rcm_publication_abandon_all(engine, &errands);
	while ((request = STAILQ_FIRST(&engine->backlog))) {
		STAILQ_REMOVE_HEAD(&engine->backlog, queued);
		if (request->waited) {
			request_forget(request);
			continue;
		}
		rcm_engine_lay(engine, request);
		resting++;
	}
	/* Each of them says for itself that it is cancelled. */
	while ((request = STAILQ_FIRST(&cancels))) {
		STAILQ_REMOVE_HEAD(&cancels, cancels);
		rcm_request_unref(request);
	}
	return resting;
}

void rcm_engine_abandon(struct rcm_engine *engine)
{
	rcm_flight_reset(engine);
	rcm_course_reset(engine);
	rcm_stats_rest(&engine->stats, requests_rest(engine));
	rcm_tell_forget(&engine->steps);
	if (engine->dns)
		engine->backends.dns->abandon(engine->dns);
	engine->dns = NULL;
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++) {
		engine->sa[i].ops->abandon(engine->sa[i].sa);
		engine->sa[i] = (struct rcm_sa_client){ 0 };
	}
	rcm_lock_acquire(&engine->reach_lock);
	rcm_reach_reset(&engine->reach);
	rcm_lock_release(&engine->reach_lock);
	rcm_gauge_abandon(&engine->gauge);
	rcm_monitor_abandon(&engine->monitor);
	rcm_wake_abandon(&engine->wake);
	atomic_store(&engine->asleep, false);
	rcm_loop_done(&engine->loop);
}
