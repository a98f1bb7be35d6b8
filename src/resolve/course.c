/* SPDX-License-Identifier: BSD-2-Clause */
/* The course of a request. All on the engine's thread. */
#include "resolve/course.h"

#include <errno.h>

#include "base/container.h"
#include "base/log.h"
#include "resolve/config.h"
#include "resolve/flight.h"
#include "resolve/host.h"
#include "resolve/record.h"

static bool is_late(const struct rcm_request *request)
{
	return request->deadline && request->deadline <= request->engine->loop.now;
}

static void course_fail(struct rcm_request *request, int status)
{
	rcm_engine_end(request->engine, request, rcm_answer_failed(status, 0, NULL));
}

/* ---- The address ---- */

static struct rcm_answer *answer_kept(struct rcm_engine *engine, const struct rcm_request *request)
{
	struct rcm_answer *answer;

	/* Where nothing is kept no port is looked at in vain. */
	if (rcm_request_is_sa(request) && (request->listing || !rcm_config_get()->sa_keep_ms))
		return NULL;
	if (rcm_request_is_sa(request) && rcm_record_ports_changed(engine))
		rcm_cache_clear(&engine->cache);
	if (request->fresh) {
		rcm_cache_drop(&engine->cache, request->key, request->key_len, request->key_hash);
		return NULL;
	}
	answer = rcm_cache_find(&engine->cache, request->key, request->key_len, request->key_hash,
				rcm_clock_boot());
	if (!answer)
		return NULL;
	rcm_stats_count(&engine->stats, RCM_COUNT_KEPT_HITS);
	rcm_step_trace(request->number, RCM_STEP_KEPT, (rcm_request_text(request)),
		       "an answer of before still counts");
	if (rcm_request_is_sa(request))
		return answer;
	if (answer->count > 1 && !engine->backends.dns->knows_ways(engine->dns))
		engine->backends.dns->settle(engine->dns);
	return rcm_host_hand_out(engine, answer);
}

/* Its port is known, or doesn't matter. */
static void course_address(struct rcm_request *request)
{
	const struct rcm_dns_query query = rcm_request_query(request);
	struct rcm_engine *engine = request->engine;
	struct rcm_answer *answer = NULL;

	if (is_late(request))
		answer = rcm_answer_fixed(RCM_ANSWER_DEADLINE);
	else if (!rcm_request_is_sa(request) && !rcm_request_is_srv(request))
		answer = rcm_host_plain(engine, request->node, request->family, request->flags & RAI_PASSIVE);
	if (!answer)
		answer = answer_kept(engine, request);
	if (!answer && !rcm_request_is_sa(request))
		answer = rcm_host_now(engine, &query);
	if (answer)
		rcm_engine_end(request->engine, request, answer);
	else
		rcm_flight_join(engine, request);
}

/* ---- The service's name ---- */

static void course_named(struct rcm_request *request, int status)
{
	if (!status)
		course_address(request);
	else if (status == -ENOENT)
		rcm_engine_end(request->engine, request, rcm_answer_fixed(RCM_ANSWER_NO_SERVICE));
	else
		course_fail(request, status);
}

static void naming_leave(struct rcm_request *request)
{
	TAILQ_REMOVE(&request->engine->naming, request, waiter);
}

static void naming_answered(void *arg, int status, uint16_t port)
{
	struct rcm_request *request = arg;

	naming_leave(request);
	request->port = port;
	course_named(request, status);
}

static int naming_start(struct rcm_request *request)
{
	struct rcm_engine *engine = request->engine;
	int ret;

	ret = engine->backends.dns->service_start(engine->dns, request->service, request->socket_type,
						  naming_answered, request, &request->naming);
	if (ret)
		return ret;
	request->state = RCM_REQUEST_NAMING;
	TAILQ_INSERT_TAIL(&engine->naming, request, waiter);
	rcm_step_trace(request->number, RCM_STEP_NAMING, (request->service), "the port of \"%s\"", request->service);
	return 0;
}

/* The configuration in force is that of the host's files. */
static void course_service(struct rcm_request *request)
{
	struct rcm_engine *engine = request->engine;
	int found = 1, ret = 0;

	if (request->service_is_name)
		found = engine->backends.dns->service_now(engine->dns, request->service, request->socket_type,
							  &request->port);
	if (!found)
		ret = naming_start(request);
	if (found || ret)
		course_named(request, found < 0 ? found : ret);
}

/* ---- The host's files ---- */

static void reading_leave(struct rcm_request *request)
{
	TAILQ_REMOVE(&request->engine->reading, request, waiter);
}

static void dns_settled(void *arg, int status)
{
	struct rcm_engine *engine = arg;
	struct rcm_waiters waiters = TAILQ_HEAD_INITIALIZER(waiters);
	struct rcm_request *request;

	TAILQ_CONCAT(&waiters, &engine->reading, waiter);
	while ((request = TAILQ_FIRST(&waiters))) {
		TAILQ_REMOVE(&waiters, request, waiter);
		if (status)
			course_fail(request, status);
		else
			course_service(request);
	}
}

