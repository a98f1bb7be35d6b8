/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a service at the SA: records through one port or all, then a path to each. */
#include "resolve/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/err.h"
#include "base/tell.h"
#include "base/zalloc.h"
#include "resolve/config.h"
#include "resolve/paths.h"

#define LOOK_NS (100 * RCM_NS_PER_MS)
#define LOOK_PKEYS_NS (RCM_PUBLISH_LOOK_PKEYS_MS * RCM_NS_PER_MS)

struct port_query {
	struct rcm_record_lookup *lookup;
	struct rcm_sa_query *query;		/* NULL: not under way */
	struct rcm_gid gid;
};

struct rcm_record_lookup {
	struct rcm_flight *flight;
	int flags;
	bool by_id, by_name;
	uint64_t service_id;
	bool listing;				/* with: */
	struct rcm_listing listed;
	struct rcm_accept *accept;		/* a reference; NULL: all records */
	char service[RCM_SERVICE_NAME_MAX + 2];	/* as asked; of a service id the records' name, but in a listing */
	struct rcm_found_list found;
	struct rcm_paths paths;			/* to those; its client and deadline are the lookup's */
	uint64_t total;				/* records, as the SA had them */
	unsigned pending;			/* questions for records under way */
	bool late;				/* that failure is for want of time */
	int status;				/* the failure that tells most, while nothing was found */
	uint16_t mad_status;
	char text[RCM_TEXT_MAX];
	unsigned ports;
	struct port_query port[];
};

void rcm_record_free(struct rcm_record_lookup *lookup)
{
	if (!lookup)
		return;
	rcm_paths_free(&lookup->paths);
	rcm_found_done(&lookup->found);
	rcm_accept_put(lookup->accept);
	free(lookup);
}

void rcm_record_cancel(struct rcm_record_lookup *lookup)
{
	const struct rcm_sa_client *client = &lookup->paths.client;

	for (unsigned i = 0; i < lookup->ports; i++)
		if (lookup->port[i].query)
			client->ops->cancel(client->sa, lookup->port[i].query);
	rcm_paths_cancel(&lookup->paths, &lookup->found);
	rcm_record_free(lookup);
}

struct rcm_answer *rcm_record_partial(const struct rcm_record_lookup *lookup)
{
	if (!lookup->found.count)
		return NULL;
	return rcm_found_answer(&lookup->found, &lookup->port[0].gid,
				*lookup->service && !lookup->listing ? lookup->service : NULL, lookup->total,
				!(lookup->flags & RAI_NOROUTE));
}

/* Records have no time to live: the publisher's lease is the SA's own matter. */
static void record_tell_kept(uint32_t keep_ms)
{
	const struct rcm_tell_facts facts = { .ttl_s = -1, .kept_s = keep_ms / 1000 };

	rcm_tell_facts(RCM_TELL_KEPT, &facts, "for %u ms, as RAI_SA_KEEP_MS says", keep_ms);
}

static void finish_if_done(struct rcm_record_lookup *lookup)
{
	struct rcm_flight *flight = lookup->flight;
	struct rcm_engine *engine = flight->engine;
	uint64_t now, keep = rcm_config_get()->sa_keep_ms;
	struct rcm_answer *answer;

	if (lookup->pending || lookup->paths.asking)
		return;
	answer = rcm_record_partial(lookup);
	if (!answer)
		answer = rcm_answer_failed(lookup->status, lookup->mad_status,
					   *lookup->text ? lookup->text : NULL);
	if (keep && !answer->status && flight->listed && !lookup->listing) {
		now = rcm_clock_boot();
		rcm_cache_put(&engine->cache, flight->hh.key, flight->hh.keylen, flight->hh.hashv, answer,
			      now, now + keep * RCM_NS_PER_MS);
		rcm_monitor_want(&engine->monitor, engine->loop.now + keep * RCM_NS_PER_MS);
		record_tell_kept((uint32_t)keep);
	}
	flight->record = NULL;
	flight->late = lookup->late && answer->status;
	rcm_record_free(lookup);
	rcm_flight_land(flight, answer);
}

static void paths_changed(struct rcm_paths *paths)
{
	finish_if_done(rcm_container(paths, struct rcm_record_lookup, paths));
}

