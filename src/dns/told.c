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

	if (!rcm_tell_wants())
		return;
	rcm_labels_print(question->name, name);
	rcm_tell(RCM_TELL_QUESTION, "%s of %s at name server %s%s%s", told_type(question), name,
		 told_address(server, address), by_tcp ? ", by TCP" : "", tries ? ", as nobody answered so far" : "");
}

void rcm_told_answer(const struct rcm_message_question *question, const union rcm_dns_address *server,
		     enum rcm_dns_verdict verdict, const struct rcm_message_answer *answer)
{
	char address[INET6_ADDRSTRLEN];

	if (!rcm_tell_wants())
		return;
	told_address(server, address);
	if (answer && verdict == RCM_DNS_FOUND)
		rcm_tell(RCM_TELL_ANSWER, "%s of name server %s: %u %s%s, TTL %u s", told_type(question), address,
			 answer->count, question->type == ns_t_srv ? "record" : "address",
			 answer->count == 1 ? "" : question->type == ns_t_srv ? "s" : "es", answer->ttl);
	else
		rcm_tell(RCM_TELL_ANSWER, "%s of name server %s: it %s", told_type(question), address,
			 rcm_verdict_text(verdict));
}
