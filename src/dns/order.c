/* SPDX-License-Identifier: BSD-2-Clause */
/* Destination address selection, RFC 6724 section 6. */
#include "dns/order.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/tell.h"

enum { SCOPE_LINK = 2, SCOPE_SITE = 5, SCOPE_GLOBAL = 14 };

/* RFC 4007 section 5, RFC 6724 section 3.1 and 3.2. */
static int order_scope_of(const struct rcm_policy *policy, const union rcm_dns_address *address)
{
	const struct in6_addr *in6 = &address->in6.sin6_addr;

	if (address->sa.sa_family == AF_INET)
		return rcm_policy_find(&policy->scopes, address);
	if (IN6_IS_ADDR_MULTICAST(in6))
		return in6->s6_addr[1] & 0xf;
	if (IN6_IS_ADDR_LINKLOCAL(in6) || IN6_IS_ADDR_LOOPBACK(in6))
		return SCOPE_LINK;
	return IN6_IS_ADDR_SITELOCAL(in6) ? SCOPE_SITE : SCOPE_GLOBAL;
}

static int order_common_bits(const uint8_t *a, const uint8_t *b, int bytes)
{
	int i = 0;

	while (i < bytes && a[i] == b[i])
		i++;
	return i < bytes ? i * 8 + __builtin_clz((unsigned)(a[i] ^ b[i])) - 24 : bytes * 8;
}

/* Rule 9's CommonPrefixLen. */
static int order_match_of(const struct rcm_order *order)
{
	int bits;

	if (order->to.sa.sa_family == AF_INET6)
		return order_common_bits(order->to.in6.sin6_addr.s6_addr, order->from.in6.sin6_addr.s6_addr, 16);
	bits = order_common_bits((const uint8_t *)&order->to.in.sin_addr, (const uint8_t *)&order->from.in.sin_addr, 4);
	return bits >= order->from_prefix ? bits : 0;
}

static bool order_reaches(const struct rcm_order *order)
{
	return order->from.sa.sa_family != AF_UNSPEC;
}

static bool order_scopes_match(const struct rcm_policy *policy, const struct rcm_order *order)
{
	return order_scope_of(policy, &order->to) == order_scope_of(policy, &order->from);
}

static bool order_labels_match(const struct rcm_policy *policy, const struct rcm_order *order)
{
	return rcm_policy_find(&policy->labels, &order->to) == rcm_policy_find(&policy->labels, &order->from);
}

/* Values of gai.conf are as large as they like. */
static int order_differ(int a, int b)
{
	return (a > b) - (a < b);
}

/* Rules 2 to 5 and 7 look at the source: they are for two destinations that have one. */
static int order_compare_sources(const struct rcm_policy *policy, const struct rcm_order *a, const struct rcm_order *b,
				 uint8_t *rule)
{
	int d = order_scopes_match(policy, b) - order_scopes_match(policy, a);

	*rule = 2;
	if (!d && (*rule = 3))
		d = a->from_deprecated - b->from_deprecated;
	if (!d && (*rule = 4))
		d = b->from_home - a->from_home;
	if (!d && (*rule = 5))
		d = order_labels_match(policy, b) - order_labels_match(policy, a);
	return d;
}

/* *rule: the one that decided. */
static int order_compare_by(const struct rcm_policy *policy, const struct rcm_order *a, const struct rcm_order *b,
			    uint8_t *rule)
{
	/* Where they don't differ in it. */
	bool both = order_reaches(a);
	int d = order_reaches(b) - both;

	*rule = 1;
	if (!d && both)
		d = order_compare_sources(policy, a, b, rule);
	if (!d && (*rule = 6))
		d = order_differ(rcm_policy_find(&policy->precedences, &b->to),
				 rcm_policy_find(&policy->precedences, &a->to));
	if (!d && both && (*rule = 7))
		d = b->native - a->native;
	if (!d && (*rule = 8))
		d = order_differ(order_scope_of(policy, &a->to), order_scope_of(policy, &b->to));
	if (!d && both && a->to.sa.sa_family == b->to.sa.sa_family && (*rule = 9))
		d = order_match_of(b) - order_match_of(a);
	if (!d && (*rule = 10))
		d = (a->given > b->given) - (a->given < b->given);
	return d;
}

static int order_compare(const void *pa, const void *pb, void *arg)
{
	uint8_t rule;

	return order_compare_by(arg, pa, pb, &rule);
}

void rcm_order_explain(struct rcm_order *orders, unsigned count, const struct rcm_policy *policy)
{
	for (unsigned i = 0; i + 1 < count; i++)
		order_compare_by(policy, &orders[i], &orders[i + 1], &orders[i].rule);
}

unsigned rcm_order_class(const union rcm_dns_address *to)
{
	const struct rcm_policy *policy = &rcm_policy_default;

	return (unsigned)order_scope_of(policy, to) << 8 | (unsigned)rcm_policy_find(&policy->labels, to);
}

void rcm_order_sort(struct rcm_order *orders, unsigned count, const struct rcm_policy *policy)
{
	qsort_r(orders, count, sizeof(*orders), order_compare, (void *)policy);
}

static const char *const order_rules[] = {
	"", "rule 1: the next can't be reached", "rule 2: its source has its scope",
	"rule 3: its source isn't deprecated", "rule 4: its source is a home address",
	"rule 5: its source has its label", "rule 6: it has a higher precedence", "rule 7: it goes by no tunnel",
	"rule 8: its scope is smaller", "rule 9: it has more bits in common with its source",
	"rule 10: it was given first",
};

static void order_print(const union rcm_dns_address *address, char text[INET6_ADDRSTRLEN])
{
	if (address->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &address->in.sin_addr, text, INET6_ADDRSTRLEN);
	else if (address->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &address->in6.sin6_addr, text, INET6_ADDRSTRLEN);
	else
		strcpy(text, "none");
}

void rcm_order_tell(struct rcm_order *orders, unsigned count)
{
	char to[INET6_ADDRSTRLEN], from[INET6_ADDRSTRLEN];

	for (unsigned i = 0; orders && i < count; i++) {
		order_print(&orders[i].to, to);
		order_print(&orders[i].from, from);
		rcm_tell(RCM_TELL_ORDER, "%s, source %s%s%s", to, from, orders[i].rule ? "; before the next by " : "",
			 order_rules[orders[i].rule]);
	}
	free(orders);
}
