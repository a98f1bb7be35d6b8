/* SPDX-License-Identifier: BSD-2-Clause */
/* One lookup at a back end, shared by all equal requests. */
#include "resolve/flight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "resolve/host.h"
#include "resolve/key.h"
#include "resolve/record.h"
#include "resolve/removal.h"

/* Who has less than this left when a lookup runs out of time shares its fate. */
#define SPARE_NS (10 * RCM_NS_PER_MS)

static_assert(sizeof(struct rcm_request) + RCM_KEY_HOST_TEXT + RCM_NODE_MAX + 1 + RCM_SERVICE_TEXT_MAX + 1 +
	      sizeof(struct rcm_flight) <= 1024, "a request and its flight take 1 KiB at most");

static int flight_new(struct rcm_engine *engine, const struct rcm_request *request,
		      struct rcm_flight **ret_flight)
{
	struct rcm_flight *flight = malloc(sizeof(*flight));

	if (!flight)
		return -ENOMEM;
	*flight = (struct rcm_flight){ .engine = engine, .listed = true };
	/* A lookup of names keeps resolv.conf's time, whoever waits for it. */
	if (rcm_request_is_sa(request))
		flight->deadline = request->deadline;
	TAILQ_INIT(&flight->waiters);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, engine->flights, request->key, request->key_len,
				    request->key_hash, flight);
	if (!flight->hh.tbl) {
		free(flight);
		return -ENOMEM;
	}
	*ret_flight = flight;
	return 0;
}

/* From then on who asks the same gets a new one. */
static void flight_unlist(struct rcm_flight *flight)
{
	if (flight->listed) {
		HASH_DEL(flight->engine->flights, flight);
	} else {
		LIST_REMOVE(flight, older);
		flight->engine->older_count--;
	}
}

/* Its lookup must be over. */
static void flight_free(struct rcm_flight *flight)
{
	flight_unlist(flight);
	free(flight);
}

static int flight_start(struct rcm_flight *flight, const struct rcm_request *request)
{
	rcm_stats_count(&flight->engine->stats, RCM_COUNT_LOOKUPS);
	if (request->listing && request->listing->remove)
		return rcm_removal_start(flight, request);
	return rcm_request_is_sa(request) ? rcm_record_start(flight, request) : rcm_host_start(flight, request);
}

/* The flight of the request's key, in the air. */
static int flight_get(struct rcm_engine *engine, const struct rcm_request *request,
		      struct rcm_flight **ret_flight)
{
	struct rcm_flight *flight;
	int ret;

	HASH_FIND_BYHASHVALUE(hh, engine->flights, request->key, request->key_len, request->key_hash,
			      flight);
	if (flight) {
		rcm_stats_count(&engine->stats, RCM_COUNT_SHARED);
		rcm_step_trace(request->number, RCM_STEP_JOINED, (rcm_request_text(request)),
			       "an equal lookup is under way");
		*ret_flight = flight;
		return 0;
	}
	ret = flight_new(engine, request, &flight);
	if (ret)
		return ret;
	/* Before the back end tells what it asks. */
	rcm_step_trace(request->number, RCM_STEP_ASKED,
		       (rcm_request_text(request), rcm_kind_of(request->flags)), "the sources of %s",
		       rcm_request_is_sa(request) ? "services" : "names");
	ret = flight_start(flight, request);
	if (ret) {
		flight_free(flight);
		return ret;
	}
	*ret_flight = flight;
	return 0;
}

static struct rcm_answer *why_not(const struct rcm_request *request, int status)
{
	static const struct rcm_gid any;
	bool any_port = rcm_request_is_sa(request) && !memcmp(&request->port_gid, &any, sizeof(any));

	if (status == -ENODEV && any_port)
		return rcm_answer_fixed(RCM_ANSWER_NO_PORT);
	return rcm_answer_failed(status, 0, NULL);
}

void rcm_flight_join(struct rcm_engine *engine, struct rcm_request *request)
{
	struct rcm_flight *flight;
	int ret;

	ret = flight_get(engine, request, &flight);
	if (ret) {
		rcm_engine_end(request->engine, request, why_not(request, ret));
		return;
	}
	request->state = RCM_REQUEST_WAITING;
	request->flight = flight;
	TAILQ_INSERT_TAIL(&flight->waiters, request, waiter);
}

