/* SPDX-License-Identifier: BSD-2-Clause */
/* The search list. */
#include "dns/search.h"

#include <resolv.h>
#include <string.h>

static bool search_is_root(const char *domain)
{
	return !domain[0] || !strcmp(domain, ".");
}

struct plan {
	bool first;			/* as it is, before the domains */
	unsigned domains;
	bool last;			/* as it is, after them */
};

/* Domains at the end of the list that are skipped count for nothing. */
static struct plan search_plan_of(const struct rcm_resolv *resolv, const char *name, unsigned skipped)
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
	for (unsigned i = 0; i + skipped < plan.domains; i++)
		if (search_is_root(resolv->search[i]))
			plan.last = false;
	return plan;
}

unsigned rcm_search_prefix(const char *name)
{
	const char *at = name, *dot;

	while (*at == '_' && (dot = strchr(at, '.')))
		at = dot + 1;
	return (unsigned)(at - name);
}

static enum rcm_search_kind search_name(const struct rcm_resolv *resolv, const char *name, unsigned index,
					unsigned skipped, char *buf)
{
	struct plan plan = search_plan_of(resolv, name, skipped);
	const char *domain = NULL;

	if (index >= plan.first + plan.domains + plan.last)
		return RCM_SEARCH_END;
	if (index >= plan.first && index < plan.first + plan.domains)
		domain = resolv->search[index - plan.first];
	if (strlen(name) + (domain ? strlen(domain) : 0) + 2 > RCM_SEARCH_NAME_MAX)
		domain = NULL;
	stpcpy(stpcpy(stpcpy(buf, name), domain && !search_is_root(domain) ? "." : ""),
	       domain && !search_is_root(domain) ? domain : "");
	return domain ? RCM_SEARCH_DOMAIN : RCM_SEARCH_AS_IS;
}

enum rcm_search_kind rcm_search_name(const struct rcm_resolv *resolv, const char *name, unsigned index, char *buf)
{
	return search_name(resolv, name, index, 0, buf);
}

/* As res_search(3) chooses what to tell: the failure of the name as it is where that was asked first, else "no address"
 * of any candidate, else a SERVFAIL, else the last. */
static bool search_is_told(const struct rcm_search *search, enum rcm_dns_verdict verdict)
{
	if (!search->known)
		return true;
	if (search->final || search->verdict == RCM_DNS_NODATA)
		return false;
	return search->verdict != RCM_DNS_SERVFAIL || verdict == RCM_DNS_NODATA;
}

/* To the name as it is, behind the domains; without that to the end. A root among those that are skipped doesn't stand
 * for it. */
static void search_skip(struct rcm_search *search, const struct rcm_resolv *resolv, const char *name)
{
	struct plan plan = search_plan_of(resolv, name, 0);
	unsigned last = plan.first + plan.domains;

	search->skipped = (uint16_t)(last - search->candidate - 1);
	search->candidate = (uint16_t)last;
}

/* SERVFAIL at one domain doesn't end the search, any other failure does, but for the name as it is. */
void rcm_search_fail(struct rcm_search *search, const struct rcm_resolv *resolv, const char *name,
		     enum rcm_dns_verdict verdict, const union rcm_dns_address *server)
{
	bool hard = verdict > RCM_DNS_NODATA && verdict != RCM_DNS_SERVFAIL;

	if (search_is_told(search, verdict)) {
		search->verdict = (uint8_t)verdict;
		search->server = server;
	}
	search->known = true;
	search->final |= search->candidate == 0 && search->kind == RCM_SEARCH_AS_IS;
	if (search->kind == RCM_SEARCH_DOMAIN && hard)
		search_skip(search, resolv, name);
	else
		search->candidate++;
}

bool rcm_search_next(struct rcm_search *search, const struct rcm_resolv *resolv, const char *name, char *buf)
{
	for (;;) {
		search->kind = (uint8_t)search_name(resolv, name, search->candidate, search->skipped, buf);
		if (search->kind == RCM_SEARCH_END)
			return false;
		if (res_hnok(buf))
			return true;
		rcm_search_fail(search, resolv, name, RCM_DNS_NO_HOST, NULL);
	}
}

void rcm_search_print(const struct rcm_search *search, const struct rcm_resolv *resolv, const char *name, char *buf)
{
	size_t len;

	search_name(resolv, name, search->candidate, search->skipped, buf);
	len = strlen(buf);
	if (len > 1 && buf[len - 1] == '.')
		buf[len - 1] = '\0';
}
