/* SPDX-License-Identifier: BSD-2-Clause */
/* The search list. */
#include "dns/search.h"

#include <string.h>

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