/* ---- Records ---- */

static int add_records(struct rcm_record_lookup *lookup, const struct port_query *port,
		       const struct rcm_sa_answer *answer)
{
	struct rcm_found_batch *batch = rcm_found_add(&lookup->found, (unsigned)(port - lookup->port), &port->gid,
						      answer, lookup->accept);

	if (!batch)
		return -ENOMEM;
	if (!batch->count)
		return -ENOENT;
	if (!(lookup->flags & RAI_NOROUTE))
		rcm_paths_ask(&lookup->paths, batch);
	if (!*lookup->service && !lookup->listing)
		snprintf(lookup->service, sizeof(lookup->service), "%s", answer->services[0].name);
	lookup->total += answer->total > answer->count ? answer->total : answer->count;
	lookup->total -= answer->count - batch->count;
	return 0;
}

/* Of several ports' failures the one to report: first what leaves open whether the service exists, then that it does
 * not, last what is wrong with a port alone. */
static int record_rank(int status)
{
	static const int order[] = { 0, -ENODEV, -EACCES, -ENETDOWN, -ENOENT, -ENOMEM, -EIO, -ETIMEDOUT, -EBUSY };

	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i] == status)
			return (int)i;
	return 1;
}

static void note_failure(struct rcm_record_lookup *lookup, int status, const struct rcm_sa_answer *answer)
{
	static const struct rcm_sa_answer none;
	const char *text;

	if (!answer)
		answer = &none;
	text = answer->text;
	if (record_rank(status) <= record_rank(lookup->status))
		return;
	lookup->status = status;
	lookup->mad_status = answer->mad_status;
	lookup->late = answer->late;
	snprintf(lookup->text, sizeof(lookup->text), "%s", text ? text : "");
}

static void note_not_accepted(struct rcm_record_lookup *lookup, const struct rcm_sa_answer *answer)
{
	struct rcm_sa_answer failure = { .status = -ENOENT };
	char text[RCM_TEXT_MAX];

	if (answer->count == 1)
		snprintf(text, sizeof(text), "the SA has one such record, which is not accepted");
	else
		snprintf(text, sizeof(text), "the SA has %u such records, of which none is accepted", answer->count);
	failure.text = text;
	note_failure(lookup, -ENOENT, &failure);
}

static void service_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct port_query *port = arg;
	struct rcm_record_lookup *lookup = port->lookup;
	int status = answer->status;

	port->query = NULL;
	lookup->pending--;
	rcm_tell(RCM_TELL_ANSWER, "%u service record%s", answer->count, answer->count == 1 ? "" : "s");
	if (!status)
		status = answer->count ? add_records(lookup, port, answer) : -ENOENT;
	if (status == -ENOENT && answer->count)
		note_not_accepted(lookup, answer);
	else if (status)
		note_failure(lookup, status, answer);
	finish_if_done(lookup);
}

static void service_start(struct rcm_record_lookup *lookup, struct port_query *port)
{
	const struct rcm_sa_client *client = &lookup->paths.client;
	struct rcm_sa_service_query query = {
		.port = port->gid, .by_id = lookup->by_id, .by_name = lookup->by_name,
		.service_id = lookup->service_id, .deadline = lookup->paths.deadline,
	};
	int ret;

	if (query.by_name)
		memcpy(query.service_name, lookup->service, sizeof(query.service_name));
	if (lookup->listing) {
		query.by_gid = lookup->listed.by_gid;
		query.gid = lookup->listed.gid;
		query.by_pkey = lookup->listed.by_pkey;
		query.pkey = lookup->listed.pkey;
		query.most = RCM_LISTED_MAX;
	}
	ret = client->ops->service(client->sa, &query, service_answered, port, &port->query);
	if (ret)
		note_failure(lookup, ret, NULL);
	else
		lookup->pending++;
}

/* The GIDs to ask through: the one given, or every active InfiniBand port's. How many, or -errno. */
static int choose_ports(struct rcm_engine *engine, const struct rcm_gid *given, struct rcm_gid *gids)
{
	static const struct rcm_gid any;
	struct rcm_sa_port ports[RCM_SA_PORTS_MAX];
	int n, count = 0;

	if (memcmp(given, &any, sizeof(any)) != 0) {
		gids[0] = *given;
		return 1;
	}
	n = engine->backends.sa_ports(ports, RCM_SA_PORTS_MAX);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (ports[i].infiniband && ports[i].active)
			gids[count++] = ports[i].gid;
	return count ? count : -ENODEV;
}

