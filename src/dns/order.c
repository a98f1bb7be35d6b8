/* SPDX-License-Identifier: BSD-2-Clause */
/* Destination address selection, RFC 6724 section 6. */
#include "dns/order.h"

#include <stdlib.h>
#include <string.h>

/* A row of the policy table. IPv4 addresses are looked up in their mapped form. */
struct policy {
	uint8_t prefix[16];
	uint8_t bits;
	uint8_t value;
};

static const struct policy labels[] = {
	{ { [15] = 1 }, 128, 0 },			/* ::1 */
	{ { [10] = 0xff, 0xff }, 96, 4 },		/* IPv4-mapped */
	{ { 0 }, 96, 3 },				/* IPv4-compatible */
	{ { 0x20, 0x01, 0, 0 }, 32, 7 },		/* Teredo */
	{ { 0x20, 0x02 }, 16, 2 },			/* 6to4 */
	{ { 0xfe, 0xc0 }, 10, 5 },			/* site-local */
	{ { 0xfc }, 7, 6 },				/* unique local */
	{ { 0 }, 0, 1 },
};

static const struct policy precedences[] = {
	{ { [15] = 1 }, 128, 50 },
	{ { [10] = 0xff, 0xff }, 96, 10 },
	{ { 0 }, 96, 20 },
	{ { 0x20, 0x02 }, 16, 30 },
	{ { 0 }, 0, 40 },
};

enum { SCOPE_LINK = 2, SCOPE_SITE = 5, SCOPE_GLOBAL = 14 };

static bool has_prefix(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(address, prefix, bytes))
		return false;
	return !rest || !((address[bytes] ^ prefix[bytes]) >> (8 - rest));
}

static struct in6_addr mapped(const union rcm_dns_address *address)
{
	struct in6_addr in6 = { .s6_addr = { [10] = 0xff, 0xff } };

	if (address->sa.sa_family == AF_INET6)
		return address->in6.sin6_addr;
	memcpy(&in6.s6_addr[12], &address->in.sin_addr, 4);
	return in6;
}

/* The last row of a table matches everything. */
static int look_up(const struct policy *row, const union rcm_dns_address *address)
{
	struct in6_addr in6 = mapped(address);

	while (!has_prefix(in6.s6_addr, row->prefix, row->bits))
		row++;
	return row->value;
}

/* RFC 4007 section 5, RFC 6724 section 3.1 and 3.2. */
static int scope_of(const union rcm_dns_address *address)
{
	const struct in6_addr *in6 = &address->in6.sin6_addr;

	if (address->sa.sa_family == AF_INET) {
		const uint8_t *in = (const uint8_t *)&address->in.sin_addr;

		return in[0] == 127 || (in[0] == 169 && in[1] == 254) ? SCOPE_LINK : SCOPE_GLOBAL;
	}
	if (IN6_IS_ADDR_MULTICAST(in6))
		return in6->s6_addr[1] & 0xf;
	if (IN6_IS_ADDR_LINKLOCAL(in6) || IN6_IS_ADDR_LOOPBACK(in6))
		return SCOPE_LINK;
	return IN6_IS_ADDR_SITELOCAL(in6) ? SCOPE_SITE : SCOPE_GLOBAL;
}

static int common_bits(const uint8_t *a, const uint8_t *b, int bytes)
{
	int i = 0;

	while (i < bytes && a[i] == b[i])
		i++;
	return i < bytes ? i * 8 + __builtin_clz((unsigned)(a[i] ^ b[i])) - 24 : bytes * 8;
}

/* Rule 9's CommonPrefixLen. */
static int match_of(const struct rcm_order *order)
{
	int bits;

	if (order->to.sa.sa_family == AF_INET6)
		return common_bits(order->to.in6.sin6_addr.s6_addr, order->from.in6.sin6_addr.s6_addr, 16);
	bits = common_bits((const uint8_t *)&order->to.in.sin_addr, (const uint8_t *)&order->from.in.sin_addr, 4);
	return bits >= order->from_prefix ? bits : 0;
}

static bool reachable(const struct rcm_order *order)
{
	return order->from.sa.sa_family != AF_UNSPEC;
}

static bool scopes_match(const struct rcm_order *order)
{
	return scope_of(&order->to) == scope_of(&order->from);
}

static bool labels_match(const struct rcm_order *order)
{
	return look_up(labels, &order->to) == look_up(labels, &order->from);
}

/* Rules 2 to 5 and 7 look at the source: they are for two destinations that have one. */
static int compare_sources(const struct rcm_order *a, const struct rcm_order *b)
{
	int d = scopes_match(b) - scopes_match(a);

	if (!d)
		d = a->from_deprecated - b->from_deprecated;
	if (!d)
		d = b->from_home - a->from_home;
	return d ? d : labels_match(b) - labels_match(a);
}

static int compare(const void *pa, const void *pb)
{
	const struct rcm_order *a = pa, *b = pb;
	bool both = reachable(a) && reachable(b);
	int d = reachable(b) - reachable(a);				/* rule 1 */

	if (!d && both)
		d = compare_sources(a, b);				/* rules 2 to 5 */
	if (!d)
		d = look_up(precedences, &b->to) - look_up(precedences, &a->to);	/* rule 6 */
	if (!d && both)
		d = b->native - a->native;				/* rule 7 */
	if (!d)
		d = scope_of(&a->to) - scope_of(&b->to);		/* rule 8 */
	if (!d && both && a->to.sa.sa_family == b->to.sa.sa_family)
		d = match_of(b) - match_of(a);				/* rule 9 */
	return d ? d : (a->given > b->given) - (a->given < b->given);	/* rule 10 */
}

unsigned rcm_order_class(const union rcm_dns_address *to)
{
	return (unsigned)scope_of(to) << 8 | (unsigned)look_up(labels, to);
}

void rcm_order_sort(struct rcm_order *orders, unsigned count)
{
	qsort(orders, count, sizeof(*orders), compare);
}
