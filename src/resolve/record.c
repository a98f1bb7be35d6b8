/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a service at the SA: records through one port or all, then a path to each. */
#include "resolve/record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/config.h"

/* How long before the request's own deadline the back end gives up, so that it is the one to say why. */
#define AHEAD_NS RCM_NS_PER_MS
#define LOOK_NS (100 * RCM_NS_PER_MS)

struct port_query {
	struct rcm_record_lookup *lookup;
	struct rcm_sa_query *query;		/* NULL: not under way */
	struct rcm_gid gid;
};

struct path_key {
	struct rcm_gid port, dgid;
	uint16_t pkey;				/* host order */
};

/* One for each distinct destination. */
struct path {
	UT_hash_handle hh;
	struct rcm_record_lookup *lookup;
	struct rcm_sa_query *query;		/* NULL: not under way */
	bool had;
	struct path_key key;
	struct ibv_path_data data;
};

struct record {
	struct rcm_gid port, gid;
	uint16_t pkey;
	uint64_t id;
	const struct path *path;		/* NULL: none asked */
};

struct rcm_record_lookup {
	struct rcm_flight *flight;
	struct rcm_sa_client client;
	int flags;
	bool by_id;
	uint64_t service_id;
	uint64_t deadline;			/* for the back end, ns; 0: none */
	char service[RCM_SERVICE_NAME_MAX + 2];	/* as asked; of a service id the records' name */
	struct record *records;
	unsigned count;
	uint64_t total;				/* as the SA had them */
	struct path *paths;
	unsigned pending;			/* questions under way */
	bool found;
	int status;				/* the failure that tells most, while nothing was found */
	uint16_t mad_status;
	char text[RCM_TEXT_MAX];
	unsigned ports;
	struct port_query port[];
};

void rcm_record_free(struct rcm_record_lookup *lookup)
{
	struct path *path, *next;

	if (!lookup)
		return;
	path = lookup->paths;
	HASH_CLEAR(hh, lookup->paths);
	for (; path; path = next) {
		next = path->hh.next;
		free(path);
	}
	free(lookup->records);
	free(lookup);
}

void rcm_record_cancel(struct rcm_record_lookup *lookup)
{
	const struct rcm_sa_client *client = &lookup->client;
	struct path *path, *next;

	for (unsigned i = 0; i < lookup->ports; i++)
		if (lookup->port[i].query)
			client->ops->cancel(client->sa, lookup->port[i].query);
	HASH_ITER(hh, lookup->paths, path, next)
		if (path->query)
			client->ops->cancel(client->sa, path->query);
	rcm_record_free(lookup);
}

static void record_fill(const struct record *record, struct rcm_result *result, struct ibv_path_data *route)
{
	rcm_sockaddr_ib(&result->dst, record->gid.raw, record->pkey, record->id, UINT64_MAX);
	rcm_sockaddr_ib(&result->src, record->port.raw, record->pkey, RDMA_IB_PS_IB, RDMA_IB_IP_PS_MASK);
	if (record->path && record->path->had) {
		*route = record->path->data;
		result->route = route;
		result->routes = 1;
	}
}

struct rcm_answer *rcm_record_partial(const struct rcm_record_lookup *lookup)
{
	const char *name = *lookup->service ? lookup->service : NULL;
	struct rcm_answer *answer;

