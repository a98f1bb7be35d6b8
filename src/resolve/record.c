/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a service at the SA: records through one port or all, then a path to each. */
#include "resolve/record.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/config.h"
#include "resolve/rank.h"

/* How long before the request's own deadline the back end gives up, so that it is the one to say why. */
#define AHEAD_NS RCM_NS_PER_MS
#define LOOK_NS (100 * RCM_NS_PER_MS)

struct port_query {
	struct rcm_record_lookup *lookup;
	struct rcm_sa_query *query;		/* NULL: not under way */
	struct rcm_gid gid;
};

/* One that was found; its path is asked for with all that the kernel would ask with. */
struct record {
	struct rcm_record_lookup *lookup;
	struct rcm_sa_query *query;		/* for its path; NULL: not under way */
	unsigned port, number;			/* through which port, and as which of all it came */
	struct rcm_gid gid;
	uint16_t pkey;
	uint64_t id;
	struct rcm_service_rest rest;
	bool had;				/* a path */
	struct ibv_path_data data;
	struct rcm_rank rank;			/* when the list is made */
	const struct record *also;		/* the same, and a path to it, through another port */
};

/* The records of an answer. */
struct batch {
	struct batch *next;
	unsigned count;
	struct record records[];
};

struct rcm_record_lookup {
	struct rcm_flight *flight;
	struct rcm_sa_client client;
	int flags;
	bool by_id;
	uint64_t service_id;
	uint8_t traffic_class;
	uint64_t deadline;			/* for the back end, ns; 0: none */
	char service[RCM_SERVICE_NAME_MAX + 2];	/* as asked; of a service id the records' name */
	struct batch *batches, **last;		/* as they came */
	unsigned count;				/* records in them */
	uint64_t total;				/* as the SA had them */
	struct batch *unasked;			/* where the next record is whose path is to be asked for; NULL: none */
	unsigned unasked_at;
	unsigned asking;			/* paths under way */
	unsigned pending;			/* questions under way, those for paths among them */
	bool found;
	bool late;				/* that failure is for want of time */
	int status;				/* the failure that tells most, while nothing was found */
	uint16_t mad_status;
	char text[RCM_TEXT_MAX];
	unsigned ports;
	struct port_query port[];
};

void rcm_record_free(struct rcm_record_lookup *lookup)
{
	struct batch *batch;

	if (!lookup)
		return;
	while ((batch = lookup->batches)) {
		lookup->batches = batch->next;
		free(batch);
	}
	free(lookup);
}

void rcm_record_cancel(struct rcm_record_lookup *lookup)
{
	const struct rcm_sa_client *client = &lookup->client;

	for (unsigned i = 0; i < lookup->ports; i++)
		if (lookup->port[i].query)
			client->ops->cancel(client->sa, lookup->port[i].query);
	for (struct batch *batch = lookup->batches; batch; batch = batch->next)
		for (unsigned i = 0; i < batch->count; i++)
			if (batch->records[i].query)
				client->ops->cancel(client->sa, batch->records[i].query);
	rcm_record_free(lookup);
}

/* ---- The list ---- */

/* A record without a P_Key is in whatever partition its path is. */
static uint16_t record_pkey(const struct record *record)
{
	return record->pkey || !record->had ? record->pkey : be16toh(record->data.path.pkey);
}

static int identity_compare(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
	int order = memcmp(&x->gid, &y->gid, sizeof(x->gid));

	if (!order)
		order = rcm_rank_number(x->id, y->id);
	if (!order)
		order = rcm_rank_number(x->pkey, y->pkey);
	if (!order)
		order = rcm_rank_number(x->port, y->port);
	return order ? order : rcm_rank_number(x->number, y->number);
}

static bool is_same(const struct record *x, const struct record *y)
{
	return !memcmp(&x->gid, &y->gid, sizeof(x->gid)) && x->id == y->id && x->pkey == y->pkey;
}

