/* SPDX-License-Identifier: BSD-2-Clause */
/* Public call: the resolution that is waited for, without an id. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>

#include "addr/build.h"
#include "addr/gai.h"
#include "addr/owner.h"
#include "api/api.h"
#include "base/lock.h"
#include "resolve/resolve.h"

struct wait {
	struct rcm_lock lock;
	struct rcm_condition completed;

	/* Under lock. */
	bool done RCM_GUARDED_BY(lock);
	struct rcm_outcome outcome RCM_GUARDED_BY(lock);
};

/* On the engine's thread. It signals under the lock: the waiter's frame is gone soon after. */
static void waiter_completed(void *arg, struct rcm_outcome *outcome)
{
	struct wait *wait = arg;

	rcm_lock_acquire(&wait->lock);
	wait->outcome = *outcome;
	wait->done = true;
	rcm_lock_signal(&wait->lock, &wait->completed);
	rcm_lock_release(&wait->lock);
}

static int waiter_ask(const struct rcm_question *question, struct rcm_outcome *ret_outcome) RCM_UNCHECKED
{
	struct wait wait = { .lock = RCM_LOCK_INIT, .completed = RCM_CONDITION_INIT };
	struct rcm_request *request;
	int ret;

	ret = rcm_request_start(question, waiter_completed, &wait, &request);
	if (ret)
		return ret;
	rcm_lock_acquire(&wait.lock);
	while (!wait.done)
		rcm_lock_wait(&wait.lock, &wait.completed);
	*ret_outcome = wait.outcome;
	rcm_lock_release(&wait.lock);
	rcm_request_put(request);
	return 0;
}

/* A name's failure is an EAI_* code, negative too, but never one that says "see errno". */
static int outcome_failure(const struct rcm_question *question, const struct rcm_outcome *outcome, int *ret_eai)
{
	int eai = question->hints.flags & RAI_SA ? 0 : (int)outcome->arg;

	if (!eai || eai == EAI_SYSTEM || eai == EAI_BADFLAGS)
		return outcome->status;
	*ret_eai = eai;
	return 0;
}

/* What the arguments fail with comes after the service has been found. */
static int gai_ask(struct rcm_gai *gai, int *ret_eai, struct rdma_addrinfo **res)
{
	struct rcm_question question = {
		.node = gai->node, .service = gai->service, .dst = gai->dst, .hints = gai->hints,
		.deadline_ms = RCM_DEADLINE_DEFAULT, .waited = true,
	};
	char owner[RCM_NODE_MAX + 1];
	struct rcm_outcome outcome;
	int ret = 0;

	if (gai->hints.flags & RAI_SRV) {
		ret = rcm_owner_make(gai->node, gai->service, &gai->hints, owner);
		question.node = owner;
		question.service = NULL;
	}
	if (ret)
		return ret;
	ret = waiter_ask(&question, &outcome);
	if (ret)
		return ret;
	if (outcome.status)
		ret = outcome_failure(&question, &outcome, ret_eai);
	else if (gai->eai)
		*ret_eai = gai->eai;
	else
		ret = rcm_answer_list(outcome.answer, &question.hints, outcome.port, res);
	rcm_answer_put(outcome.answer);
	free(outcome.text);
	return ret;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	struct rcm_gai gai = { .node = node, .service = service };
	int state = rcm_enter(), ret = -EINVAL, eai = 0;

	if (res)
		ret = rcm_gai_take(&gai, hints);
	if (!ret && gai.eai && !gai.service)
		eai = gai.eai;
	else if (!ret)
		ret = gai_ask(&gai, &eai, res);
	if (!ret && eai == EAI_SERVICE && rcm_gai_datagram(&gai)) {
		eai = 0;
		ret = gai_ask(&gai, &eai, res);
	}
	ret = rcm_leave(state, ret);
	return eai ? eai : ret;
}
