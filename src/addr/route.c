/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel how it would send to an address. */
#include "addr/route.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/route/route.h>
#include <string.h>

#include "base/nl.h"

void rcm_router_close(struct rcm_router *router)
{
	rcm_nl_close(router->sock);
	router->sock = NULL;
}

static int route_question(struct nl_msg *msg, const union rcm_sockaddr *dst)
{
	bool v6 = dst->sa.sa_family == AF_INET6;
	struct rtmsg header = { .rtm_family = dst->sa.sa_family, .rtm_dst_len = v6 ? 128 : 32 };
	int ret;

	ret = nlmsg_append(msg, &header, sizeof(header), NLMSG_ALIGNTO);
	if (!ret && v6)
		ret = nla_put(msg, RTA_DST, sizeof(dst->in6.sin6_addr), &dst->in6.sin6_addr);
	else if (!ret)
		ret = nla_put(msg, RTA_DST, sizeof(dst->in.sin_addr), &dst->in.sin_addr);
	if (!ret && v6 && dst->in6.sin6_scope_id)
		ret = nla_put_u32(msg, RTA_OIF, dst->in6.sin6_scope_id);
	return ret ? -ENOMEM : 0;
}

static int route_take(struct nl_msg *msg, void *arg)
{
	struct rtnl_route **route = arg;

	if (!*route)
		rtnl_route_parse(nlmsg_hdr(msg), route);
	return NL_OK;
}

static int route_ask(struct rcm_router *router, const union rcm_sockaddr *dst, struct rtnl_route **ret_route)
{
	struct nl_msg *msg;
	int ret;

	*ret_route = NULL;
	msg = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
	if (!msg)
		return -ENOMEM;
	ret = route_question(msg, dst);
	if (!ret)
		ret = rcm_nl_ask(router->sock, msg, route_take, ret_route);
	nlmsg_free(msg);
	if (*ret_route)
		return 0;
	if (ret != -ENOMEM)
		return -ENETUNREACH;
	rcm_router_close(router);
	return ret;
}

static bool route_same_address(const struct sockaddr *a, const union rcm_sockaddr *b)
{
	union rcm_sockaddr x;

	if (!a || !rcm_sockaddr_copy(&x, a, 0) || x.sa.sa_family != b->sa.sa_family)
		return false;
	if (x.sa.sa_family == AF_INET)
		return x.in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&x.in6.sin6_addr, &b->in6.sin6_addr, sizeof(x.in6.sin6_addr)) &&
	       (!b->in6.sin6_scope_id || x.in6.sin6_scope_id == b->in6.sin6_scope_id);
}

/* Routes to local addresses go out of the loopback interface; a device is known by the one that has the address. */
static unsigned route_owner_of(const union rcm_sockaddr *local)
{
	struct ifaddrs *all, *a;
	unsigned ifindex = 0;

	if (getifaddrs(&all))
		return 0;
	for (a = all; a && !ifindex; a = a->ifa_next)
		if (route_same_address(a->ifa_addr, local))
			ifindex = if_nametoindex(a->ifa_name);
	freeifaddrs(all);
	return ifindex;
}

static void route_take_source(struct rtnl_route *route, int family, struct rcm_route *to)
{
	struct nl_addr *src = rtnl_route_get_pref_src(route);

	if (!src || nl_addr_get_family(src) != family)
		return;
	to->src.sa.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		memcpy(&to->src.in.sin_addr, nl_addr_get_binary_addr(src), sizeof(to->src.in.sin_addr));
		return;
	}
	memcpy(&to->src.in6.sin6_addr, nl_addr_get_binary_addr(src), sizeof(to->src.in6.sin6_addr));
	if (IN6_IS_ADDR_LINKLOCAL(&to->src.in6.sin6_addr))
		to->src.in6.sin6_scope_id = to->ifindex;
}

int rcm_route_lookup(struct rcm_router *router, const union rcm_sockaddr *dst, struct rcm_route *ret_route)
{
	struct rcm_route to = { 0 };
	struct rtnl_route *route;
	struct rtnl_nexthop *hop;
	int ret;

	if (dst->sa.sa_family != AF_INET && dst->sa.sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	ret = router->sock ? 0 : rcm_nl_open(NETLINK_ROUTE, &router->sock);
	if (!ret)
		ret = route_ask(router, dst, &route);
	if (ret)
		return ret;
	hop = rtnl_route_nexthop_n(route, 0);
	if (rtnl_route_get_type(route) == RTN_LOCAL)
		to.ifindex = route_owner_of(dst);
	else if (hop)
		to.ifindex = (unsigned)rtnl_route_nh_get_ifindex(hop);
	route_take_source(route, dst->sa.sa_family, &to);
	rtnl_route_put(route);
	if (!to.ifindex)
		return -ENETUNREACH;
	*ret_route = to;
	return 0;
}
