/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a local RDMA device reaches, by route lookup, and from which source address. */
#include "addr/reach.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

/* How long a route is taken for unchanged. */
#define ROUTE_NS RCM_NS_PER_S

void rcm_reach_reset(struct rcm_reach *reach)
{
	rcm_router_close(&reach->router);
	reach->netdevs.looked = 0;
	memset(reach->routes, 0, sizeof(reach->routes));
}

static struct rcm_reach_route *reach_slot(struct rcm_reach *reach, const union rcm_sockaddr *dst)
{
	unsigned hash = dst->sa.sa_family == AF_INET ? rcm_hash(&dst->in.sin_addr, sizeof(dst->in.sin_addr)) :
			rcm_hash(&dst->in6.sin6_addr, sizeof(dst->in6.sin6_addr));

	return &reach->routes[hash % RCM_REACH_ROUTES];
}

static const struct rcm_reach_route *reach_look(struct rcm_reach *reach, const union rcm_sockaddr *dst)
{
	struct rcm_reach_route *r = reach_slot(reach, dst);
	uint64_t now = rcm_clock_now();
	struct rcm_route route;

	if (r->until > now && rcm_sockaddr_equal(&r->dst.sa, &dst->sa))
		return r;
	*r = (struct rcm_reach_route){ .dst = *dst, .until = now + ROUTE_NS };
	if (!(reach->lookup ? reach->lookup : rcm_route_lookup)(&reach->router, dst, &route) &&
	    rcm_netdevs_has(&reach->netdevs, route.ifindex)) {
		r->reached = true;
		r->src = route.src;
	}
	return r;
}

static bool reach_result(struct rcm_reach *reach, struct rcm_result *result)
{
	const struct rcm_reach_route *r;

	if (result->dst.sa.sa_family != AF_INET && result->dst.sa.sa_family != AF_INET6)
		return false;
	r = reach_look(reach, &result->dst);
	if (r->reached && !result->src.sa.sa_family)
		result->src = r->src;
	return r->reached;
}

void rcm_reach_order(struct rcm_reach *reach, struct rcm_result *results, unsigned count)
{
	struct rcm_result *later;
	unsigned first = 0, after = 0;

	if (!rcm_netdevs_any(&reach->netdevs))
		return;
	/* Without memory the order stays; the sources are still found. */
	later = count > 1 ? malloc(count * sizeof(*later)) : NULL;
	for (unsigned i = 0; i < count; i++) {
		bool reached = reach_result(reach, &results[i]);

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