	if (!lookup->found)
		return NULL;
	if (rcm_answer_new(lookup->count, lookup->count, name, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = lookup->total;
	for (unsigned i = 0; i < lookup->count; i++)
		record_fill(&lookup->records[i], &answer->results[i], &answer->routes[i]);
	return answer;
}

static void finish_if_done(struct rcm_record_lookup *lookup)
{
	struct rcm_flight *flight = lookup->flight;
	struct rcm_engine *engine = flight->engine;
	uint64_t now = engine->loop.now, keep = rcm_config_get()->sa_keep_ms;
	struct rcm_answer *answer;

	if (lookup->pending)
		return;
	answer = rcm_record_partial(lookup);
	if (!answer)
		answer = rcm_answer_failed(lookup->status, lookup->mad_status,
					   *lookup->text ? lookup->text : NULL);
	if (keep && !answer->status && flight->listed)
		rcm_cache_put(&engine->cache, flight->hh.key, flight->hh.keylen, flight->hh.hashv, answer,
			      now, now + keep * RCM_NS_PER_MS);
	flight->record = NULL;
	rcm_record_free(lookup);
	rcm_flight_land(flight, answer);
}

static void path_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct path *path = arg;

	path->query = NULL;
	path->lookup->pending--;
	if (!answer->status && answer->count) {
		path->had = true;
		path->data.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
		static_assert(sizeof(path->data.path) == sizeof(*answer->paths), "as on the wire");
		memcpy(&path->data.path, answer->paths[0], sizeof(path->data.path));
	}
	finish_if_done(path->lookup);
}

/* A route that can't be had is left out. */
static void path_start(struct rcm_record_lookup *lookup, struct path *path)
{
	struct rcm_sa_path_query query = {
		.port = path->key.port, .dgid = path->key.dgid, .deadline = lookup->deadline,
		/* No partition has number 0: such a record means any that is shared. */
		.pkey = path->key.pkey,
	};

	if (!lookup->client.ops->path(lookup->client.sa, &query, path_answered, path, &path->query))
		lookup->pending++;
}

/* The path to a record's destination, asked for at the first that has it; NULL without memory. */
static const struct path *path_to(struct rcm_record_lookup *lookup, const struct record *record)
{
	struct path_key key = { .port = record->port, .dgid = record->gid, .pkey = record->pkey };
	struct path *path;

	HASH_FIND(hh, lookup->paths, &key, sizeof(key), path);
	if (path)
		return path;
	path = calloc(1, sizeof(*path));
	if (!path)
		return NULL;
	path->lookup = lookup;
	path->key = key;
	HASH_ADD(hh, lookup->paths, key, sizeof(path->key), path);
	if (!path->hh.tbl) {
		free(path);
		return NULL;
	}
	path_start(lookup, path);
	return path;
}

static int add_records(struct rcm_record_lookup *lookup, const struct port_query *port,
		       const struct rcm_sa_answer *answer)
{
	unsigned room = RCM_RESULTS_MAX - lookup->count;
	unsigned more = answer->count < room ? answer->count : room;
	struct record *records;

	records = realloc(lookup->records, (lookup->count + more + 1) * sizeof(*records));
	if (!records)
		return -ENOMEM;
	lookup->records = records;
	for (unsigned i = 0; i < more; i++) {
		const struct rcm_sa_service_record *from = &answer->services[i];
		struct record *to = &records[lookup->count++];

		*to = (struct record){ port->gid, from->gid, from->pkey, from->id, NULL };
		if (!(lookup->flags & RAI_NOROUTE))
			to->path = path_to(lookup, to);
	}
	if (!*lookup->service)
		snprintf(lookup->service, sizeof(lookup->service), "%s", answer->services[0].name);
	lookup->total += answer->total > answer->count ? answer->total : answer->count;
	lookup->found = true;
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

static void note_failure(struct rcm_record_lookup *lookup, int status, uint16_t mad_status, const char *text)
{
	if (record_rank(status) <= record_rank(lookup->status))
		return;
	lookup->status = status;
	lookup->mad_status = mad_status;
	snprintf(lookup->text, sizeof(lookup->text), "%s", text ? text : "");
}

static void service_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct port_query *port = arg;
	struct rcm_record_lookup *lookup = port->lookup;
	int status = answer->status;

	port->query = NULL;
	lookup->pending--;
	if (!status)
		status = answer->count ? add_records(lookup, port, answer) : -ENOENT;
	if (status)
		note_failure(lookup, status, answer->mad_status, answer->text);
	finish_if_done(lookup);
}

static void service_start(struct rcm_record_lookup *lookup, struct port_query *port)
{
	struct rcm_sa_service_query query = {
		.port = port->gid, .by_id = lookup->by_id, .by_name = !lookup->by_id,
		.service_id = lookup->service_id, .deadline = lookup->deadline,
	};
	int ret;

	if (query.by_name)
		memcpy(query.service_name, lookup->service, sizeof(query.service_name));
	ret = lookup->client.ops->service(lookup->client.sa, &query, service_answered, port, &port->query);
	if (ret)
		note_failure(lookup, ret, 0, NULL);
	else
		lookup->pending++;
}

static uint64_t backend_deadline(const struct rcm_request *request, uint64_t now)
{
	uint64_t deadline = request->deadline;

	return deadline && deadline - now > 2 * AHEAD_NS ? deadline - AHEAD_NS : deadline;
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
	if (!engine->backends.sa_ports)
		return -ENOSYS;
	n = engine->backends.sa_ports(ports, RCM_SA_PORTS_MAX);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (ports[i].infiniband && ports[i].active)
			gids[count++] = ports[i].gid;
	return count ? count : -ENODEV;
}

/* Finds, and opens where it isn't yet, an SA client; NULL ops: the default one. 0 or -errno. */
static int sa_client_get(struct rcm_engine *engine, const struct rcm_sa_ops *ops, struct rcm_sa_client **ret_client)
{
	struct rcm_sa_client *client = engine->sa, *end = client + RCM_SA_CLIENTS;
	int ret;

	if (!ops)
		ops = engine->backends.sa;
	if (!ops)
		return -ENOSYS;
	while (client < end && client->ops && client->ops != ops)
		client++;
	if (client == end)
		return -EMFILE;
	if (!client->ops) {
		ret = ops->open(&engine->loop, &client->sa);
		if (ret)
			return ret;
		client->ops = ops;
	}
	*ret_client = client;
	return 0;
}

static int record_lookup_new(struct rcm_flight *flight, const struct rcm_request *request,
			     struct rcm_record_lookup **ret_lookup)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_gid gids[RCM_SA_PORTS_MAX];
	struct rcm_record_lookup *lookup;
	struct rcm_sa_client *client;
	int ports, ret;

	ret = sa_client_get(engine, request->sa, &client);
	if (ret)
		return ret;
	ports = choose_ports(engine, &request->port_gid, gids);
	if (ports < 0)
		return ports;
	lookup = calloc(1, sizeof(*lookup) + (size_t)ports * sizeof(*lookup->port));
	if (!lookup)
		return -ENOMEM;
	lookup->flight = flight;
	lookup->client = *client;
	lookup->flags = request->flags;
	lookup->by_id = request->by_id;
	lookup->service_id = request->service_id;
	lookup->deadline = backend_deadline(request, engine->loop.now);
	if (!request->by_id)
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
	*seen = (struct rcm_ports_seen){ .at = engine->loop.now, .hash = hash };
	return changed;
}
