/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to a question for SRV records. */
#include "resolve/srv.h"

#include <stdlib.h>
#include <string.h>

#include "dns/weight.h"
#include "resolve/ways.h"

/* ---- From the back end ---- */

/* So that each record has a part of the list. */
static unsigned srv_share(const struct rcm_dns_answer *from, const struct rcm_dns_srv *srv)
{
	unsigned share = RCM_RESULTS_MAX / from->srv_count;

	return srv->count < share ? srv->count : share;
}

static void srv_fill_record(struct rcm_answer *answer, const struct rcm_dns_answer *from, unsigned index,
			    struct rcm_result *results)
{
	const struct rcm_dns_srv *srv = &from->srv[index];
	struct rcm_srv_rest *rest = &answer->srvs[index];

	*rest = (struct rcm_srv_rest){ .priority = srv->priority, .weight = srv->weight, .port = srv->port };
	strcpy(rest->target, srv->target);
	for (unsigned i = 0; i < srv_share(from, srv); i++) {
		rcm_sockaddr_copy(&results[i].dst, &from->addresses[srv->first + i].sa, 0);
		results[i].srv = rest;
	}
}

struct rcm_answer *rcm_srv_answer(const struct rcm_dns_answer *from)
{
	struct rcm_answer *answer;
	unsigned count = 0, total = 0, at = 0;

	for (unsigned i = 0; i < from->srv_count; i++) {
		count += srv_share(from, &from->srv[i]);
		total += from->srv[i].count;
	}
	if (rcm_answer_new_srvs(count, from->srv_count, from->canonname, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = total;
	answer->missing = from->missing;
	answer->targets = from->targets;
	answer->targets_lost = from->targets_lost;
	for (unsigned i = 0; i < from->srv_count; i++) {
		srv_fill_record(answer, from, i, &answer->results[at]);
		at += srv_share(from, &from->srv[i]);
	}
	return answer;
}

/* ---- To a caller ---- */

/* The results of one record, which begin there. */
static unsigned draw_count(const struct rcm_answer *answer, unsigned first)
{
	unsigned end = first;

	while (end < answer->count && answer->results[end].srv == answer->results[first].srv)
		end++;
	return end - first;
}

/* Where each record's results begin. */
static unsigned draw_list(const struct rcm_answer *answer, struct rcm_weight *list)
{
	unsigned records = 0;

	for (unsigned at = 0; at < answer->count; at += draw_count(answer, at)) {
		const struct rcm_srv_rest *rest = answer->results[at].srv;

		list[records++] = (struct rcm_weight){
			.priority = rest->priority, .weight = rest->weight, .index = at,
		};
	}
	return records;
}

static void draw_record(struct rcm_engine *engine, struct rcm_answer *drawn, const struct rcm_answer *answer,
			unsigned from, unsigned to)
{
	unsigned count = draw_count(answer, from);
	struct rcm_result *results = &drawn->results[to];

	for (unsigned i = 0; i < count; i++) {
		results[i] = answer->results[from + i];
		results[i].srv = drawn->srvs + (results[i].srv - answer->srvs);
	}
	rcm_ways_sort(engine, results, count);
	rcm_ways_reach(engine, results, count);
}

static void draw_into(struct rcm_engine *engine, struct rcm_answer *drawn, const struct rcm_answer *answer,
		      struct rcm_weight *list)
{
	struct rcm_dice dice = engine->backends.dice ? engine->backends.dice() : rcm_dice_new();
	unsigned records = draw_list(answer, list), at = 0;

	rcm_weight_order(list, records, &dice);
	for (unsigned i = 0; i < records; i++) {
		draw_record(engine, drawn, answer, list[i].index, at);
		at += draw_count(answer, list[i].index);
	}
}

struct rcm_answer *rcm_srv_draw(struct rcm_engine *engine, struct rcm_answer *answer)
{
	struct rcm_weight *list = calloc(answer->srvs_count, sizeof(*list));
	struct rcm_answer *drawn;

	if (!list || rcm_answer_new_srvs(answer->count, answer->srvs_count, answer->text, &drawn)) {
		drawn = rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	} else {
		drawn->arg = answer->arg;
		drawn->missing = answer->missing;
		drawn->targets = answer->targets;
		drawn->targets_lost = answer->targets_lost;
		memcpy(drawn->srvs, answer->srvs, answer->srvs_count * sizeof(*answer->srvs));
		draw_into(engine, drawn, answer, list);
	}
	free(list);
	rcm_answer_put(answer);
	return drawn;
}
