/* SPDX-License-Identifier: BSD-2-Clause */
/* The service records that were found, and the list that is made of them. */
#include "resolve/found.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "base/limits.h"

void rcm_found_init(struct rcm_found_list *list, const struct rcm_listing *listing)
{
	*list = (struct rcm_found_list){ .last = &list->first, .listing = listing };
}

void rcm_found_done(struct rcm_found_list *list)
{
	struct rcm_found_batch *batch;

	while ((batch = list->first)) {
		list->first = batch->next;
		free(batch);
	}
}

static void rest_read(const struct rcm_sa_service_record *from, struct rcm_service_rest *to)
{
	to->pkey = from->pkey;
	to->lease = from->lease;
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->data, from->data, sizeof(to->data));
}

/* The kernel asks by id and name alone. */
static bool listing_takes(const struct rcm_listing *listing, const struct rcm_sa_service_record *record)
{
	return !listing || ((!listing->by_gid || !memcmp(&listing->gid, &record->gid, sizeof(record->gid))) &&
			    (!listing->by_pkey || listing->pkey == record->pkey));
}

struct rcm_found_batch *rcm_found_add(struct rcm_found_list *list, unsigned port, const struct rcm_gid *via,
				      const struct rcm_sa_answer *answer, const struct rcm_accept *accept)
{
	struct rcm_found_batch *batch = calloc(1, sizeof(*batch) + answer->count * sizeof(*batch->records));
	struct rcm_rank_memory memory = { 0 };
	struct rcm_found *record;

	if (!batch)
		return NULL;
	for (unsigned i = 0; i < answer->count; i++) {
		const struct rcm_sa_service_record *from = &answer->services[i];

		if (!listing_takes(list->listing, from) ||
		    !rcm_accept_takes(accept, &memory, via, &from->gid, from->pkey))
			continue;
		record = &batch->records[batch->count++];
		*record = (struct rcm_found){
			.via = via, .port = port, .number = list->count++, .gid = from->gid, .pkey = from->pkey,
			.id = from->id,
		};
		rest_read(from, &record->rest);
	}
	*list->last = batch;
	list->last = &batch->next;
	return batch;
}

/* A record without a P_Key is in whatever partition its path is. */
static uint16_t found_pkey(const struct rcm_found *record)
{
	return record->pkey || !record->had ? record->pkey : be16toh(record->data.path.pkey);
}

static int identity_compare(const void *a, const void *b)
{
	const struct rcm_found *x = *(struct rcm_found *const *)a, *y = *(struct rcm_found *const *)b;
	int order = memcmp(&x->gid, &y->gid, sizeof(x->gid));

	if (!order)
		order = rcm_rank_number(x->id, y->id);
	if (!order)
		order = rcm_rank_number(x->pkey, y->pkey);
	if (!order)
		order = rcm_rank_number(x->port, y->port);
	return order ? order : rcm_rank_number(x->number, y->number);
}

static bool is_same(const struct rcm_found *x, const struct rcm_found *y)
{
	return !memcmp(&x->gid, &y->gid, sizeof(x->gid)) && x->id == y->id && x->pkey == y->pkey;
}

