/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_resolve_addrinfo() to the engine and back, as an event on the id's channel. */
#include "cm/lookup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "addr/owner.h"
#include "base/zalloc.h"
#include "cm/heir.h"
#include "cm/id.h"
#include "cm/local.h"
#include "resolve/accept.h"
#include "resolve/resolve.h"

/* Made whole at the start, so that its event can be queued without anything that could fail. */
struct rcm_lookup {
	struct rcm_event event;			/* first; consumes the engine's reference when it is freed */
	atomic_uint refs;			/* the caller's while it starts, the engine's or the event's */

	struct rcm_request *asked;		/* valid while not done, though without a reference */

	/* Guarded by the lock of the event's id. */
	struct rcm_request *request;
	bool removes;				/* of a record: told as what became of a service */
	bool sync;				/* the call that started it waits for it */
	bool cancelled;				/* before there was a request to cancel */
	bool done;				/* the engine is through with it */

	/* The engine's until it is done, then the event's. */
	uint16_t port;
	struct rcm_answer *answer;		/* a reference; NULL: it failed, or the id has it */
	char *text;				/* why it failed, or NULL */
};

static_assert(sizeof(struct rcm_lookup) + sizeof(size_t) <= RCM_LOOKUP_BYTES, "with what malloc() adds");

static struct rcm_lookup *lookup_of(const struct rcm_event *event)
{
	return (struct rcm_lookup *)(void *)(uintptr_t)event;
}

static void lookup_put(struct rcm_lookup *lookup)
{
	if (atomic_fetch_sub(&lookup->refs, 1) != 1)
		return;
	rcm_answer_put(lookup->answer);
	free(lookup->text);
	free(lookup);
}

/* The id keeps what was found; lookup_claim() made room. */
static int lookup_deliver(struct rcm_event *event)
{
	struct rcm_lookup *lookup = lookup_of(event);
	struct rcm_id *id = event->id;

	rcm_lock_acquire(&id->lock);
	if (id->lookup == lookup) {
		id->lookup = NULL;
		id->found.answer = lookup->answer;
		id->found.port = lookup->port;
		if (lookup->answer && id->found.hints.flags & RAI_SA && !id->found.hints.listing) {
			memcpy(&id->pub.route.addr.dst_storage, rcm_answer_first(lookup->answer),
			       sizeof(union rcm_sockaddr));
			id->chain.address_due = true;
		}
		lookup->answer = NULL;
	}
	rcm_lock_release(&id->lock);
	return 0;
}

static const char *lookup_text(const struct rcm_event *event)
{
	return lookup_of(event)->text;
}

static void lookup_release(struct rcm_event *event)
{
	lookup_put(lookup_of(event));
}

static const struct rcm_event_ops lookup_ops = {
	.deliver = lookup_deliver,
	.text = lookup_text,
	.free = lookup_release,
};

/* Outcomes that are told together are shown at the end: who is woken finds all of them, and no lock that is held. A
 * reference; NULL between the turns of an engine. Beside the engine's thread, one may end what came late to an engine
 * that was lost. */
static _Thread_local struct rcm_channel *lookup_unshown __attribute__((tls_model("initial-exec")));

static void lookup_show(void)
{
	if (lookup_unshown)
		rcm_channel_show(lookup_unshown);
	rcm_channel_put(lookup_unshown);
	lookup_unshown = NULL;
}

__attribute__((constructor)) static void lookup_watch_told(void)
{
	rcm_request_watch_told(lookup_show);
}

/* *ret_unshown: the channel that has to show it, a reference, or NULL. */
static bool lookup_post_locked(struct rcm_id *id, struct rcm_event *event, bool more, struct rcm_channel **ret_unshown)
	RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	if (!more)
		return rcm_id_post_locked(id, event);
	if (id->dead)
		return false;
	/* On another channel, where nobody sees this one before those. */
	if (lookup_unshown && lookup_unshown != id->channel)
		rcm_channel_show(lookup_unshown);
	if (rcm_channel_post_unshown(id->channel, event))
		*ret_unshown = rcm_channel_ref(id->channel);
	return true;
}

/* On the engine's thread, or the caller's. */
static void lookup_completed(void *arg, struct rcm_outcome *outcome)
{
	struct rcm_lookup *lookup = arg;
	struct rdma_cm_event *event = &lookup->event.pub;
	struct rcm_id *id = lookup->event.id;
	struct rcm_channel *unshown = NULL;
	struct rcm_request *request;
	bool wanted;

	lookup->answer = outcome->answer;
	lookup->text = outcome->text;
	lookup->port = outcome->port;
	event->event = outcome->status ? RDMA_CM_EVENT_ADDRINFO_ERROR : RDMA_CM_EVENT_ADDRINFO_RESOLVED;
	event->status = outcome->status;
	event->param.arg = outcome->arg;
	if (lookup->removes) {
		event->event = (enum rdma_cm_event_type)RAI_EVENT_SERVICE;
		event->param.arg = 0;
		rcm_answer_put(lookup->answer);
		lookup->answer = NULL;
	}

	rcm_lock_acquire(&id->lock);
	request = lookup->request;
	lookup->request = NULL;
	lookup->done = true;
	wanted = id->lookup == lookup && lookup_post_locked(id, &lookup->event, outcome->more, &unshown);
	if (!wanted && id->lookup == lookup)
		id->lookup = NULL;
	rcm_lock_release(&id->lock);

	rcm_request_put(request);
	if (unshown) {
		rcm_channel_put(lookup_unshown);
		lookup_unshown = unshown;
	}
	if (!wanted)
		rcm_event_discard(&lookup->event);
}

