/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the resolver, and its post box. */
#include "resolve/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "publish/look.h"

/* A thread that was woken so long ago and hasn't come may be asleep for ever. */
#define LATE_NS (100 * RCM_NS_PER_MS)

static struct rcm_engine first = {
	.starting = RCM_LOCK_INIT, .door = RCM_LOCK_INIT, .gate = RCM_LOCK_INIT, .box = RCM_LOCK_INIT,
	.reach_lock = RCM_LOCK_INIT, .cache = { .lock = RCM_LOCK_INIT }, .gauge = { .making = RCM_LOCK_INIT },
	.posted = STAILQ_HEAD_INITIALIZER(first.posted),
	.cancels = STAILQ_HEAD_INITIALIZER(first.cancels),
	.errands = STAILQ_HEAD_INITIALIZER(first.errands),
	.backlog = STAILQ_HEAD_INITIALIZER(first.backlog),
	.ended = STAILQ_HEAD_INITIALIZER(first.ended),
	.steps = STAILQ_HEAD_INITIALIZER(first.steps),
	.reading = TAILQ_HEAD_INITIALIZER(first.reading),
	.naming = TAILQ_HEAD_INITIALIZER(first.naming),
	.resting = TAILQ_HEAD_INITIALIZER(first.resting),
	.older = LIST_HEAD_INITIALIZER(first.older),
	.backends = { &rcm_dns_system, &rcm_sa_umad, rcm_sa_ports, rcm_publish_look, &rcm_alerts_verbs },
};
static _Atomic(struct rcm_engine *) the_engine = &first;

struct rcm_engine *rcm_engine_the(void)
{
	return atomic_load_explicit(&the_engine, memory_order_acquire);
}

void rcm_engine_use(const struct rcm_backends *backends)
{
	rcm_engine_the()->backends = *backends;
}

static void engine_init(struct rcm_engine *engine) RCM_UNCHECKED
{
	struct rcm_lock *locks[] = { &engine->starting, &engine->door, &engine->gate, &engine->box, &engine->reach_lock,
				     &engine->cache.lock, &engine->gauge.making };

	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		rcm_lock_init(locks[i]);
	STAILQ_INIT(&engine->posted);
	STAILQ_INIT(&engine->cancels);
	STAILQ_INIT(&engine->errands);
	STAILQ_INIT(&engine->backlog);
	STAILQ_INIT(&engine->ended);
	STAILQ_INIT(&engine->steps);
	TAILQ_INIT(&engine->reading);
	TAILQ_INIT(&engine->naming);
	TAILQ_INIT(&engine->resting);
	LIST_INIT(&engine->older);
}

/* Counters and numbers go on, and what the environment said counts still. */
int rcm_engine_succeed(struct rcm_engine *lost)
{
	struct rcm_engine *engine;

	rcm_lock_assert_held(&lost->starting);
	if (rcm_engine_the() != lost)
		return 0;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine_init(engine);
	engine->backends = lost->backends;
	engine->before = lost;
	engine->gauge.wanted = lost->gauge.wanted;
	memcpy(engine->gauge.directory, lost->gauge.directory, sizeof(engine->gauge.directory));
	for (int i = 0; i < RCM_COUNTS; i++)
		atomic_init(&engine->stats.counts[i], atomic_load(&lost->stats.counts[i]));
	atomic_init(&engine->numbers, atomic_load(&lost->numbers));
	atomic_store(&the_engine, engine);
	return 0;
}

unsigned rcm_engine_number(struct rcm_engine *engine)
{
	unsigned number;

	do
		number = atomic_fetch_add_explicit(&engine->numbers, 1, memory_order_relaxed) + 1;
	while (!number);	/* 0 is none's */
	return number;
}

struct rcm_dns *rcm_engine_dns(struct rcm_engine *engine)
{
	if (atomic_load_explicit(&engine->life, memory_order_acquire) != RCM_ENGINE_RUNNING)
		return NULL;
	return atomic_load_explicit(&engine->dns, memory_order_acquire);
}

static void engine_note_proof(struct rcm_engine *engine)
{
	atomic_store_explicit(&engine->proven_at, rcm_clock_lately(), memory_order_relaxed);
}

bool rcm_engine_is_whole(struct rcm_engine *engine)
{
	enum rcm_engine_life life = atomic_load_explicit(&engine->life, memory_order_acquire);

	if (life != RCM_ENGINE_RUNNING)
		return life != RCM_ENGINE_LOST;
	if (!atomic_load_explicit(&engine->waits, memory_order_relaxed))
		return true;
	/* A burst of requests comes while it is on its way: a system call for each would double what they cost. */
	if (!atomic_load_explicit(&engine->asleep, memory_order_relaxed)) {
		if (rcm_clock_lately() < atomic_load_explicit(&engine->proven_at, memory_order_relaxed) + LATE_NS)
			return true;
		engine_note_proof(engine);
	}
	return rcm_loop_is_own(&engine->loop);
}

