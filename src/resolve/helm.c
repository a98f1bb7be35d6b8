/* SPDX-License-Identifier: BSD-2-Clause */
/* A caller's thread does the engine's work for its own resolution. */
#include "resolve/helm.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "resolve/config.h"
#include "resolve/course.h"
#include "resolve/flight.h"
#include "resolve/resolver.h"

struct helm {
	struct rcm_engine *engine;
	struct rcm_tell_list steps;		/* for a watcher that came a moment ago */
	sigset_t signals;			/* the caller's, as the next */
	int cancel_state;
};

static bool helm_is_free(struct rcm_engine *engine)
{
	return atomic_load_explicit(&engine->life, memory_order_acquire) == RCM_ENGINE_RUNNING &&
	       atomic_load_explicit(&engine->waits, memory_order_relaxed) && !rcm_tell_wants();
}

static void helm_shut_out(struct helm *helm, struct rcm_engine *engine)
{
	sigset_t all;

	helm->engine = engine;
	STAILQ_INIT(&helm->steps);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &helm->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &helm->cancel_state);
}

static void helm_let_in(struct helm *helm)
{
	pthread_setcancelstate(helm->cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &helm->signals, NULL);
}

static void helm_begin(struct helm *helm)
{
	rcm_tell_hold(&helm->steps);
	helm->engine->loop.now = rcm_clock_now();
}

/* True: the engine's thread sleeps, or is about to take the gate, and doesn't come in until helm_leave(). */
static bool helm_take(struct helm *helm, struct rcm_engine *engine) RCM_UNCHECKED
{
	if (!helm_is_free(engine))
		return false;
	helm_shut_out(helm, engine);
	if (rcm_lock_try(&engine->gate)) {
		/* Between two of its steps it lets go of the gate as well. */
		if (helm_is_free(engine)) {
			helm_begin(helm);
			return true;
		}
		rcm_lock_release(&engine->gate);
	}
	helm_let_in(helm);
	return false;
}

/* The engine's thread is woken where it would sleep for too long. */
static void helm_leave(struct helm *helm) RCM_UNCHECKED
{
	struct rcm_engine *engine = helm->engine;
	const struct rcm_heap_node *first = rcm_heap_first(&engine->loop.timers);
	bool whole = true;

	if (first && first->key < engine->loop.until) {
		engine->loop.until = first->key;
		whole = rcm_wake_ring(&engine->wake);
	}
	rcm_tell_hold(NULL);
	rcm_lock_release(&engine->gate);
	helm_let_in(helm);
	rcm_tell_list(&helm->steps);
	rcm_tell_forget(&helm->steps);
	if (!whole)
		engine->lose(engine);
}

/* The client in use that a request names, or NULL. */
static const struct rcm_sa_client *client_of(const struct rcm_engine *engine, const struct rcm_sa_ops *ops)
{
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++)
		if (engine->sa[i].ops == (ops ? ops : engine->backends.sa))
			return &engine->sa[i];
	return NULL;
}

static bool is_at_hand(const struct rcm_engine *engine, const struct rcm_request *request)
{
	const struct rcm_sa_client *client = client_of(engine, request->sa);

	if (rcm_flight_count(engine) && engine->sole != request->party)
		return false;
	return client && client->ops->at_hand && client->ops->at_hand(client->sa, &request->port_gid);
}

bool rcm_helm_begin(struct rcm_engine *engine, struct rcm_request *request)
{
	struct helm helm;
	bool begins;

	/* Where answers are kept, ports are looked at. */
	if (!rcm_request_is_sa(request) || !request->party || rcm_config_get()->sa_keep_ms ||
	    !atomic_load_explicit(&engine->asleep, memory_order_relaxed) || !helm_take(&helm, engine))
		return false;
	begins = is_at_hand(engine, request);
	if (begins) {
		rcm_course_begin(engine, request);
		rcm_resolver_settle(engine);
	}
	helm_leave(&helm);
	return begins;
}

int rcm_helm_borrow(unsigned party)
{
	struct rcm_engine *engine = rcm_engine_the();
	int fd = -EAGAIN;
	struct helm helm;

	if (!helm_take(&helm, engine))
		return -EAGAIN;
	if (engine->sole == party && rcm_flight_count(engine) && engine->sa[0].ops && !engine->sa[1].ops &&
	    engine->sa[0].ops->lend)
		fd = engine->sa[0].ops->lend(engine->sa[0].sa);
	helm_leave(&helm);
	return fd;
}

void rcm_helm_give_back(bool ready) RCM_UNCHECKED
{
	struct rcm_engine *engine = rcm_engine_the();
	struct helm helm;
	bool free;

	/* What was waited on may be the program's by now. */
	if (!rcm_engine_is_whole(engine)) {
		engine->lose(engine);
		return;
	}
	helm_shut_out(&helm, engine);
	rcm_lock_acquire(&engine->door);
	rcm_lock_acquire(&engine->gate);
	rcm_lock_release(&engine->door);
	helm_begin(&helm);
	free = helm_is_free(engine);
	if (engine->loop.epfd >= 0 && engine->sa[0].ops && engine->sa[0].ops->take_back)
		engine->sa[0].ops->take_back(engine->sa[0].sa, ready && free);
	if (free)
		rcm_resolver_settle(engine);
	helm_leave(&helm);
}
