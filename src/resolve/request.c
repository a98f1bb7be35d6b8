/* SPDX-License-Identifier: BSD-2-Clause */
/* One caller's resolution, from the call to the completion. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr/service.h"
#include "base/container.h"
#include "base/err.h"
#include "resolve/config.h"
#include "resolve/flight.h"
#include "resolve/host.h"
#include "resolve/key.h"
#include "resolve/record.h"
#include "resolve/servname.h"

static bool is_sa(const struct rcm_request *request)
{
	return request->flags & RAI_SA;
}

static uint64_t deadline_of(const struct rcm_question *question)
{
	uint32_t ms = question->deadline_ms;

	if (ms == RCM_DEADLINE_DEFAULT)
		ms = rcm_config_get()->deadline_ms;
	/* Names: the resolv.conf's timeouts, which the back end keeps. */
	if (ms == RCM_DEADLINE_DEFAULT)
		ms = question->hints.flags & RAI_SA ? RCM_SA_DEADLINE_MS : 0;
	return ms ? rcm_clock_now() + ms * RCM_NS_PER_MS : 0;
}

/* Copies len - 1 characters behind the key. */
static const char *keep_text(char **at, const char *text, size_t len)
{
	char *to = *at;

	if (!text)
		return NULL;
	memcpy(to, text, len - 1);
	to[len - 1] = '\0';
	*at += len;
	return to;
}

static void make_key(struct rcm_request *request, const struct rcm_question *question)
{
	if (is_sa(request))
		request->key_len = rcm_key_service(request->key, &question->hints, question->service,
						   &question->port, question->sa);
	else if (question->node)
		request->key_len = rcm_key_host(request->key, question->node, question->hints.family,
						question->source);
	else
		return;
	HASH_VALUE(request->key, request->key_len, request->key_hash);
}

/* Whether the key has a name's letters as they are. */
static bool is_in_key(const struct rcm_question *question)
{
	const char *at = question->node;

	if (!at || question->hints.flags & RAI_SA)
		return false;
	while (*at && (*at < 'A' || *at > 'Z'))
		at++;
	return !*at;
}

/* Longer texts are cut: a service of that length is still too long to be found. */
static size_t text_size(const char *text, size_t max)
{
	return text ? strnlen(text, max) + 1 : 0;
}

/* What can be known of the service without a file. A number beyond 65535 is looked up as a name, in vain. */
static void take_service(struct rcm_request *request, const char *service)
{
	if (service && !is_sa(request))
		request->service_is_name = rcm_service_number(service, &request->port) != 1;
}

static_assert(sizeof(struct rcm_request) + 3 + 2ul * (RCM_NODE_MAX + 1) + RCM_SERVICE_TEXT_MAX + 1 +
	      sizeof(struct rcm_flight) <= 1024, "a request and its flight take 1 KiB at most");

static int request_new(const struct rcm_question *question, struct rcm_request **ret_request)
{
	size_t node_len = text_size(question->node, RCM_NODE_MAX);
	size_t service_len = text_size(question->service, RCM_SERVICE_TEXT_MAX);
	size_t key_max = question->hints.flags & RAI_SA ? RCM_KEY_SERVICE_MAX : node_len + 3;
	bool in_key = is_in_key(question);
	struct rcm_request *request;
	char *at;

	request = malloc(sizeof(*request) + key_max + (in_key ? 0 : node_len) + service_len);
	if (!request)
		return -ENOMEM;
	*request = (struct rcm_request){
		.refs = 2,
		.flags = question->hints.flags, .family = question->hints.family, .qp_type = question->hints.qp_type,
		.by_id = question->hints.by_id, .service_id = question->hints.service_id,
		.port_gid = question->port, .sa = question->sa,
		.fresh = question->fresh, .source = question->source, .deadline = deadline_of(question),
	};
	make_key(request, question);
	at = (char *)request->key + key_max;
	if (in_key) {
		at[-1] = '\0';
		request->node = (char *)request->key + RCM_KEY_HOST_TEXT;
	} else {
		request->node = keep_text(&at, question->node, node_len);
	}
	request->service = keep_text(&at, question->service, service_len);
	take_service(request, question->service);
	*ret_request = request;
	return 0;
}