/* Whoever posts is the one to wake it, unless another has done so already; and to find that it can't be woken. */
static void box_close(struct rcm_engine *engine) RCM_RELEASES(&engine->box)
{
	bool wakes = atomic_exchange_explicit(&engine->asleep, false, memory_order_relaxed);

	rcm_lock_release(&engine->box);
	if (wakes)
		engine_note_proof(engine);
	if (wakes ? !rcm_wake_ring(&engine->wake) : !rcm_engine_is_whole(engine))
		engine->lose(engine);
}

void rcm_engine_post(struct rcm_engine *engine, struct rcm_request *request)
{
	rcm_lock_acquire(&engine->box);
	STAILQ_INSERT_TAIL(&engine->posted, request, queued);
	box_close(engine);
}

void rcm_engine_post_cancel(struct rcm_engine *engine, struct rcm_request *request)
{
	rcm_lock_acquire(&engine->box);
	STAILQ_INSERT_TAIL(&engine->cancels, request, cancels);
	box_close(engine);
}

void rcm_engine_post_errand(struct rcm_engine *engine, struct rcm_errand *errand)
{
	rcm_lock_acquire(&engine->box);
	STAILQ_INSERT_TAIL(&engine->errands, errand, entry);
	box_close(engine);
}

bool rcm_engine_rests(struct rcm_engine *engine, struct rcm_request *request)
{
	bool rests;

	rcm_lock_acquire(&engine->box);
	rests = request->rests;
	rcm_lock_release(&engine->box);
	return rests;
}

void rcm_engine_lay(struct rcm_engine *engine, struct rcm_request *request)
{
	rcm_lock_acquire(&engine->box);
	request->rests = true;
	TAILQ_INSERT_TAIL(&engine->resting, request, waiter);
	rcm_lock_release(&engine->box);
}

bool rcm_engine_lift(struct rcm_engine *engine, struct rcm_request *request)
{
	bool rested;

	rcm_lock_acquire(&engine->box);
	rested = request->rests;
	if (rested)
		TAILQ_REMOVE(&engine->resting, request, waiter);
	request->rests = false;
	rcm_lock_release(&engine->box);
	return rested;
}

void rcm_engine_lift_unwanted(struct rcm_engine *engine, rcm_outcome_fn *done, bool (*wanted)(const void *arg),
			      struct rcm_waiters *ret_lifted)
{
	struct rcm_request *request, *next;

	rcm_lock_acquire(&engine->box);
	for (request = TAILQ_FIRST(&engine->resting); request; request = next) {
		next = TAILQ_NEXT(request, waiter);
		if (request->done != done || wanted(request->arg))
			continue;
		TAILQ_REMOVE(&engine->resting, request, waiter);
		request->rests = false;
		TAILQ_INSERT_TAIL(ret_lifted, request, waiter);
	}
	rcm_lock_release(&engine->box);
}

bool rcm_engine_collect(struct rcm_engine *engine, struct rcm_requests *ret_cancels, struct rcm_errands *ret_errands)
{
	bool any;

	rcm_lock_acquire(&engine->box);
	STAILQ_CONCAT(&engine->backlog, &engine->posted);
	STAILQ_CONCAT(ret_cancels, &engine->cancels);
	STAILQ_CONCAT(ret_errands, &engine->errands);
	any = !STAILQ_EMPTY(&engine->backlog) || !STAILQ_EMPTY(ret_cancels) || !STAILQ_EMPTY(ret_errands);
	if (!any)
		atomic_store_explicit(&engine->asleep, true, memory_order_relaxed);
	rcm_lock_release(&engine->box);
	return any;
}

int rcm_engine_sa(struct rcm_engine *engine, const struct rcm_sa_ops *ops, struct rcm_sa_client **ret_client)
{
	struct rcm_sa_client *client = engine->sa, *end = client + RCM_SA_CLIENTS;
	int ret;

	if (!ops)
		ops = engine->backends.sa;
	while (client < end && client->ops && client->ops != ops)
		client++;
	if (client == end)
		return -EMFILE;
	if (!client->ops) {
		ret = ops->open(&engine->loop, &client->sa);
		if (ret)
			return ret;
		client->ops = ops;
	}
	*ret_client = client;
	return 0;
}

void rcm_engine_end(struct rcm_engine *engine, struct rcm_request *request, struct rcm_answer *answer)
{
	rcm_timer_stop(&engine->loop, &request->timer);
	request->state = RCM_REQUEST_ENDED;
	request->answer = answer;
	STAILQ_INSERT_TAIL(&engine->ended, request, queued);
}