/* Sorts them and leaves out each that came before: of those that are one, the first that has a path stays. */
static unsigned records_merge(struct record **all, unsigned count)
{
	unsigned kept = 0;

	qsort(all, count, sizeof(*all), identity_compare);
	for (unsigned i = 0; i < count; i++) {
		struct record *record = all[i], *before = kept ? all[kept - 1] : NULL;

		record->also = NULL;
		if (!before || !is_same(before, record))
			all[kept++] = record;
		else if (!before->had)
			all[kept - 1] = record;
		else if (record->had && !before->also && before->port != record->port)
			before->also = record;
	}
	return kept;
}

static int best_compare(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
	int order = rcm_rank_compare(&x->rank, &y->rank);

	if (!order)
		order = rcm_rank_number(x->port, y->port);
	return order ? order : rcm_rank_number(x->number, y->number);
}

/* Where all are of one partition there is nothing to prefer, and the port's table isn't read. */
static bool are_mixed(struct record *const *all, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		if (record_pkey(all[i]) != record_pkey(all[0]))
			return true;
	return false;
}

static void records_rank(const struct rcm_record_lookup *lookup, struct record **all, unsigned count)
{
	struct rcm_rank_memory memory = { 0 };
	bool mixed = are_mixed(all, count);

	for (unsigned i = 0; i < count; i++) {
		struct record *record = all[i];
		const struct rcm_gid *port = &lookup->port[record->port].gid;

		record->rank = (struct rcm_rank){
			.reached = record->had, .preference = rcm_rank_preference(record->rest.data),
			.spread = rcm_rank_spread(&lookup->port[0].gid, &record->gid, record->id),
			.full = mixed && rcm_rank_is_full(&memory, port, record_pkey(record)),
		};
	}
	qsort(all, count, sizeof(*all), best_compare);
}

static void route_fill(const struct record *record, uint32_t flags, struct ibv_path_data *route)
{
	*route = record->data;
	route->flags = flags | IBV_PATH_FLAG_BIDIRECTIONAL;
}

/* What the path says of its flow goes with the addresses: the kernel asks with the source's. */
static uint32_t record_flow(const struct record *record)
{
	const struct ibv_path_record *path = &record->data.path;

	return (uint32_t)path->tclass << 20 | (be32toh(path->flowlabel_hoplimit) >> 8 & 0xfffff);
}

/* Returns how many routes it filled. */
static unsigned record_fill(const struct record *record, struct rcm_result *result, struct ibv_path_data *routes,
			    struct rcm_service_rest *rest)
{
	const struct rcm_gid *port = &record->lookup->port[record->port].gid;
	uint16_t pkey = record_pkey(record);

	*rest = record->rest;
	result->service = rest;
	rcm_sockaddr_ib(&result->dst, record->gid.raw, pkey, record->id, UINT64_MAX);
	rcm_sockaddr_ib(&result->src, port->raw, pkey, RDMA_IB_PS_IB, RDMA_IB_IP_PS_MASK);
	if (!record->had)
		return 0;
	result->dst.ib.sib_flowinfo = result->src.ib.sib_flowinfo = htobe32(record_flow(record));
	result->route = routes;
	route_fill(record, IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY, &routes[result->routes++]);
	if (record->also)
		route_fill(record->also, IBV_PATH_FLAG_ALTERNATE, &routes[result->routes++]);
	return result->routes;
}

/* All that came, each once, the best first; NULL without memory. */
static struct record **records_sort(const struct rcm_record_lookup *lookup, unsigned *ret_count)
{
	struct record **all = malloc((lookup->count + 1) * sizeof(struct record *));
	unsigned count = 0;

	if (!all)
		return NULL;
	for (struct batch *batch = lookup->batches; batch; batch = batch->next)
		for (unsigned i = 0; i < batch->count; i++)
			all[count++] = &batch->records[i];
	*ret_count = records_merge(all, count);
	records_rank(lookup, all, *ret_count);
	return all;
}

struct rcm_answer *rcm_record_partial(const struct rcm_record_lookup *lookup)
{
	const char *name = *lookup->service ? lookup->service : NULL;
	struct rcm_answer *answer;
	struct record **all;
	unsigned count, shown, routes = 0;

