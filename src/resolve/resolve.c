/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder's door: resolutions as any thread may treat them. */
#include "resolve/resolve.h"

#include "base/log.h"
#include "resolve/local.h"
#include "resolve/outcome.h"
#include "resolve/resolver.h"

/* What nobody has to be asked for is told here and now; true: it was. */
static bool request_answer_now(struct rcm_engine *engine, const struct rcm_question *question, unsigned number,
			       rcm_outcome_fn *done, void *arg, bool *ret_settled)
{
	struct rcm_about about = {
		.node = question->node, .service = question->service, .sa = question->hints.flags & RAI_SA,
		.kind = rcm_kind_of(question->hints.flags), .number = number,
	};
	struct rcm_answer *answer;

	answer = rcm_local_answer(engine, question, &about.port, ret_settled);
	if (!answer)
		return false;
	rcm_step_trace(number, RCM_STEP_HERE, (question->node, rcm_kind_of(question->hints.flags)), "%s",
		       question->node ? question->node : "no node");
	rcm_stats_count(&engine->stats, RCM_COUNT_STARTED);
	rcm_outcome_announce(&about, answer);
	rcm_outcome_tell(engine, &about, answer, done, arg);
	return true;
}

int rcm_request_start(const struct rcm_question *question, rcm_outcome_fn *done, void *arg,
		      struct rcm_request **ret_request)
{
	struct rcm_engine *engine = rcm_engine_the(), *before = engine;
	unsigned number = rcm_engine_number(engine);
	struct rcm_request *request;
	bool settled;
	int ret;

	*ret_request = NULL;
	if (request_answer_now(engine, question, number, done, arg, &settled))
		return 0;
	ret = rcm_resolver_start(&engine);
	if (!ret)
		ret = rcm_request_new(question, &request);
	if (ret)
		return ret;
	request->number = number;
	request->settled = settled && engine == before;
	request->done = done;
	request->arg = arg;
	request->engine = engine;
	*ret_request = request;
	rcm_stats_count(&engine->stats, RCM_COUNT_STARTED);
	rcm_step_trace(number, RCM_STEP_POSTED, (rcm_request_text(request), rcm_kind_of(request->flags)), "%s",
		       rcm_request_text(request));
	rcm_engine_post(engine, request);
	return 0;
}

void rcm_request_watch_told(void (*told)(void))
{
	rcm_outcomes_watch(told);
}

bool rcm_request_rests(struct rcm_request *request)
{
	return rcm_engine_rests(request->engine, request);
}

int rcm_request_again(struct rcm_request *request)
{
	struct rcm_engine *engine;
	int ret;

	if (!rcm_request_rests(request))
		return 0;
	ret = rcm_resolver_start(&engine);
	if (ret || !rcm_engine_lift(request->engine, request))
		return ret;
	/* Not the one where it rested, if that was lost since. */
	request->engine = engine;
	rcm_engine_post(engine, request);
	return 0;
}

static void request_tell_cancelled(struct rcm_request *request)
{
	struct rcm_answer *answer = rcm_answer_fixed(RCM_ANSWER_CANCELLED);

	rcm_request_announce(request, answer);
	rcm_request_tell(request, answer, false);
}

void rcm_requests_drop(rcm_outcome_fn *done, bool (*wanted)(const void *arg))
{
	struct rcm_waiters lifted = TAILQ_HEAD_INITIALIZER(lifted);
	struct rcm_request *request;

	rcm_engine_lift_unwanted(rcm_engine_the(), done, wanted, &lifted);
	while ((request = TAILQ_FIRST(&lifted))) {
		TAILQ_REMOVE(&lifted, request, waiter);
		request_tell_cancelled(request);
	}
}

void rcm_request_cancel(struct rcm_request *request)
{
	if (!request)
		return;
	/* There may be no engine, and need not be one for this. */
	if (rcm_engine_lift(request->engine, request)) {
		request_tell_cancelled(request);
		return;
	}
	if (atomic_exchange_explicit(&request->cancelled, true, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&request->refs, 1, memory_order_relaxed);
	rcm_engine_post_cancel(request->engine, request);
}

struct rcm_request *rcm_request_get(struct rcm_request *request)
{
	atomic_fetch_add_explicit(&request->refs, 1, memory_order_relaxed);
	return request;
}

void rcm_request_put(struct rcm_request *request)
{
	if (request)
		rcm_request_unref(request);
}

int rcm_answer_list(const struct rcm_answer *answer, const struct rcm_hints *hints, uint16_t port,
		    struct rdma_addrinfo **ret_list)
{
	return rcm_addrinfo_build(hints, port, answer->results, answer->count, answer->text, ret_list);
}

const union rcm_sockaddr *rcm_answer_first(const struct rcm_answer *answer)
{
	return &answer->results[0].dst;
}

void rcm_engine_stats(struct rai_stats *ret_stats)
{
	struct rcm_engine *engine = rcm_engine_the();

	/* In the child of a fork the parent's are counted no longer. */
	rcm_resolver_leave_parent();
	rcm_stats_show(&engine->stats, rcm_cache_count(&engine->cache), ret_stats);
}

void rcm_engine_leave_parent(void)
{
	rcm_resolver_leave_parent();
}
