/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of one name server. */
#include "dns/server.h"

#include "base/clock.h"
#include "base/limits.h"

#define PATIENCE_UNKNOWN (10 * RCM_NS_PER_MS)
#define PATIENCE_MIN (5 * RCM_NS_PER_MS)
#define PATIENCE_MAX (50 * RCM_NS_PER_MS)
#define EARLY_MIN (100 * RCM_NS_PER_MS)
#define PROBE_EACH (10 * RCM_NS_PER_S)
#define REFUSAL_KEPT (300 * RCM_NS_PER_S)
#define TRIP_SLACK (2 * RCM_NS_PER_MS)
/* In questions. */
enum { WINDOW = 2 * RCM_DNS_WINDOW, WINDOW_MIN = 2 * RCM_DNS_WINDOW_MIN, WINDOW_MAX = 2 * RCM_DNS_IN_FLIGHT };
enum { PATIENCE_TRIPS = 4, SMOOTHING = 8, FORGETTING = 1024, STALLED_MAX = 2, SILENT_IN_A_ROW = 3 };

void rcm_server_init(struct rcm_server *server, const union rcm_dns_address *address)
{
	*server = (struct rcm_server){ .address = *address, .window = WINDOW };
}

bool rcm_server_has_room(const struct rcm_server *server, unsigned questions, unsigned beyond)
{
	return server->placed + questions <= server->window + beyond && server->out + questions <= WINDOW_MAX;
}

uint64_t rcm_server_patience(const struct rcm_server *server)
{
	uint64_t wait = PATIENCE_TRIPS * server->round_trip;

	if (!wait)
		wait = PATIENCE_UNKNOWN;
	if (wait < PATIENCE_MIN)
		wait = PATIENCE_MIN;
	/* A server that says nothing at all may just not have had the processor: more would be lost in its buffer. */
	wait <<= server->stalled < STALLED_MAX ? server->stalled : STALLED_MAX;
	return wait > PATIENCE_MAX ? PATIENCE_MAX : wait;
}

uint64_t rcm_server_early(const struct rcm_server *server)
{
	uint64_t wait = PATIENCE_TRIPS * server->round_trip;

	return wait < EARLY_MIN ? EARLY_MIN : wait;
}

/*
 * A server that is asked more than it can take answers late before it loses anything. So the window grows only while it
 * is in use and answers come as soon as they ever did.
 */
static void server_grow(struct rcm_server *server, uint64_t trip)
{
	if (trip > 2 * server->best_trip + TRIP_SLACK || 2 * server->placed < server->window)
		return;
	if (server->window < WINDOW_MAX)
		server->window++;
}

void rcm_server_answered(struct rcm_server *server, uint64_t asked_at, uint64_t now)
{
	uint64_t trip = now > asked_at ? now - asked_at : 1;

	server->silent = server->stalled = 0;
	server->answered_at = now;
	/* The way to it may have changed: what was best is forgotten bit by bit. */
	if (!server->best_trip || trip < server->best_trip)
		server->best_trip = trip;
	else
		server->best_trip += server->best_trip / FORGETTING + 1;
	server_grow(server, trip);
	/* One slow name says little about what is usual. */
	if (server->round_trip && trip > 2 * server->round_trip)
		trip = 2 * server->round_trip;
	if (server->round_trip)
		trip = server->round_trip - server->round_trip / SMOOTHING + trip / SMOOTHING;
	server->round_trip = trip;
}

/* At most once for all that was on its way together. */
void rcm_server_overdue(struct rcm_server *server, uint64_t asked_at, uint64_t now)
{
	if (asked_at < server->halved_at)
		return;
	server->halved_at = now;
	server->stalled++;
	server->window = server->window / 2 < WINDOW_MIN ? WINDOW_MIN : server->window / 2;
}

/* One that answers others isn't silent: it is that name that is. */
void rcm_server_silent(struct rcm_server *server, uint64_t asked_at, uint64_t now)
{
	if (server->answered_at <= asked_at && server->silent < SILENT_IN_A_ROW && ++server->silent == SILENT_IN_A_ROW)
		server->probed_at = now;
}

bool rcm_server_is_silent(const struct rcm_server *server)
{
	return server->silent >= SILENT_IN_A_ROW;
}

bool rcm_server_is_last(struct rcm_server *server, uint64_t now)
{
	if (!rcm_server_is_silent(server))
		return false;
	if (now - server->probed_at < PROBE_EACH)
		return true;
	server->probed_at = now;
	return false;
}

void rcm_server_refuses_edns(struct rcm_server *server, uint64_t now)
{
	server->no_edns_until = now + REFUSAL_KEPT;
}

void rcm_server_refuses_tcp(struct rcm_server *server, uint64_t now)
{
	server->no_tcp_until = now + REFUSAL_KEPT / 10;
}
