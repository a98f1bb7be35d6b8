/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as a name server would answer: the first chooses the question's type, the others are the message. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "dns/reply.h"
#include "fuzz.h"

static void look_at(const struct rcm_reply *reply)
{
	assert(reply->count <= RCM_RESULTS_MAX);
	for (unsigned i = 0; i < reply->count; i++) {
		int family = reply->addresses[i].sa.sa_family;

		assert(family == AF_INET || family == AF_INET6);
		/* IPv4 first, whatever came in which order. */
		assert(!i || family == AF_INET6 || reply->addresses[i - 1].sa.sa_family == AF_INET);
	}
	if (reply->canonname)
		assert(strlen(reply->canonname) < NS_MAXDNAME);
}

/* Twice, as both questions of a name would be: the second must leave the first's addresses alone. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_reply reply = { 0 };
	unsigned before;

	if (!len)
		return 0;
	rcm_reply_add(&reply, bytes[0] & 1 ? ns_t_a : ns_t_aaaa, bytes + 1, len - 1);
	look_at(&reply);
	before = reply.count;
	rcm_reply_add(&reply, bytes[0] & 1 ? ns_t_aaaa : ns_t_a, bytes + 1, len - 1);
	look_at(&reply);
	assert(reply.count >= before);
	rcm_reply_clear(&reply);
	return 0;
}
