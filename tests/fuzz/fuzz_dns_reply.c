/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as a name server would answer: the first chooses the question's type, the others are the message. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dns/reply.h"
#include "fuzz.h"

static void look_at(const struct rcm_reply *reply)
{
	for (unsigned i = 0; i < reply->count; i++) {
		int family = reply->addresses[i].sa.sa_family;

		assert(family == AF_INET || family == AF_INET6);
		/* IPv4 first, whatever came in which order. */
		assert(!i || family == AF_INET6 || reply->addresses[i - 1].sa.sa_family == AF_INET);
	}
	if (reply->canonname)
		assert(strlen(reply->canonname) < NS_MAXDNAME);
}

static void look_at_srvs(const struct rcm_reply *reply)
{
	const struct rcm_srvs *srvs = reply->srvs;

	if (!srvs)
		return;
	assert(reply->count == srvs->count && srvs->count <= RCM_SRV_RECORDS_MAX);
	for (unsigned i = 0; i < srvs->count; i++) {
		const struct rcm_dns_srv *srv = &srvs->records[i];

		assert(*srv->target && strlen(srv->target) <= RCM_NODE_MAX);
		assert(srv->count <= RCM_SRV_ADDRESSES_MAX);
		assert(!srv->count || srv->first + srv->count <= srvs->addresses_count);
		for (unsigned j = srv->first; j < srv->first + srv->count; j++)
			assert(srvs->addresses[j].sa.sa_family == AF_INET || srvs->addresses[j].sa.sa_family == AF_INET6);
	}
}

/* The name that the message itself has in its question, so that most are read; none of it: 0. */
static size_t name_of(const uint8_t *bytes, size_t len, uint8_t name[RCM_LABELS_MAX])
{
	size_t at = 12;

	while (at < len && bytes[at] && bytes[at] < 64 && at - 12 + bytes[at] + 2u < RCM_LABELS_MAX)
		at += bytes[at] + 1u;
	if (at >= len || bytes[at] || at == 12)
		return 0;
	memcpy(name, bytes + 12, at - 12 + 1);
	return at - 12 + 1;
}

static void add(struct rcm_reply *reply, uint16_t type, bool whole, const uint8_t *bytes, size_t len)
{
	uint8_t name[RCM_LABELS_MAX] = "\1a";
	struct rcm_message_question question = { .name = name, .type = type };
	struct rcm_message_answer answer;
	unsigned before = reply->count;

	question.name_len = name_of(bytes, len, name);
	if (!question.name_len)
		question.name_len = 3;
	if (rcm_message_read(&question, whole, bytes, len, &answer))
		return;
	assert(answer.count <= len / 14);
	rcm_reply_add(reply, &answer);
	if (type == ns_t_srv) {
		look_at_srvs(reply);
		return;
	}
	assert(reply->count == before + answer.count);
	look_at(reply);
}

/* Twice, as both questions of a name would be: the second must leave the first's addresses alone. And as the answer to
 * a question for SRV records. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_reply reply = { 0 };

	if (!len)
		return 0;
	add(&reply, bytes[0] & 1 ? ns_t_a : ns_t_aaaa, bytes[0] & 2, bytes + 1, len - 1);
	add(&reply, bytes[0] & 1 ? ns_t_aaaa : ns_t_a, bytes[0] & 2, bytes + 1, len - 1);
	rcm_reply_clear(&reply);
	add(&reply, ns_t_srv, bytes[0] & 2, bytes + 1, len - 1);
	rcm_reply_clear(&reply);
	return 0;
}
