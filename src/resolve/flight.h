/* SPDX-License-Identifier: BSD-2-Clause */
/* One lookup at a back end, shared by all equal requests. On the engine's thread. */
#pragma once

#include "base/table.h"
#include "resolve/engine.h"

struct rcm_flight {
	UT_hash_handle hh;
	LIST_ENTRY(rcm_flight) older;		/* where it isn't listed */
	bool listed;				/* in the engine's table, so that others join it */
	struct rcm_engine *engine;
	struct rcm_waiters waiters;
	uint64_t deadline;			/* that the back end was given, ns; 0: none */
	bool late;				/* the back end says that it ended for want of time */
	struct rcm_dns_lookup *host;		/* names: the lookup under way */
	struct rcm_record_lookup *record;	/* SA: the lookup under way, */
	struct rcm_removal *removal;		/* or the removal */
	/* Its key is hh.key, of hh.keylen bytes and hash hh.hashv: that of the first who waits. */
};

/* Lets a request wait on the flight of its key; starts one where there is none. Where that fails, the request ends. */
void rcm_flight_join(struct rcm_engine *engine, struct rcm_request *request);

/* Takes a request off its flight; the last one to leave ends the lookup. */
void rcm_flight_leave(struct rcm_request *request);

/*
 * The lookup is over: ends all waiting requests with the answer (taking over the reference) and frees the flight.
 * Requests that have more time than the lookup had are not ended by its running out, but wait on a new one.
 */
void rcm_flight_land(struct rcm_flight *flight, struct rcm_answer *answer);

/* In the child of a fork: forgets all flights, and puts their requests in front of the backlog. */
void rcm_flight_reset(struct rcm_engine *engine);

/*
 * What names mean, or the SA says of services, is another thing from now on: the flights of these go on for those who
 * wait on them, but nobody joins them any more, and their answers aren't kept.
 */
void rcm_flight_age(struct rcm_engine *engine, bool services);

unsigned rcm_flight_count(const struct rcm_engine *engine);
