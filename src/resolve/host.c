/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a host name. */
#include "resolve/host.h"

#include <netdb.h>
#include <string.h>

#include "base/err.h"

static int make_answer(const struct rcm_dns_answer *from, struct rcm_answer **ret_answer)
{
	unsigned count = from->count < RCM_RESULTS_MAX ? from->count : RCM_RESULTS_MAX;
	struct rcm_answer *answer;
	int ret;

	ret = rcm_answer_new(count, 0, from->canonname, &answer);
	if (ret)
		return ret;
	answer->arg = from->count;
	for (unsigned i = 0; i < count; i++)
		rcm_sockaddr_copy(&answer->results[i].dst, &from->addresses[i].sa, 0);
	*ret_answer = answer;
	return 0;
}

/* What is kept is in the order of RFC 6724 alone: routes change faster than names. */
struct rcm_answer *rcm_host_reach(struct rcm_engine *engine, struct rcm_answer *answer)
{
	struct rcm_answer *ordered;

	if (answer->status || !rcm_netdevs_any(&engine->reach.netdevs))
		return answer;
	if (rcm_answer_new(answer->count, 0, answer->text, &ordered)) {
		ordered = rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	} else {
		ordered->arg = answer->arg;
		memcpy(ordered->results, answer->results, answer->count * sizeof(*answer->results));
		rcm_reach_order(&engine->reach, ordered->results, ordered->count);
	}
	rcm_answer_put(answer);
	return ordered;
}

/* How long it may be kept, in seconds. What says "no" is kept briefly: somebody may just be adding the name. */
static uint32_t keep(const struct rcm_dns_answer *answer)
{
	if (answer->status == -ENOENT || answer->status == -ENODATA)
		return RCM_TTL_NEGATIVE_S;
	if (answer->status)
		return 0;
	return answer->ttl < RCM_TTL_MAX_S ? answer->ttl : RCM_TTL_MAX_S;
}

static void answered(void *arg, const struct rcm_dns_answer *from)
{
	struct rcm_flight *flight = arg;
	struct rcm_engine *engine = flight->engine;
	uint64_t now = engine->loop.now;
	struct rcm_answer *answer;

	flight->host = NULL;
	if (from->status)
		answer = rcm_answer_failed(from->status, (uint64_t)from->code, from->text);
	else if (!from->count)
		answer = rcm_answer_failed(-ENODATA, EAI_NODATA, from->text);
	else if (make_answer(from, &answer))
		answer = rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	if (keep(from) && answer->status == from->status)
		rcm_cache_put(&engine->cache, flight->hh.key, flight->hh.keylen, flight->hh.hashv, answer,
			      now, now + keep(from) * RCM_NS_PER_S);
	rcm_flight_land(flight, rcm_host_reach(engine, answer));
}

static int open_dns(struct rcm_engine *engine)
{
	if (engine->dns)
		return 0;
	if (!engine->backends.dns)
		return -ENOSYS;
	return engine->backends.dns->open(&engine->loop, &engine->dns);
}

int rcm_host_start(struct rcm_flight *flight, const struct rcm_request *request)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_dns_query query = {
		.name = request->node, .family = request->family, .source = request->source,
	};
	int ret;

	ret = open_dns(engine);
	if (ret)
		return ret;
	if (request->deadline)
		query.timeout_ms = (uint32_t)((request->deadline - engine->loop.now) / RCM_NS_PER_MS) + 1;
	return engine->backends.dns->start(engine->dns, &query, answered, flight, &flight->host);
}

void rcm_host_cancel(struct rcm_flight *flight)
{
	flight->engine->backends.dns->cancel(flight->engine->dns, flight->host);
	flight->host = NULL;
}

static struct rcm_answer *single(const union rcm_sockaddr *dst, struct rcm_reach *reach)
{
	struct rcm_answer *answer;

	if (rcm_answer_new(1, 0, NULL, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = 1;
	answer->results[0].dst = *dst;
	if (reach)
		rcm_reach_order(reach, answer->results, 1);
	return answer;
}

struct rcm_answer *rcm_host_number(struct rcm_engine *engine, const char *node, int family)
{
	union rcm_sockaddr dst;

	switch (rcm_sockaddr_parse(node, family, &dst)) {
	case 1:
		return single(&dst, &engine->reach);
	case 0:
		return family == AF_IB ? rcm_answer_fixed(RCM_ANSWER_NO_GID) : NULL;
	case -ENODATA:
		return rcm_answer_fixed(RCM_ANSWER_OTHER_FAMILY);
	case -ENOENT:
		return rcm_answer_fixed(RCM_ANSWER_NO_SCOPE);
	default:
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	}
}

/* All zeros for any port, ::1 for loopback (Linux rdma/ib.h takes them so). */
static struct rcm_answer *local_gid(bool passive)
{
	union rcm_sockaddr dst;
	uint8_t gid[16] = { [15] = !passive };

	rcm_sockaddr_ib(&dst, gid, 0xffff, 0, 0);
	return single(&dst, NULL);
}

static struct rcm_answer *from_addrinfo(const struct addrinfo *list)
{
	struct rcm_answer *answer;
	unsigned count = 0;

	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
		count++;
	if (rcm_answer_new(count, 0, NULL, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = count;
	for (unsigned i = 0; i < count; i++, list = list->ai_next)
		rcm_sockaddr_copy(&answer->results[i].dst, list->ai_addr, list->ai_addrlen);
	return answer;
}

/* The C library knows in which order this host takes them; without a node it asks nobody. */
struct rcm_answer *rcm_host_local(int family, bool passive)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
		.ai_family = family, .ai_socktype = SOCK_DGRAM,
	};
	struct rcm_answer *answer;
	struct addrinfo *list;

	if (family == AF_IB)
		return local_gid(passive);
	if (getaddrinfo(NULL, "0", &hints, &list))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer = from_addrinfo(list);
	freeaddrinfo(list);
	return answer;
}
