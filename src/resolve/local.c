/* SPDX-License-Identifier: BSD-2-Clause */
/* What needs nobody to be asked: numbers, kept answers, names of the hosts file. Any thread. */
#include "resolve/local.h"

#include <errno.h>

#include "addr/service.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/table.h"
#include "resolve/host.h"
#include "resolve/key.h"

/* Looked once for a question: what changes after that changed after the call. */
static struct rcm_dns *settled_dns(struct rcm_engine *engine, bool *settled)
{
	struct rcm_dns *dns = rcm_engine_dns(engine);

	*settled = dns && (*settled || engine->backends.dns->is_settled(dns));
	return *settled ? dns : NULL;
}

/* 1: *ret_port is what the question's service means; -ENOENT: there is no such service; 0: not known here. */
static int local_port(struct rcm_engine *engine, const struct rcm_question *question, uint16_t *ret_port,
		      bool *settled)
{
	struct rcm_dns *dns;
	int found;

	if (!question->service)
		return 1;
	found = rcm_service_number(question->service, ret_port);
	if (found)
		return found;
	dns = settled_dns(engine, settled);
	if (!dns)
		return 0;
	return engine->backends.dns->service_now(dns, question->service,
						 question->hints.socket_type, ret_port);
}

static struct rcm_answer *local_kept(struct rcm_engine *engine, const struct rcm_question *question)
{
	uint8_t key[RCM_KEY_HOST_TEXT + RCM_NODE_MAX];
	struct rcm_answer *answer;
	unsigned len, hash;

	if (strnlen(question->node, RCM_NODE_MAX + 1) > RCM_NODE_MAX)
		return NULL;
	len = rcm_key_host(key, question->node, question->hints.family, question->source,
			   question->hints.flags & RAI_SRV);
	hash = rcm_key_hash(key, len);
	answer = rcm_cache_find(&engine->cache, key, len, hash, rcm_clock_boot());
	return answer ? rcm_host_hand_out(engine, answer) : NULL;
}

static struct rcm_answer *local_name(struct rcm_engine *engine, const struct rcm_question *question, bool *settled)
{
	const struct rcm_dns_query query = {
		.name = question->node, .family = question->hints.family, .source = question->source,
		.srv = question->hints.flags & RAI_SRV,
	};
	struct rcm_dns *dns = settled_dns(engine, settled);
	struct rcm_answer *answer = NULL;
	bool kept;

	if (!dns)
		return NULL;
	if (!question->fresh)
		answer = local_kept(engine, question);
	kept = answer;
	if (!answer)
		answer = rcm_host_now(engine, &query);
	/* In an order of before routes or addresses changed: the engine looks at them. */
	if (answer && answer->count > 1 && !engine->backends.dns->knows_ways(dns)) {
		rcm_answer_put(answer);
		*settled = false;
		return NULL;
	}
	if (kept)
		rcm_stats_count(&engine->stats, RCM_COUNT_KEPT_HITS);
	return answer;
}

struct rcm_answer *rcm_local_answer(struct rcm_engine *engine, const struct rcm_question *question, uint16_t *ret_port,
				    bool *ret_settled)
{
	const struct rcm_hints *hints = &question->hints;
	struct rcm_answer *answer;
	int found;

	*ret_settled = false;
	*ret_port = 0;
	if (hints->flags & RAI_SA)
		return NULL;
	if (!question->node && !question->service)
		return rcm_host_given(&question->dst, &hints->src);
	found = local_port(engine, question, ret_port, ret_settled);
	if (found < 0)
		return rcm_answer_fixed(RCM_ANSWER_NO_SERVICE);
	if (!found)
		return NULL;
	if (hints->flags & RAI_SRV)
		return local_name(engine, question, ret_settled);
	answer = rcm_host_plain(engine, question->node, hints->family, hints->flags & RAI_PASSIVE);
	return answer ? answer : local_name(engine, question, ret_settled);
}
