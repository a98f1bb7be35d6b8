/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a host name. */
#include "resolve/host.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/srv.h"
#include "resolve/ways.h"

static int make_answer(const struct rcm_dns_answer *from, struct rcm_answer **ret_answer)
{
	unsigned count = from->count < RCM_RESULTS_MAX ? from->count : RCM_RESULTS_MAX;
	struct rcm_answer *answer;
	int ret;

	ret = rcm_answer_new(count, from->canonname, &answer);
	if (ret)
		return ret;
	answer->arg = from->count;
	answer->missing = from->missing;
	for (unsigned i = 0; i < count; i++)
		rcm_sockaddr_copy(&answer->results[i].dst, &from->addresses[i].sa, 0);
	*ret_answer = answer;
	return 0;
}

static void host_tell_reach(const struct rcm_answer *before, const struct rcm_answer *after)
{
	bool moved = false;

	for (unsigned i = 0; i < after->count; i++)
		moved |= memcmp(&before->results[i].dst, &after->results[i].dst, sizeof(after->results[i].dst)) != 0;
	if (moved)
		rcm_tell(RCM_TELL_ORDER, "those that an RDMA device leads to go first");
}

/* A copy with its results in order; takes over a reference and gives one. */
static struct rcm_answer *answer_ordered(struct rcm_engine *engine, struct rcm_answer *answer, bool sort, bool reach)
{
	struct rcm_answer *ordered;

	if (rcm_answer_new(answer->count, answer->text, &ordered)) {
		ordered = rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	} else {
		ordered->arg = answer->arg;
		ordered->missing = answer->missing;
		memcpy(ordered->results, answer->results, answer->count * sizeof(*answer->results));
		if (sort)
			rcm_ways_sort(engine, ordered->results, ordered->count);
		if (reach)
			rcm_ways_reach(engine, ordered->results, ordered->count);
		if (reach && rcm_tell_wants())
			host_tell_reach(answer, ordered);
	}
	rcm_answer_put(answer);
	return ordered;
}

struct rcm_answer *rcm_host_reach(struct rcm_engine *engine, struct rcm_answer *answer)
{
	if (answer->status || answer->srvs_count || !rcm_ways_matter(engine))
		return answer;
	return answer_ordered(engine, answer, false, true);
}

struct rcm_answer *rcm_host_hand_out(struct rcm_engine *engine, struct rcm_answer *answer)
{
	bool reach;

	if (answer->status)
		return answer;
	if (answer->srvs_count)
		return rcm_srv_draw(engine, answer);
	reach = rcm_ways_matter(engine);
	return reach || answer->count > 1 ? answer_ordered(engine, answer, answer->count > 1, reach) : answer;
}

/* How long it may be kept, in seconds. What says "no" is kept briefly: somebody may just be adding the name. */
static uint32_t host_keep(const struct rcm_dns_answer *answer)
{
	bool no = answer->status == -ENOENT || answer->status == -ENODATA;
	uint32_t most = no ? RCM_TTL_NEGATIVE_S : answer->status ? 0 : RCM_TTL_MAX_S;

	return answer->ttl < most ? answer->ttl : most;
}

static struct rcm_answer *answer_of(const struct rcm_dns_answer *from)
{
	struct rcm_answer *answer;