/* The key goes on with the next, so that a name has to be held once for each request only. */
static void flight_detach(struct rcm_request *request)
{
	struct rcm_flight *flight = request->flight;
	const struct rcm_request *first;

	TAILQ_REMOVE(&flight->waiters, request, waiter);
	first = TAILQ_FIRST(&flight->waiters);
	if (first)
		flight->hh.key = first->key;
}

void rcm_flight_leave(struct rcm_request *request)
{
	struct rcm_flight *flight = request->flight;
	const struct rcm_request *first;

	flight_detach(request);
	first = TAILQ_FIRST(&flight->waiters);
	if (first) {
		if (flight->host)
			rcm_host_move(flight, first);
		return;
	}
	if (flight->host)
		rcm_host_cancel(flight);
	if (flight->record)
		rcm_record_cancel(flight->record);
	rcm_removal_cancel(flight->removal);
	flight_free(flight);
}

/* Ran out of the time that its first request had, while this one has more. */
static bool is_ended_early(const struct rcm_flight *flight, const struct rcm_request *request, int status)
{
	uint64_t soon = flight->engine->loop.now + SPARE_NS;

	if ((status != -ETIMEDOUT && status != -EBUSY) || !flight->deadline)
		return false;
	if (!flight->late && flight->deadline > soon)
		return false;
	return !request->deadline || request->deadline > soon;
}

/* What one of them is told: the order of SRV records is its own. */
static struct rcm_answer *flight_part(struct rcm_engine *engine, struct rcm_answer *answer)
{
	struct rcm_answer *part = rcm_answer_get(answer);

	return answer->srvs_count ? rcm_host_hand_out(engine, part) : part;
}

void rcm_flight_land(struct rcm_flight *flight, struct rcm_answer *answer)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_waiters waiters = TAILQ_HEAD_INITIALIZER(waiters);
	struct rcm_request *request;

	flight_unlist(flight);
	TAILQ_CONCAT(&waiters, &flight->waiters, waiter);
	while ((request = TAILQ_FIRST(&waiters))) {
		TAILQ_REMOVE(&waiters, request, waiter);
		rcm_step_trace(request->number, RCM_STEP_LANDED, (answer->status, answer->count),
			       "status %s, %u result%s", rcm_step_status(answer->status), answer->count,
			       answer->count == 1 ? "" : "s");
		if (is_ended_early(flight, request, answer->status))
			rcm_flight_join(engine, request);
		else
			rcm_engine_end(request->engine, request, flight_part(engine, answer));
	}
	rcm_answer_put(answer);
	free(flight);
}

void rcm_flight_age(struct rcm_engine *engine, bool services)
{
	struct rcm_flight *flight, *next;

	HASH_ITER(hh, engine->flights, flight, next) {
		if (!(flight->record || flight->removal) == services)
			continue;
		HASH_DEL(engine->flights, flight);
		flight->listed = false;
		LIST_INSERT_HEAD(&engine->older, flight, older);
		engine->older_count++;
	}
}

static void flight_forget(struct rcm_flight *flight, struct rcm_requests *again)
{
	struct rcm_request *request;

	while ((request = TAILQ_FIRST(&flight->waiters))) {
		flight_detach(request);
		rcm_timer_stop(&flight->engine->loop, &request->timer);
		request->state = RCM_REQUEST_POSTED;
		STAILQ_INSERT_TAIL(again, request, queued);
	}
	rcm_record_free(flight->record);
	rcm_removal_free(flight->removal);
	flight_free(flight);
}

void rcm_flight_reset(struct rcm_engine *engine)
{
	struct rcm_requests again = STAILQ_HEAD_INITIALIZER(again);
	struct rcm_flight *flight, *next;

	while ((flight = LIST_FIRST(&engine->older)))
		flight_forget(flight, &again);
	HASH_ITER(hh, engine->flights, flight, next)
		flight_forget(flight, &again);
	STAILQ_CONCAT(&again, &engine->backlog);
	engine->backlog = (struct rcm_requests)STAILQ_HEAD_INITIALIZER(engine->backlog);
	STAILQ_CONCAT(&engine->backlog, &again);
}

unsigned rcm_flight_count(const struct rcm_engine *engine)
{
	return HASH_COUNT(engine->flights) + engine->older_count;
}
