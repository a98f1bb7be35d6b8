/* SPDX-License-Identifier: BSD-2-Clause */
/* What is told of name servers and their questions. */
#include "dns/told.h"

#include <arpa/inet.h>

#include "base/tell.h"

static const char *told_address(const union rcm_dns_address *server, char text[INET6_ADDRSTRLEN])
{
	const void *bytes = server->sa.sa_family == AF_INET ? (const void *)&server->in.sin_addr :
							      (const void *)&server->in6.sin6_addr;

	return inet_ntop(server->sa.sa_family, bytes, text, INET6_ADDRSTRLEN) ? text : "?";
}

static const char *told_type(const struct rcm_message_question *question)
{
	return question->type == ns_t_aaaa ? "AAAA" : question->type == ns_t_srv ? "SRV" : "A";
}

void rcm_told_server(const union rcm_dns_address *server)
{
	char address[INET6_ADDRSTRLEN];

	rcm_tell(RCM_TELL_FILES, "resolv.conf: name server %s", told_address(server, address));
}

void rcm_told_question(const struct rcm_message_question *question, const union rcm_dns_address *server, bool by_tcp,
		       unsigned tries)
{
	char address[INET6_ADDRSTRLEN], name[NS_MAXDNAME];
	const struct rcm_tell_facts facts = { .server = address, .ttl_s = -1, .kept_s = -1 };

	if (!rcm_tell_wants())
		return;
	rcm_labels_print(question->name, name);
	told_address(server, address);
	rcm_tell_facts(RCM_TELL_QUESTION, &facts, "%s of %s at name server %s%s%s", told_type(question), name,
		       address, by_tcp ? ", by TCP" : "", tries ? ", as nobody answered so far" : "");
}

void rcm_told_answer(const struct rcm_message_question *question, const union rcm_dns_address *server,
		     enum rcm_dns_verdict verdict, const struct rcm_message_answer *answer)
{
	bool found = answer && verdict == RCM_DNS_FOUND;
	char address[INET6_ADDRSTRLEN], name[NS_MAXDNAME];
	const struct rcm_tell_facts facts = {
		.server = address, .status = rcm_verdict_errno(verdict), .ttl_s = found ? (int64_t)answer->ttl : -1,
		.kept_s = -1,
	};

	if (!rcm_tell_wants())
		return;
	rcm_labels_print(question->name, name);
	told_address(server, address);
	if (found)
		rcm_tell_facts(RCM_TELL_ANSWER, &facts, "%s of %s by name server %s: %u %s%s, TTL %u s",
			       told_type(question), name, address, answer->count,
			       question->type == ns_t_srv ? "record" : "address",
			       answer->count == 1 ? "" : question->type == ns_t_srv ? "s" : "es", answer->ttl);
	else
		rcm_tell_facts(RCM_TELL_ANSWER, &facts, "%s of %s: name server %s %s", told_type(question), name,
			       address, rcm_verdict_text(verdict));
}