static void dns_changed(void *arg)
{
	struct rcm_engine *engine = arg;

	rcm_cache_clear(&engine->cache);
	rcm_flight_age(engine, false);
}

int rcm_course_open_dns(struct rcm_engine *engine)
{
	const struct rcm_dns_owner owner = { .changed = dns_changed, .settled = dns_settled, .arg = engine };
	struct rcm_dns *dns;
	int ret;

	if (engine->dns)
		return 0;
	ret = engine->backends.dns->open(&engine->loop, &owner, &dns);
	if (!ret)
		atomic_store(&engine->dns, dns);
	return ret;
}

static int reading_start(struct rcm_request *request)
{
	struct rcm_engine *engine = request->engine;
	int ret;

	ret = rcm_course_open_dns(engine);
	if (!ret)
		ret = engine->backends.dns->settle(engine->dns);
	if (ret)
		return ret;
	request->state = RCM_REQUEST_READING;
	TAILQ_INSERT_TAIL(&engine->reading, request, waiter);
	rcm_step_trace(request->number, RCM_STEP_READING, (rcm_request_text(request)),
		       "until the host's files are read");
	return 0;
}

static void course_name(struct rcm_request *request)
{
	int ret = request->settled ? 1 : reading_start(request);

	if (ret < 0)
		course_fail(request, ret);
	else if (ret)
		course_service(request);
}

/* ---- Beginning and end ---- */

/* Ends one that waits. */
static void course_give_up(struct rcm_request *request, struct rcm_answer *answer)
{
	struct rcm_engine *engine = request->engine;

	if (request->state == RCM_REQUEST_READING) {
		reading_leave(request);
	} else if (request->state == RCM_REQUEST_NAMING) {
		engine->backends.dns->service_cancel(engine->dns, request->naming);
		naming_leave(request);
	} else {
		rcm_flight_leave(request);
	}
	rcm_engine_end(request->engine, request, answer);
}

void rcm_course_stop(struct rcm_request *request)
{
	/* One still in the backlog sees that it is cancelled when its turn comes. */
	if (request->state != RCM_REQUEST_POSTED && request->state != RCM_REQUEST_ENDED)
		course_give_up(request, rcm_answer_fixed(RCM_ANSWER_CANCELLED));
}

static void deadline_reached(struct rcm_timer *timer)
{
	struct rcm_request *request = rcm_container(timer, struct rcm_request, timer);
	struct rcm_answer *answer = NULL;

	if (request->state == RCM_REQUEST_WAITING && request->flight->record)
		answer = rcm_record_partial(request->flight->record);
	else if (request->state == RCM_REQUEST_WAITING && request->flight->host)
		answer = rcm_host_partial(request->flight);
	course_give_up(request, answer ? answer : rcm_answer_fixed(RCM_ANSWER_DEADLINE));
}

void rcm_course_begin(struct rcm_engine *engine, struct rcm_request *request)
{
	if (atomic_load_explicit(&request->cancelled, memory_order_relaxed))
		rcm_engine_end(request->engine, request, rcm_answer_fixed(RCM_ANSWER_CANCELLED));
	else if (is_late(request))
		rcm_engine_end(request->engine, request, rcm_answer_fixed(RCM_ANSWER_DEADLINE));
	else if (rcm_request_is_sa(request) || (!request->node && !request->service_is_name))
		course_address(request);
	else
		course_name(request);
	if (request->state != RCM_REQUEST_ENDED && request->deadline)
		rcm_timer_start(&engine->loop, &request->timer, request->deadline, deadline_reached);
}

static void waiters_reset(struct rcm_engine *engine, struct rcm_waiters *waiters)
{
	struct rcm_request *request;

	while ((request = TAILQ_LAST(waiters, rcm_waiters))) {
		TAILQ_REMOVE(waiters, request, waiter);
		rcm_timer_stop(&engine->loop, &request->timer);
		request->state = RCM_REQUEST_POSTED;
		STAILQ_INSERT_HEAD(&engine->backlog, request, queued);
	}
}

/* Their outcomes were not told. */
static void ended_reset(struct rcm_engine *engine)
{
	struct rcm_request *request;

	while ((request = STAILQ_FIRST(&engine->ended))) {
		STAILQ_REMOVE_HEAD(&engine->ended, queued);
		rcm_answer_put(request->answer);
		request->answer = NULL;
		request->state = RCM_REQUEST_POSTED;
		STAILQ_INSERT_TAIL(&engine->backlog, request, queued);
	}
}

/* Nothing has been read here. */
static void requests_distrust(struct rcm_requests *requests)
{
	struct rcm_request *request;

	STAILQ_FOREACH(request, requests, queued)
		request->settled = false;
}

void rcm_course_reset(struct rcm_engine *engine)
{
	waiters_reset(engine, &engine->naming);
	waiters_reset(engine, &engine->reading);
	ended_reset(engine);
	requests_distrust(&engine->backlog);
	rcm_lock_acquire(&engine->box);
	requests_distrust(&engine->posted);
	rcm_lock_release(&engine->box);
}
