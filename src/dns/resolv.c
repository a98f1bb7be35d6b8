/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads resolv.conf by glibc's own reader; the search list. */
#include "dns/resolv.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* glibc's, since 2.36; the header of an older one lacks it. */
#ifndef RES_NOAAAA
#define RES_NOAAAA 0x08000000
#endif

/* One question after the other, for servers that drop the second: we send both at once. And no questions for AAAA,
 * which glibc turns into others. */
#define BEYOND_US (RES_SNGLKUP | RES_SNGLKUPREOP | RES_NOAAAA)

static void take_servers(struct rcm_resolv *resolv, const struct __res_state *res)
{
	for (int i = 0; i < res->nscount && i < MAXNS; i++) {
		union rcm_dns_address *server = &resolv->servers[resolv->servers_count];

		/* An IPv6 server leaves a hole in the old array; it's in the extension's. */
		if (res->nsaddr_list[i].sin_family == AF_INET)
			server->in = res->nsaddr_list[i];
		else if (res->_u._ext.nsaddrs[i])
			server->in6 = *res->_u._ext.nsaddrs[i];
		else
			continue;
		resolv->servers_count++;
	}
}

static int take_search(struct rcm_resolv *resolv, const struct __res_state *res)
{
	for (int i = 0; i < MAXDNSRCH && res->dnsrch[i]; i++) {
		resolv->search[i] = strdup(res->dnsrch[i]);
		if (!resolv->search[i])
			return -ENOMEM;
		resolv->search_count++;
	}
	return 0;
}

int rcm_resolv_from(const struct __res_state *res, struct rcm_resolv **ret_resolv)
{
	struct rcm_resolv *resolv = calloc(1, sizeof(*resolv));

	if (!resolv)
		return -ENOMEM;
	resolv->refs = 1;
	resolv->ndots = res->ndots;
	resolv->timeout_ms = (res->retrans > 0 ? res->retrans : 1) * 1000;
	resolv->attempts = res->retry;
	resolv->rotate = res->options & RES_ROTATE;
	resolv->use_tcp = res->options & RES_USEVC;
	resolv->edns = res->options & RES_USE_EDNS0;
	resolv->no_tld_query = res->options & RES_NOTLDQUERY;
	take_servers(resolv, res);
	if (take_search(resolv, res)) {
		rcm_resolv_put(resolv);
		return -ENOMEM;
	}
	/* A full search list may be a longer one that was cut: glibc keeps the rest where only it can see it. */
	resolv->beyond_us = (res->options & BEYOND_US) || resolv->search_count == MAXDNSRCH || res->nsort > 0 ||
			    !res->retry;
	*ret_resolv = resolv;
	return 0;
}

/* What glibc takes for granted without a file: the server on this host, the host's own domain. */
static void set_defaults(struct __res_state *res, char host[HOST_NAME_MAX + 1])
{
	char *domain;

	*res = (struct __res_state){
		.options = RES_DEFAULT, .ndots = 1, .retrans = RES_TIMEOUT, .retry = RES_DFLRETRY, .nscount = 1,
		.nsaddr_list = { { .sin_family = AF_INET, .sin_port = htons(NAMESERVER_PORT),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } },
	};
	if (gethostname(host, HOST_NAME_MAX + 1))
		return;
	host[HOST_NAME_MAX] = '\0';
	domain = strchr(host, '.');
	if (domain)
		res->dnsrch[0] = domain + 1;
}

/* res_ninit() fails for want of memory or descriptors, which is for now, or for a file that can't be read, which stays
 * and is as if there were none. */
static int read_defaults(struct __res_state *res, int error, struct rcm_resolv **ret_resolv)
{
	char host[HOST_NAME_MAX + 1];

	if (error == ENOMEM || error == EMFILE || error == ENFILE)
		return -error;
	rcm_info("dns: resolv.conf can't be read: %s", strerror(error));
	set_defaults(res, host);
	return rcm_resolv_from(res, ret_resolv);
}

int rcm_resolv_read(struct rcm_resolv **ret_resolv)
{
	struct __res_state *res = calloc(1, sizeof(*res));
	int err;

	if (!res)
		return -ENOMEM;
	errno = 0;
	if (res_ninit(res)) {
		err = read_defaults(res, errno, ret_resolv);
	} else {
		err = rcm_resolv_from(res, ret_resolv);
		res_nclose(res);
	}
	free(res);
	return err;
}

struct rcm_resolv *rcm_resolv_get(struct rcm_resolv *resolv)
{
	resolv->refs++;
	return resolv;
}

void rcm_resolv_put(struct rcm_resolv *resolv)
{
	if (!resolv || --resolv->refs)
		return;
	for (unsigned i = 0; i < resolv->search_count; i++)
		free(resolv->search[i]);
	free(resolv);
}

static bool is_root(const char *domain)
{
	return !domain[0] || !strcmp(domain, ".");
}

struct plan {
	bool first;			/* as it is, before the domains */
	unsigned domains;
	bool last;			/* as it is, after them */
};

static struct plan plan_of(const struct rcm_resolv *resolv, const char *name)
{
	size_t len = strlen(name);
	struct plan plan = { 0 };
	unsigned dots = 0;

	for (const char *p = name; *p; p++)
		dots += *p == '.';
	plan.first = dots >= resolv->ndots;
	if (len && name[len - 1] == '.') {
		plan.first = true;
		return plan;
	}
	plan.domains = resolv->search_count;
	plan.last = !plan.first && (dots || !plan.domains || !resolv->no_tld_query);
	for (unsigned i = 0; i < plan.domains; i++)
		if (is_root(resolv->search[i]))
			plan.last = false;
	return plan;
}

enum rcm_search_kind rcm_search_name(const struct rcm_resolv *resolv, const char *name, unsigned index, char *buf)
{
	struct plan plan = plan_of(resolv, name);
	const char *domain = NULL;

	if (index >= plan.first + plan.domains + plan.last)
		return RCM_SEARCH_END;
	if (index >= plan.first && index < plan.first + plan.domains)
		domain = resolv->search[index - plan.first];
	if (strlen(name) + (domain ? strlen(domain) : 0) + 2 > RCM_SEARCH_NAME_MAX)
		domain = NULL;
	stpcpy(stpcpy(stpcpy(buf, name), domain && !is_root(domain) ? "." : ""),
	       domain && !is_root(domain) ? domain : "");
	return domain ? RCM_SEARCH_DOMAIN : RCM_SEARCH_AS_IS;
}

unsigned rcm_search_last(const struct rcm_resolv *resolv, const char *name)
{
	struct plan plan = plan_of(resolv, name);

	/* Without a last one this is behind the end. */
	return plan.first + plan.domains;
}
