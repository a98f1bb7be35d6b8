/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a local RDMA device reaches, by route lookup, and from which source address. */
#include "addr/reach.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "addr/netdev.h"
#include "addr/route.h"
#include "base/clock.h"

enum { REMEMBERED = 256 };	/* a power of two */

/* How long a route is taken for unchanged. */
#define ROUTE_NS RCM_NS_PER_S

/* Routes asked lately, by destination. The resolver thread's. */
static struct remembered {
	union rcm_sockaddr dst;		/* sa_family 0: free */
	uint64_t until;			/* ns */
	bool reached;
	union rcm_sockaddr src;
} memory[REMEMBERED];

static int (*route_lookup)(const union rcm_sockaddr *dst, struct rcm_route *ret_route) = rcm_route_lookup;

void rcm_reach_route_replace(int (*lookup)(const union rcm_sockaddr *, struct rcm_route *))
{
	route_lookup = lookup ? lookup : rcm_route_lookup;
	memset(memory, 0, sizeof(memory));
}

static struct remembered *slot_of(const union rcm_sockaddr *dst)
{
	uint32_t words[4] = { 0 }, mixed;

	if (dst->sa.sa_family == AF_INET)
		words[0] = dst->in.sin_addr.s_addr;
	else
		memcpy(words, &dst->in6.sin6_addr, sizeof(words));
	mixed = (words[0] ^ words[1] ^ words[2] ^ words[3]) * 2654435761u;
	return &memory[mixed >> 24];
}

static const struct remembered *look(const union rcm_sockaddr *dst)
{
	struct remembered *r = slot_of(dst);
	uint64_t now = rcm_clock_now();
	struct rcm_route route;

	static_assert(REMEMBERED == 256, "slot_of() takes the upper 8 bits");
	if (r->until > now && rcm_sockaddr_equal(&r->dst.sa, &dst->sa))
		return r;
	*r = (struct remembered){ .dst = *dst, .until = now + ROUTE_NS };
	if (!route_lookup(dst, &route) && rcm_netdev_is_rdma(route.ifindex)) {
		r->reached = true;
		r->src = route.src;
	}
	return r;
}

static bool reaches(struct rcm_result *result)
{
	const struct remembered *r;

	if (result->dst.sa.sa_family != AF_INET && result->dst.sa.sa_family != AF_INET6)
		return false;
	r = look(&result->dst);
	if (r->reached && !result->src.sa.sa_family)
		result->src = r->src;
	return r->reached;
}

bool rcm_reach_matters(void)
{
	return rcm_netdev_any();
}

void rcm_reach_order(struct rcm_result *results, unsigned count)
{
	struct rcm_result *later;
	unsigned first = 0, after = 0;

	if (!rcm_netdev_any())
		return;
	/* Without memory the order stays; the sources are still found. */
	later = count > 1 ? malloc(count * sizeof(*later)) : NULL;
	for (unsigned i = 0; i < count; i++) {
		bool reached = reaches(&results[i]);

		if (!later)
			continue;
		if (reached)
			results[first++] = results[i];
		else
			later[after++] = results[i];
	}
	if (after)
		memcpy(&results[first], later, after * sizeof(*later));
	free(later);
}