static int record_lookup_new(struct rcm_flight *flight, const struct rcm_request *request,
			     struct rcm_record_lookup **ret_lookup)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_gid gids[RCM_SA_PORTS_MAX];
	struct rcm_record_lookup *lookup;
	struct rcm_sa_client *client;
	int ports, ret;

	ret = rcm_engine_sa(engine, request->sa, &client);
	if (ret)
		return ret;
	ports = choose_ports(engine, &request->port_gid, gids);
	if (ports < 0)
		return ports;
	lookup = rcm_zalloc(sizeof(*lookup) + (size_t)ports * sizeof(*lookup->port));
	if (!lookup)
		return -ENOMEM;
	lookup->flight = flight;
	lookup->flags = request->flags;
	lookup->by_id = request->by_id;
	lookup->service_id = request->service_id;
	lookup->accept = rcm_accept_get(request->accept);
	lookup->listing = request->listing;
	if (request->listing)
		lookup->listed = *request->listing;
	rcm_found_init(&lookup->found, lookup->listing ? &lookup->listed : NULL);
	lookup->paths = (struct rcm_paths){ .client = *client, .traffic_class = request->traffic_class,
					    .deadline = rcm_request_backend_deadline(request, engine->loop.now),
					    .changed = paths_changed, .hosts = &engine->sa_hosts };
	lookup->by_name = request->listing ? request->service != NULL : !request->by_id;
	if (lookup->by_name)
		snprintf(lookup->service, sizeof(lookup->service), "%s", request->service);
	lookup->ports = (unsigned)ports;
	for (int i = 0; i < ports; i++)
		lookup->port[i] = (struct port_query){ .lookup = lookup, .gid = gids[i] };
	*ret_lookup = lookup;
	return 0;
}

int rcm_record_start(struct rcm_flight *flight, const struct rcm_request *request)
{
	struct rcm_record_lookup *lookup;
	int ret;

	ret = record_lookup_new(flight, request, &lookup);
	if (ret)
		return ret;
	for (unsigned i = 0; i < lookup->ports; i++)
		service_start(lookup, &lookup->port[i]);
	if (!lookup->pending) {
		ret = lookup->status;
		rcm_record_free(lookup);
		return ret;
	}
	flight->record = lookup;
	return 0;
}

/* Whether the ports' P_Keys are not what they were: each is a file, so that they are read more seldom. */
static bool pkeys_changed(struct rcm_engine *engine, const struct rcm_sa_port *ports, int count)
{
	struct rcm_ports_seen *seen = &engine->ports_seen;
	unsigned before = seen->pkeys;
	bool first = !seen->pkeys_at;

	if (!engine->backends.port_look || (!first && engine->loop.now - seen->pkeys_at < LOOK_PKEYS_NS))
		return false;
	seen->pkeys_at = engine->loop.now;
	seen->pkeys = 0;
	for (int i = 0; i < count; i++) {
		struct rcm_publish_port port;

		if (ports[i].infiniband && !engine->backends.port_look(&ports[i].gid, true, &port))
			seen->pkeys = seen->pkeys * 31 + port.pkeys;
	}
	return !first && seen->pkeys != before;
}

bool rcm_record_ports_changed(struct rcm_engine *engine)
{
	struct rcm_ports_seen *seen = &engine->ports_seen;
	struct rcm_sa_port ports[RCM_SA_PORTS_MAX] = { 0 };
	unsigned hash;
	bool changed;
	int n;

	if (seen->at && engine->loop.now - seen->at < LOOK_NS)
		return false;
	n = engine->backends.sa_ports ? engine->backends.sa_ports(ports, RCM_SA_PORTS_MAX) : 0;
	HASH_VALUE(ports, (n > 0 ? (unsigned)n : 0) * sizeof(*ports), hash);
	changed = seen->at && hash != seen->hash;
	seen->at = engine->loop.now;
	seen->hash = hash;
	return pkeys_changed(engine, ports, n) || changed;
}
