/* SPDX-License-Identifier: BSD-2-Clause */
/* Destination address selection, RFC 6724 section 6. */
#include "dns/order.h"

#include <stdlib.h>

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
static int order_compare_sources(const struct rcm_policy *policy, const struct rcm_order *a, const struct rcm_order *b)
{
	int d = order_scopes_match(policy, b) - order_scopes_match(policy, a);

	if (!d)
		d = a->from_deprecated - b->from_deprecated;
	if (!d)
		d = b->from_home - a->from_home;
	return d ? d : order_labels_match(policy, b) - order_labels_match(policy, a);
}

static int order_compare(const void *pa, const void *pb, void *arg)
{
	const struct rcm_policy *policy = arg;
	const struct rcm_order *a = pa, *b = pb;
	bool both = order_reaches(a) && order_reaches(b);
	int d = order_reaches(b) - order_reaches(a);			/* rule 1 */

	if (!d && both)
		d = order_compare_sources(policy, a, b);		/* rules 2 to 5 */
	if (!d)								/* rule 6 */
		d = order_differ(rcm_policy_find(&policy->precedences, &b->to),
				 rcm_policy_find(&policy->precedences, &a->to));
	if (!d && both)
		d = b->native - a->native;				/* rule 7 */
	if (!d)								/* rule 8 */
		d = order_differ(order_scope_of(policy, &a->to), order_scope_of(policy, &b->to));
	if (!d && both && a->to.sa.sa_family == b->to.sa.sa_family)
		d = order_match_of(b) - order_match_of(a);			/* rule 9 */
	return d ? d : (a->given > b->given) - (a->given < b->given);	/* rule 10 */
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
