/* SPDX-License-Identifier: BSD-2-Clause */
/* One lookup at a back end, shared by all equal requests. */
#include "resolve/flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/host.h"
#include "resolve/record.h"

/* Who has less than this left when a lookup runs out of time shares its fate. */
#define SPARE_NS (10 * RCM_NS_PER_MS)

static int flight_new(struct rcm_engine *engine, const struct rcm_request *request,
		      struct rcm_flight **ret_flight)
{
	struct rcm_flight *flight = malloc(sizeof(*flight));

	if (!flight)
		return -ENOMEM;
	*flight = (struct rcm_flight){ .engine = engine, .deadline = request->deadline };
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

/* Its lookup must be over. */
static void flight_free(struct rcm_flight *flight)
{
	HASH_DEL(flight->engine->flights, flight);
	free(flight);
}

static int start(struct rcm_flight *flight, const struct rcm_request *request)
{
	rcm_engine_count(RCM_COUNT_LOOKUPS);
	return request->flags & RAI_SA ? rcm_record_start(flight, request) :
					       rcm_host_start(flight, request);
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
		rcm_engine_count(RCM_COUNT_SHARED);
		*ret_flight = flight;
		return 0;
	}
	ret = flight_new(engine, request, &flight);
	if (ret)
		return ret;
	ret = start(flight, request);
	if (ret)
		flight_free(flight);
	else
		*ret_flight = flight;
	return ret;
}

static struct rcm_answer *why_not(const struct rcm_request *request, int status)
{
	static const struct rcm_gid any;
	bool any_port = request->flags & RAI_SA && !memcmp(&request->port_gid, &any, sizeof(any));

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
		rcm_request_end(engine, request, why_not(request, ret));
		return;
	}
	request->state = RCM_REQUEST_WAITING;
	request->flight = flight;
	TAILQ_INSERT_TAIL(&flight->waiters, request, waiter);
}

/* The key goes on with the next, so that a name has to be held once for each request only. */
static void detach(struct rcm_request *request)
{
	struct rcm_flight *flight = request->flight;
	const struct rcm_request *first;

	TAILQ_REMOVE(&flight->waiters, request, waiter);
	request->flight = NULL;
	first = TAILQ_FIRST(&flight->waiters);
	if (first)
		flight->hh.key = first->key;
}

void rcm_flight_leave(struct rcm_request *request)
{
	struct rcm_flight *flight = request->flight;

	detach(request);
	if (!TAILQ_EMPTY(&flight->waiters))
		return;
	if (flight->host)
		rcm_host_cancel(flight);
	if (flight->record)
		rcm_record_cancel(flight->record);
	flight_free(flight);
}

/* Ran out of the time that its first request had, while this one has more. */
static bool ended_early(const struct rcm_flight *flight, const struct rcm_request *request, int status)
{
	uint64_t soon = flight->engine->loop.now + SPARE_NS;

	if ((status != -ETIMEDOUT && status != -EBUSY) || !flight->deadline || flight->deadline > soon)
		return false;
	return !request->deadline || request->deadline > soon;
}

void rcm_flight_land(struct rcm_flight *flight, struct rcm_answer *answer)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_waiters waiters = TAILQ_HEAD_INITIALIZER(waiters);
	struct rcm_request *request;

	/* Out of the table first, so that who joins again gets a new one. */
	HASH_DEL(engine->flights, flight);
	TAILQ_CONCAT(&waiters, &flight->waiters, waiter);
	while ((request = TAILQ_FIRST(&waiters))) {
		TAILQ_REMOVE(&waiters, request, waiter);
		request->flight = NULL;
		if (ended_early(flight, request, answer->status))
			rcm_flight_join(engine, request);
		else
			rcm_request_end(engine, request, rcm_answer_get(answer));
	}
	rcm_answer_put(answer);
	free(flight);
}

void rcm_flight_reset(struct rcm_engine *engine)
{
	struct rcm_requests again = STAILQ_HEAD_INITIALIZER(again);
	struct rcm_flight *flight, *next;
	struct rcm_request *request;

	HASH_ITER(hh, engine->flights, flight, next) {
		while ((request = TAILQ_FIRST(&flight->waiters))) {
			detach(request);
			rcm_timer_stop(&engine->loop, &request->timer);
			request->state = RCM_REQUEST_POSTED;
			STAILQ_INSERT_TAIL(&again, request, queued);
		}
		rcm_record_free(flight->record);
		flight_free(flight);
	}
	STAILQ_CONCAT(&again, &engine->backlog);
	engine->backlog = (struct rcm_requests)STAILQ_HEAD_INITIALIZER(engine->backlog);
	STAILQ_CONCAT(&engine->backlog, &again);
}

unsigned rcm_flight_count(const struct rcm_engine *engine)
{
	return HASH_COUNT(engine->flights);
}