static struct rcm_lookup *lookup_new(struct rcm_id *id)
{
	struct rcm_lookup *lookup = rcm_zalloc(sizeof(*lookup));

	if (!lookup)
		return NULL;
	lookup->event.pub.id = &id->pub;
	lookup->event.ops = &lookup_ops;
	lookup->event.id = rcm_id_ref(id);
	atomic_init(&lookup->refs, 2);
	return lookup;
}

/* Makes it the id's one lookup, and gives the id's options: 0, -EBUSY. */
static int lookup_claim(struct rcm_id *id, struct rcm_lookup *lookup, struct rcm_question *question)
{
	struct rcm_answer *old = NULL;
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	if (id->dead)
		ret = -EINVAL;
	else if (id->lookup)
		ret = -EBUSY;
	if (!ret) {
		id->lookup = lookup;
		lookup->sync = id->sync;
		old = id->found.answer;
		id->found = (struct rcm_found){ .hints = question->hints };
		question->deadline_ms = id->options.deadline_ms;
		question->fresh = id->options.fresh;
		question->source = id->options.source;
		question->accept = rcm_accept_get(id->options.accept);
	}
	rcm_lock_release(&id->lock);
	rcm_answer_put(old);
	return ret;
}

static void lookup_unclaim(struct rcm_id *id, struct rcm_lookup *lookup)
{
	rcm_lock_acquire(&id->lock);
	if (id->lookup == lookup)
		id->lookup = NULL;
	rcm_lock_release(&id->lock);
}

/* The engine has it: keeps the means to cancel it, unless it ended, was given up or cancelled meanwhile. */
static void lookup_started(struct rcm_id *id, struct rcm_lookup *lookup, struct rcm_request *request)
{
	bool ended, cancel;

	rcm_lock_acquire(&id->lock);
	ended = lookup->done;
	cancel = !ended && (id->lookup != lookup || lookup->cancelled);
	if (!ended && !cancel)
		lookup->request = request;
	rcm_lock_release(&id->lock);
	if (cancel)
		rcm_request_cancel(request);
	if (ended || cancel)
		rcm_request_put(request);
}

/* One that was under way when its id became synchronous: nobody takes its event there. */
static void lookup_give_up_orphan(struct rcm_id *id)
{
	bool orphan;

	rcm_lock_acquire(&id->lock);
	orphan = id->sync && id->lookup && !id->lookup->sync;
	rcm_lock_release(&id->lock);
	if (orphan)
		rcm_lookup_abandon(id);
}

int rcm_lookup_ask(struct rcm_id *id, struct rcm_question *question)
{
	struct rcm_lookup *lookup = lookup_new(id);
	int ret;

	if (!lookup)
		return -ENOMEM;
	lookup->removes = question->listing && question->listing->remove;
	lookup_give_up_orphan(id);
	ret = lookup_claim(id, lookup, question);
	if (ret)
		goto unused;
	ret = rcm_request_start(question, lookup_completed, lookup, &lookup->asked);
	rcm_accept_put(question->accept);
	if (ret) {
		lookup_unclaim(id, lookup);
		goto unused;
	}
	lookup_started(id, lookup, lookup->asked);
	lookup_put(lookup);
	return 0;
unused:
	rcm_event_discard(&lookup->event);
	lookup_put(lookup);
	return ret;
}

int rcm_lookup_start(struct rcm_id *id, const char *node, const char *service,
		     const struct rdma_addrinfo *hints)
{
	struct rcm_question question = { .node = node, .service = service };
	char owner[RCM_NODE_MAX + 1];
	int ret;

	ret = rcm_hints_check(node, service, hints, &question.hints);
	if (!ret && !node && !service)
		ret = rcm_hints_destination(hints, &question.dst);
	if (!ret && question.hints.flags & RAI_SRV) {
		ret = rcm_owner_make(node, service, &question.hints, owner);
		question.node = owner;
		question.service = NULL;
	}
	if (!ret && question.hints.flags & RAI_SA) {
		ret = rcm_local_sa_port(id, &question.port, &question.sa);
		question.traffic_class = rcm_local_traffic_class(id);
	}
	return ret ? ret : rcm_lookup_ask(id, &question);
}