int rcm_request_start(const struct rcm_question *question, rcm_outcome_fn *done, void *arg,
		      struct rcm_request **ret_request)
{
	struct rcm_request *request;
	int ret;

	ret = rcm_engine_start();
	if (ret)
		return ret;
	ret = request_new(question, &request);
	if (ret)
		return ret;
	request->done = done;
	request->arg = arg;
	*ret_request = request;
	rcm_engine_count(RCM_COUNT_STARTED);
	rcm_engine_post(request);
	return 0;
}

void rcm_request_put(struct rcm_request *request)
{
	if (!request || atomic_fetch_sub_explicit(&request->refs, 1, memory_order_acq_rel) != 1)
		return;
	rcm_answer_put(request->answer);
	free(request);
}

void rcm_request_cancel(struct rcm_request *request)
{
	if (atomic_exchange_explicit(&request->cancelled, true, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&request->refs, 1, memory_order_relaxed);
	rcm_engine_post_cancel(request);
}

void rcm_request_end(struct rcm_engine *engine, struct rcm_request *request, struct rcm_answer *answer)
{
	rcm_timer_stop(&engine->loop, &request->timer);
	request->state = RCM_REQUEST_ENDED;
	request->answer = answer;
	STAILQ_INSERT_TAIL(&engine->ended, request, queued);
}

/* Ends one that waits. */
static void give_up(struct rcm_request *request, struct rcm_answer *answer)
{
	if (request->state == RCM_REQUEST_NAMING)
		rcm_servname_cancel(request);
	else
		rcm_flight_leave(request);
	rcm_request_end(request->engine, request, answer);
}

void rcm_request_stop(struct rcm_request *request)
{
	/* One still in the backlog sees that it is cancelled when its turn comes. */
	if (request->state == RCM_REQUEST_NAMING || request->state == RCM_REQUEST_WAITING)
		give_up(request, rcm_answer_fixed(RCM_ANSWER_CANCELLED));
}

static void deadline_reached(struct rcm_timer *timer)
{
	struct rcm_request *request = rcm_container(timer, struct rcm_request, timer);
	struct rcm_answer *answer = NULL;

	if (request->state == RCM_REQUEST_WAITING && request->flight->record)
		answer = rcm_record_partial(request->flight->record);
	give_up(request, answer ? answer : rcm_answer_fixed(RCM_ANSWER_DEADLINE));
}

/* An answer that needs no lookup, or NULL. */
static struct rcm_answer *answer_at_once(const struct rcm_request *request)
{
	if (is_sa(request))
		return NULL;
	if (!request->node)
		return rcm_host_local(request->family, request->flags & RAI_PASSIVE);
	return rcm_host_number(request->engine, request->node, request->family);
}

static struct rcm_answer *kept_answer(struct rcm_engine *engine, const struct rcm_request *request)
{
	struct rcm_answer *answer;

	if (is_sa(request) && !rcm_config_get()->sa_keep_ms)
		return NULL;
	if (request->fresh) {
		rcm_cache_drop(&engine->cache, request->key, request->key_len, request->key_hash);
		return NULL;
	}
	if (rcm_config_files_changed(engine->loop.now) ||
	    (is_sa(request) && rcm_record_ports_changed(engine)))
		rcm_cache_clear(&engine->cache);
	answer = rcm_cache_find(&engine->cache, request->key, request->key_len, request->key_hash,
				engine->loop.now);
	if (!answer)
		return NULL;
	rcm_engine_count(RCM_COUNT_KEPT_HITS);
	rcm_answer_get(answer);
	return is_sa(request) ? answer : rcm_host_reach(engine, answer);
}

/* Its port is known, or doesn't matter. */
static void find_addresses(struct rcm_engine *engine, struct rcm_request *request)
{
	struct rcm_answer *answer = answer_at_once(request);

	if (!answer)
		answer = kept_answer(engine, request);
	if (answer)
		rcm_request_end(engine, request, answer);
	else
		rcm_flight_join(engine, request);
}

static struct rcm_answer *no_port(int status)
{
	return status == -ENOENT ? rcm_answer_fixed(RCM_ANSWER_NO_SERVICE) : rcm_answer_failed(status, 0, NULL);
}

void rcm_request_resume(struct rcm_request *request, int status)
{
	if (status)
		rcm_request_end(request->engine, request, no_port(status));
	else
		find_addresses(request->engine, request);
}

void rcm_request_begin(struct rcm_engine *engine, struct rcm_request *request)
{
	struct rcm_answer *answer = NULL;
	int found = 1;

	request->engine = engine;
	if (atomic_load_explicit(&request->cancelled, memory_order_relaxed))
		answer = rcm_answer_fixed(RCM_ANSWER_CANCELLED);
	else if (request->deadline && request->deadline <= engine->loop.now)
		answer = rcm_answer_fixed(RCM_ANSWER_DEADLINE);
	else if (request->service_is_name)
		found = rcm_servname_start(engine, request);
	if (found < 0)
		answer = no_port(found);
	if (answer)
		rcm_request_end(engine, request, answer);
	else if (found)
		find_addresses(engine, request);
	if (request->state != RCM_REQUEST_ENDED && request->deadline)
		rcm_timer_start(&engine->loop, &request->timer, request->deadline, deadline_reached);
}

/* So many characters of a name are told; more would hide the reason from who reads a line. */
enum { SHOWN = 60 };

static char *say(const char *what, const char *name, const char *where, const char *why)
{
	bool whole = strlen(name) <= SHOWN;
	char *text;

	return asprintf(&text, "%s %.*s%s%s: %s", what, SHOWN, name, whole ? "" : "...", where, why) < 0 ? NULL : text;
}

/* "name host.example: no such host"; NULL without memory for it. */
static char *explain(const struct rcm_request *request)
{
	const char *why = request->answer->text ? request->answer->text : "failed";
	const char *service = request->service ? request->service : "-";

	if (is_sa(request))
		return say("service", service, " at the SA", why);
	if (rcm_answer_is(request->answer, RCM_ANSWER_NO_SERVICE) || !request->node)
		return say("service", service, "", why);
	return say("name", request->node, "", why);
}

/* Of failures that no back end made there is no MAD status, and the EAI code follows from the status. */
static uint64_t event_arg(const struct rcm_request *request)
{
	const struct rcm_answer *answer = request->answer;

	if (!answer->status || (answer->arg && !(is_sa(request) && rcm_answer_is_fixed(answer))))
		return answer->arg;
	return is_sa(request) ? 0 : (uint64_t)rcm_answer_eai(answer->status);
}

static enum rcm_count count_of(int status)
{
	if (!status)
		return RCM_COUNT_RESOLVED;
	return status == -ECANCELED ? RCM_COUNT_CANCELLED : RCM_COUNT_FAILED;
}

void rcm_request_deliver(struct rcm_request *request)
{
	struct rcm_answer *answer = request->answer;
	struct rcm_outcome outcome;

	outcome.status = answer->status;
	outcome.arg = event_arg(request);
	outcome.port = request->port;
	outcome.answer = NULL;
	outcome.text = NULL;
	rcm_engine_count(count_of(answer->status));
	if (answer->status == -ETIMEDOUT)
		rcm_engine_count(RCM_COUNT_TIMEOUTS);
	if (answer->status) {
		outcome.text = explain(request);
	} else {
		outcome.answer = answer;
		request->answer = NULL;
	}
	request->done(request->arg, &outcome);
	rcm_request_put(request);
}
