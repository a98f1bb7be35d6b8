/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of one name put together. */
#include "dns/reply.h"

#include <stdlib.h>
#include <string.h>

static void reply_limit_ttl(struct rcm_reply *reply, uint32_t ttl)
{
	if (!reply->limited || ttl < reply->ttl)
		reply->ttl = ttl;
	reply->limited = true;
}

static enum rcm_dns_verdict reply_add_srvs(struct rcm_reply *reply, const struct rcm_message_answer *answer)
{
	enum rcm_dns_verdict verdict;

	reply->srvs = calloc(1, sizeof(*reply->srvs));
	if (!reply->srvs)
		return RCM_DNS_NOMEM;
	verdict = rcm_srvs_read(reply->srvs, answer);
	reply->count = reply->srvs->count;
	reply_limit_ttl(reply, reply->srvs->ttl);
	return verdict;
}

enum rcm_dns_verdict rcm_reply_add(struct rcm_reply *reply, const struct rcm_message_answer *answer)
{
	union rcm_dns_address *grown, *into;

	if (!answer->count) {
		reply_limit_ttl(reply, answer->negative_ttl);
		return RCM_DNS_NODATA;
	}
	if (answer->type == ns_t_srv)
		return reply_add_srvs(reply, answer);
	grown = realloc(reply->addresses, ((size_t)reply->count + answer->count) * sizeof(*grown));
	if (!grown)
		return RCM_DNS_NOMEM;
	reply->addresses = into = grown;
	if (answer->canonname[0] && !reply->canonname) {
		reply->canonname = strdup(answer->canonname);
		if (!reply->canonname)
			return RCM_DNS_NOMEM;
	}
	/* Whichever answer came first, so that the order doesn't depend on that. */
	if (answer->type == ns_t_a)
		memmove(grown + answer->count, grown, reply->count * sizeof(*grown));
	else
		into += reply->count;
	rcm_message_addresses(answer, into);
	reply->count += answer->count;
	reply_limit_ttl(reply, answer->ttl);
	return RCM_DNS_FOUND;
}

void rcm_reply_clear(struct rcm_reply *reply)
{
	free(reply->addresses);
	free(reply->canonname);
	if (reply->srvs)
		rcm_srvs_clear(reply->srvs);
	free(reply->srvs);
	memset(reply, 0, sizeof(*reply));
}
