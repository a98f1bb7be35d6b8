/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the resolver, and its post box. */
#include "resolve/engine.h"

#include "base/err.h"
#include "publish/look.h"

static struct rcm_engine the_engine = {
	.starting = RCM_LOCK_INIT, .door = RCM_LOCK_INIT, .gate = RCM_LOCK_INIT, .box = RCM_LOCK_INIT,
	.reach_lock = RCM_LOCK_INIT, .cache = { .lock = RCM_LOCK_INIT },
	.posted = STAILQ_HEAD_INITIALIZER(the_engine.posted),
	.cancels = STAILQ_HEAD_INITIALIZER(the_engine.cancels),
	.errands = STAILQ_HEAD_INITIALIZER(the_engine.errands),
	.backlog = STAILQ_HEAD_INITIALIZER(the_engine.backlog),
	.ended = STAILQ_HEAD_INITIALIZER(the_engine.ended),
	.steps = STAILQ_HEAD_INITIALIZER(the_engine.steps),
	.reading = TAILQ_HEAD_INITIALIZER(the_engine.reading),
	.naming = TAILQ_HEAD_INITIALIZER(the_engine.naming),
	.resting = TAILQ_HEAD_INITIALIZER(the_engine.resting),
	.older = LIST_HEAD_INITIALIZER(the_engine.older),
	.backends = { &rcm_dns_system, &rcm_sa_umad, rcm_sa_ports, rcm_publish_look, &rcm_alerts_verbs },
};

struct rcm_engine *rcm_engine_the(void)
{
	return &the_engine;
}

void rcm_engine_use(const struct rcm_backends *backends)
{
	the_engine.backends = *backends;
}

unsigned rcm_engine_number(struct rcm_engine *engine)
{
	return atomic_fetch_add_explicit(&engine->numbers, 1, memory_order_relaxed) + 1;
}

struct rcm_dns *rcm_engine_dns(struct rcm_engine *engine)
{
	if (atomic_load_explicit(&engine->life, memory_order_acquire) != RCM_ENGINE_RUNNING)
		return NULL;
	return atomic_load_explicit(&engine->dns, memory_order_acquire);
}

/* Whoever posts is the one to wake it, unless another has done so already. */
static void box_close(struct rcm_engine *engine) RCM_RELEASES(&engine->box)
{
	bool wakes = atomic_exchange_explicit(&engine->asleep, false, memory_order_relaxed);

	rcm_lock_release(&engine->box);
	if (wakes)
		rcm_wake_ring(&engine->wake);
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
	if (!ops)
		return -ENOSYS;
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