int rcm_lookup_cancel(struct rcm_id *id)
{
	struct rcm_request *request = NULL;
	int ret = -ENOENT;

	rcm_lock_acquire(&id->lock);
	if (id->lookup) {
		request = id->lookup->request;
		id->lookup->request = NULL;
		id->lookup->cancelled = true;
		ret = 0;
	}
	rcm_lock_release(&id->lock);
	if (request) {
		rcm_request_cancel(request);
		rcm_request_put(request);
	}
	return ret;
}

void rcm_lookup_abandon(struct rcm_id *id)
{
	struct rcm_request *request = NULL;
	struct rcm_event *queued = NULL;
	struct rcm_lookup *lookup;
	struct rcm_answer *old;

	rcm_lock_acquire(&id->lock);
	lookup = id->lookup;
	id->lookup = NULL;
	old = id->found.answer;
	id->found.answer = NULL;
	if (lookup) {
		request = lookup->request;
		lookup->request = NULL;
		rcm_channel_unrest(id->channel, id);
		if (lookup->done && rcm_channel_withdraw_one(id->channel, &lookup->event))
			queued = &lookup->event;
	}
	rcm_lock_release(&id->lock);
	if (queued)
		rcm_event_discard(queued);
	if (request) {
		rcm_request_cancel(request);
		rcm_request_put(request);
	}
	rcm_answer_put(old);
}

int rcm_lookup_query(struct rcm_id *id, struct rdma_addrinfo **ret_list)
{
	struct rcm_found found;
	int ret;

	rcm_lock_acquire(&id->lock);
	found = id->found;
	id->found.answer = NULL;
	rcm_lock_release(&id->lock);
	if (!found.answer)
		return -ENOENT;
	ret = rcm_answer_list(found.answer, &found.hints, found.port, ret_list);
	if (!ret) {
		rcm_answer_put(found.answer);
		return 0;
	}
	rcm_lock_acquire(&id->lock);
	if (!id->lookup && !id->found.answer && !id->dead) {
		id->found = found;
		found.answer = NULL;
	}
	rcm_lock_release(&id->lock);
	rcm_answer_put(found.answer);
	return ret;
}

/* ---- In the child of a fork ---- */

/* Its event is queued: anew, where the parent's thread that took it isn't here. */
static void lookup_requeue(struct rcm_id *id, struct rcm_lookup *lookup) RCM_UNCHECKED
{
	struct rcm_event *event = &lookup->event;

	TAILQ_INSERT_TAIL(&id->channel->queue, event, in_channel);
	TAILQ_INSERT_TAIL(&id->undelivered, event, in_id);
	event->list = &id->channel->queue;
}

/* It has ended in the parent. */
static void lookup_renew_done(struct rcm_id *id, bool whole) RCM_UNCHECKED
{
	struct rcm_lookup *lookup = id->lookup;
	bool queued = lookup->event.list && !id->channel->torn;

	if (lookup->sync && queued) {
		TAILQ_REMOVE(lookup->event.list, &lookup->event, in_channel);
		TAILQ_REMOVE(&id->undelivered, &lookup->event, in_id);
	}
	if (lookup->sync || (!queued && !whole))
		id->lookup = NULL;
	else if (!queued)
		lookup_requeue(id, lookup);
}

void rcm_lookup_renew(struct rcm_id *id, bool whole) RCM_UNCHECKED
{
	struct rcm_lookup *lookup = id->lookup;

	id->rests = false;
	if (!lookup)
		return;
	if (lookup->done) {
		lookup_renew_done(id, whole);
	} else if (lookup->asked && rcm_request_rests(lookup->asked)) {
		if (!lookup->request)
			lookup->request = rcm_request_get(lookup->asked);
		rcm_channel_rest(id->channel, id);
	} else {
		id->lookup = NULL;
	}
}

/* Without a lock: this is the child's first step, which one thread takes. */
static bool lookup_is_wanted(const void *arg) RCM_UNCHECKED
{
	const struct rcm_lookup *lookup = arg;

	return lookup->event.id->lookup == lookup;
}

void rcm_lookups_drop(void)
{
	rcm_requests_drop(lookup_completed, lookup_is_wanted);
}

int rcm_lookup_again(struct rcm_id *id)
{
	struct rcm_request *request = NULL;
	bool sync = false;
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	if (id->lookup && !id->lookup->done && id->lookup->request) {
		request = rcm_request_get(id->lookup->request);
		sync = id->lookup->sync;
	}
	rcm_lock_release(&id->lock);
	if (sync)
		rcm_lookup_abandon(id);
	else if (request)
		ret = rcm_request_again(request);
	rcm_request_put(request);
	if (!ret)
		return 0;
	rcm_lock_acquire(&id->lock);
	rcm_channel_rest(id->channel, id);
	rcm_lock_release(&id->lock);
	return ret;
}