	if (from->status)
		return rcm_answer_failed(from->status, (uint64_t)from->code, from->text);
	if (!from->count)
		return rcm_answer_failed(-ENODATA, EAI_NODATA, from->text);
	if (from->srv_count)
		return rcm_srv_answer(from);
	if (make_answer(from, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	return answer;
}

static void host_tell_kept(const struct rcm_dns_answer *from, bool listed)
{
	const struct rcm_tell_facts facts = {
		.ttl_s = from->status ? -1 : (int64_t)from->ttl, .kept_s = listed ? host_keep(from) : 0,
	};

	if (!listed)
		rcm_tell_facts(RCM_TELL_KEPT, &facts, "not at all, as the host's files changed meanwhile");
	else if (facts.kept_s)
		rcm_tell_facts(RCM_TELL_KEPT, &facts, "for %u s; TTL %u s", host_keep(from), from->ttl);
	else
		rcm_tell_facts(RCM_TELL_KEPT, &facts, "not at all: %s", from->status ? "a failure" :
			       "no time to live");
}

static void host_answered(void *arg, const struct rcm_dns_answer *from)
{
	struct rcm_flight *flight = arg;
	struct rcm_engine *engine = flight->engine;
	struct rcm_answer *answer = answer_of(from);
	uint64_t now = rcm_clock_boot();

	flight->host = NULL;
	host_tell_kept(from, flight->listed);
	if (host_keep(from) && answer->status == from->status && flight->listed)
		rcm_cache_put(&engine->cache, flight->hh.key, flight->hh.keylen, flight->hh.hashv, answer,
			      now, now + host_keep(from) * RCM_NS_PER_S);
	rcm_flight_land(flight, rcm_host_reach(engine, answer));
}

static void host_found_now(void *arg, const struct rcm_dns_answer *from)
{
	*(struct rcm_answer **)arg = answer_of(from);
}

struct rcm_answer *rcm_host_now(struct rcm_engine *engine, const struct rcm_dns_query *query)
{
	struct rcm_answer *answer;

	if (!engine->backends.dns->answer_now(engine->dns, query, host_found_now, &answer))
		return NULL;
	return rcm_host_reach(engine, answer);
}

int rcm_host_start(struct rcm_flight *flight, const struct rcm_request *request)
{
	struct rcm_engine *engine = flight->engine;
	const struct rcm_dns_query query = rcm_request_query(request);

	return engine->backends.dns->start(engine->dns, &query, host_answered, flight, &flight->host);
}

struct rcm_answer *rcm_host_partial(struct rcm_flight *flight)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_answer *answer;

	if (!engine->backends.dns->partial(engine->dns, flight->host, host_found_now, &answer))
		return NULL;
	return answer->srvs_count ? rcm_host_hand_out(engine, answer) : rcm_host_reach(engine, answer);
}

void rcm_host_move(struct rcm_flight *flight, const struct rcm_request *request)
{
	flight->engine->backends.dns->move(flight->engine->dns, flight->host, request->node);
}

void rcm_host_cancel(struct rcm_flight *flight)
{
	flight->engine->backends.dns->cancel(flight->engine->dns, flight->host);
	flight->host = NULL;
}

/* reach: NULL: its way doesn't matter. */
static struct rcm_answer *answer_of_one(struct rcm_engine *reach, const union rcm_sockaddr *dst)
{
	struct rcm_answer *answer;

	if (rcm_answer_new(1, NULL, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = 1;
	answer->results[0].dst = *dst;
	if (reach)
		rcm_ways_reach(reach, answer->results, 1);
	return answer;
}

/* The answer to a number; NULL: it is a name. */
static struct rcm_answer *answer_of_number(struct rcm_engine *engine, const char *node, int family)
{
	union rcm_sockaddr dst;

	switch (rcm_sockaddr_parse(node, family, &dst)) {
	case 1:
		return answer_of_one(engine, &dst);
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
static struct rcm_answer *answer_of_gid(bool passive)
{
	union rcm_sockaddr dst;
	uint8_t gid[16] = { [15] = !passive };

	rcm_sockaddr_ib(&dst, gid, 0xffff, 0, 0);
	return answer_of_one(NULL, &dst);
}

static struct rcm_answer *answer_of_addrinfo(const struct addrinfo *list)
{
	struct rcm_answer *answer;
	unsigned count = 0;

	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
		count++;
	if (rcm_answer_new(count, NULL, &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->arg = count;
	for (unsigned i = 0; i < count; i++, list = list->ai_next)
		rcm_sockaddr_copy(&answer->results[i].dst, list->ai_addr, list->ai_addrlen);
	return answer;
}

/* The C library knows in which order this host takes them; without a node it asks nobody. */
static struct rcm_answer *answer_without_node(int family, bool passive)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
		.ai_family = family, .ai_socktype = SOCK_DGRAM,
	};
	struct rcm_answer *answer;
	struct addrinfo *list;

	if (family == AF_IB)
		return answer_of_gid(passive);
	if (getaddrinfo(NULL, "0", &hints, &list))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer = answer_of_addrinfo(list);
	freeaddrinfo(list);
	return answer;
}

struct rcm_answer *rcm_host_plain(struct rcm_engine *engine, const char *node, int family, bool passive)
{
	return node ? answer_of_number(engine, node, family) : answer_without_node(family, passive);
}

struct rcm_answer *rcm_host_given(const union rcm_sockaddr *dst, const union rcm_sockaddr *src)
{
	struct rcm_answer *answer = answer_of_one(NULL, dst);

	if (!answer->status) {
		answer->results[0].src = *src;
		answer->results[0].as_given = true;
	}
	return answer;
}
