/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a name was not found. */
#include "dns/explain.h"

#include <arpa/inet.h>
#include <stdio.h>

/* Appends "192.0.2.1 ", behind "or " but for the first; the length of all. */
static size_t explain_server(const union rcm_dns_address *server, bool first, char *text, size_t len, size_t size)
{
	const void *bytes = server->sa.sa_family == AF_INET ? (const void *)&server->in.sin_addr :
							      (const void *)&server->in6.sin6_addr;
	char address[INET6_ADDRSTRLEN];

	if (!inet_ntop(server->sa.sa_family, bytes, address, sizeof(address)))
		return len;
	return len + (size_t)snprintf(text + len, size - len, "%s%s ", first ? "" : "or ", address);
}

static void explain_servers(const struct rcm_explain *explain, char *text, size_t size)
{
	const struct rcm_resolv *resolv = explain->resolv;
	size_t len = (size_t)snprintf(text, size, "name server ");

	if (explain->server)
		len = explain_server(explain->server, true, text, len, size);
	for (unsigned i = 0; !explain->server && i < resolv->servers_count && len < size / 2; i++)
		len = explain_server(&resolv->servers[i], !i, text, len, size);
	snprintf(text + len, size - len, "%s", explain->srv && explain->verdict == RCM_DNS_NODATA ?
		 "has no SRV record of that name" : rcm_verdict_text(explain->verdict));
}

void rcm_explain(const struct rcm_explain *explain, char *text, size_t size)
{
	if (explain->resolv && explain->known)
		explain_servers(explain, text, size);
	else if (explain->nobody)
		snprintf(text, size, "nsswitch.conf names no source of host names");
	else if (explain->known)
		snprintf(text, size, "the hosts file %s", rcm_verdict_text(explain->verdict));
	else
		snprintf(text, size, "the hosts file has no %s", explain->srv ? "SRV records" : "such name");
}