/* Sorts them and leaves out each that came before: of those that are one, the first that has a path stays. */
static unsigned found_merge(struct rcm_found **all, unsigned count)
{
	unsigned kept = 0;

	qsort(all, count, sizeof(*all), identity_compare);
	for (unsigned i = 0; i < count; i++) {
		struct rcm_found *record = all[i], *before = kept ? all[kept - 1] : NULL;

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
	const struct rcm_found *x = *(struct rcm_found *const *)a, *y = *(struct rcm_found *const *)b;
	int order = rcm_rank_compare(&x->rank, &y->rank);

	if (!order)
		order = rcm_rank_number(x->port, y->port);
	return order ? order : rcm_rank_number(x->number, y->number);
}

/* Where all are of one partition there is nothing to prefer, and the port's table isn't read. */
static bool are_mixed(struct rcm_found *const *all, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		if (found_pkey(all[i]) != found_pkey(all[0]))
			return true;
	return false;
}

static void found_rank(const struct rcm_gid *client, struct rcm_found **all, unsigned count)
{
	struct rcm_rank_memory memory = { 0 };
	bool mixed = are_mixed(all, count);

	for (unsigned i = 0; i < count; i++) {
		struct rcm_found *record = all[i];

		record->rank = (struct rcm_rank){
			.reached = record->had, .preference = rcm_rank_preference(record->rest.data),
			.spread = rcm_rank_spread(client, &record->gid, record->id),
			.full = mixed && rcm_rank_is_full(&memory, record->via, found_pkey(record)),
		};
	}
	qsort(all, count, sizeof(*all), best_compare);
}

static void route_fill(const struct rcm_found *record, uint32_t flags, struct ibv_path_data *route)
{
	*route = record->data;
	route->flags = flags | IBV_PATH_FLAG_BIDIRECTIONAL;
}

/* What the path says of its flow goes with the addresses: the kernel asks with the source's. */
static uint32_t found_flow(const struct rcm_found *record)
{
	const struct ibv_path_record *path = &record->data.path;

	return (uint32_t)path->tclass << 20 | (be32toh(path->flowlabel_hoplimit) >> 8 & 0xfffff);
}

/* Returns how many routes it filled. */
static unsigned found_fill(const struct rcm_found *record, struct rcm_result *result, struct ibv_path_data *routes,
			   struct rcm_service_rest *rest)
{
	uint16_t pkey = found_pkey(record);

	*rest = record->rest;
	result->service = rest;
	rcm_sockaddr_ib(&result->dst, record->gid.raw, pkey, record->id, UINT64_MAX);
	rcm_sockaddr_ib(&result->src, record->via->raw, pkey, RDMA_IB_PS_IB, RDMA_IB_IP_PS_MASK);
	if (!record->had)
		return 0;
	result->dst.ib.sib_flowinfo = result->src.ib.sib_flowinfo = htobe32(found_flow(record));
	result->route = routes;
	route_fill(record, IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY, &routes[result->routes++]);
	if (record->also)
		route_fill(record->also, IBV_PATH_FLAG_ALTERNATE, &routes[result->routes++]);
	return result->routes;
}

/* All that came, each once, the best first; NULL without memory. */
static struct rcm_found **found_sort(const struct rcm_found_list *list, const struct rcm_gid *client,
				     unsigned *ret_count)
{
	struct rcm_found **all = malloc((list->count + 1) * sizeof(*all));
	unsigned count = 0;

	if (!all)
		return NULL;
	for (struct rcm_found_batch *batch = list->first; batch; batch = batch->next)
		for (unsigned i = 0; i < batch->count; i++)
			all[count++] = &batch->records[i];
	*ret_count = found_merge(all, count);
	if (!list->listing)
		found_rank(client, all, *ret_count);
	return all;
}

struct rcm_answer *rcm_found_answer(const struct rcm_found_list *list, const struct rcm_gid *first_port,
				    const char *name, uint64_t total, bool routed)
{
	unsigned count = 0, shown, routes = 0, most = list->listing ? RCM_LISTED_MAX : RCM_RESULTS_MAX;
	struct rcm_found **all = found_sort(list, first_port, &count);
	struct rcm_answer *answer;

	shown = count > most ? most : count;
	if (!all || rcm_answer_new_services(shown, routed ? 2 * shown : 0, name, &answer)) {
		free(all);
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	}
	answer->arg = total - (list->count - count);
	for (unsigned i = 0; i < shown; i++)
		routes += found_fill(all[i], &answer->results[i], &answer->routes[routes], &answer->services[i]);
	for (unsigned i = 0; routed && i < shown; i++)
		answer->pathless += !all[i]->had;
	free(all);
	return answer;
}