	if (!lookup->found)
		return NULL;
	all = records_sort(lookup, &count);
	shown = all && count > RCM_RESULTS_MAX ? RCM_RESULTS_MAX : count;
	if (!all || rcm_answer_new_services(shown, name, &answer)) {
		free(all);
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	}
	answer->arg = lookup->total - (lookup->count - count);
	for (unsigned i = 0; i < shown; i++)
		routes += record_fill(all[i], &answer->results[i], &answer->routes[routes], &answer->services[i]);
	free(all);
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
	flight->late = lookup->late && answer->status;
	rcm_record_free(lookup);
	rcm_flight_land(flight, answer);
}

/* ---- Paths ---- */

static void paths_pump(struct rcm_record_lookup *lookup);

static void path_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct record *record = arg;
	struct rcm_record_lookup *lookup = record->lookup;

	record->query = NULL;
	lookup->asking--;
	lookup->pending--;
	if (!answer->status && answer->count) {
		record->had = true;
		static_assert(sizeof(record->data.path) == sizeof(*answer->paths), "as on the wire");
		memcpy(&record->data.path, answer->paths[0], sizeof(record->data.path));
	}
	paths_pump(lookup);
	finish_if_done(lookup);
}

/* A route that can't be had is left out. */
static void path_start(struct rcm_record_lookup *lookup, struct record *record)
{
	struct rcm_sa_path_query query = {
		.port = lookup->port[record->port].gid, .dgid = record->gid, .pkey = record->pkey,
		.service_id = record->id, .traffic_class = lookup->traffic_class, .deadline = lookup->deadline,
	};

	if (lookup->client.ops->path(lookup->client.sa, &query, path_answered, record, &record->query))
		return;
	lookup->asking++;
	lookup->pending++;
}

/* So many of one lookup are in line that the port is busy, and no more: the questions of others come in between. */
static void paths_pump(struct rcm_record_lookup *lookup)
{
	while (lookup->unasked && lookup->asking < RCM_SA_WINDOW) {
		struct batch *batch = lookup->unasked;

		if (lookup->unasked_at == batch->count) {
			lookup->unasked = batch->next;
			lookup->unasked_at = 0;
		} else {
			path_start(lookup, &batch->records[lookup->unasked_at++]);
		}
	}
}

/* ---- Records ---- */

static void rest_read(const struct rcm_sa_service_record *from, struct rcm_service_rest *to)
{
	to->pkey = from->pkey;
	to->lease = from->lease;
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->data, from->data, sizeof(to->data));
}

static int batch_add(struct rcm_record_lookup *lookup, const struct port_query *port,
		     const struct rcm_sa_answer *answer)
{
	struct batch *batch = calloc(1, sizeof(*batch) + answer->count * sizeof(*batch->records));

	if (!batch)
		return -ENOMEM;
	batch->count = answer->count;
	for (unsigned i = 0; i < answer->count; i++) {
		const struct rcm_sa_service_record *from = &answer->services[i];

		batch->records[i] = (struct record){
			.lookup = lookup, .port = (unsigned)(port - lookup->port), .number = lookup->count++,
			.gid = from->gid, .pkey = from->pkey, .id = from->id,
		};
		rest_read(from, &batch->records[i].rest);
	}
	*lookup->last = batch;
	lookup->last = &batch->next;
	if (!lookup->unasked && !(lookup->flags & RAI_NOROUTE))
		lookup->unasked = batch;
	return 0;
}

static int add_records(struct rcm_record_lookup *lookup, const struct port_query *port,
		       const struct rcm_sa_answer *answer)
{
	int ret = batch_add(lookup, port, answer);

	if (ret)
		return ret;
	paths_pump(lookup);
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
		note_failure(lookup, status, answer);
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
		note_failure(lookup, ret, NULL);
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
	lookup->traffic_class = request->traffic_class;
	lookup->last = &lookup->batches;
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
