/* SPDX-License-Identifier: BSD-2-Clause */
/* Source addresses by connecting UDP sockets; their prefixes and flags by rtnetlink(7). */
#include "dns/srcaddr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/container.h"
#include "base/err.h"
#include "base/fds.h"
#include "base/limits.h"
#include "base/table.h"
#include "dns/blocks.h"
#include "dns/netlink.h"
#include "dns/order.h"

/* RTNLGRP_IPV6_RULE has no name as a bit. */
#define GROUP_IPV6_RULE (1u << (RTNLGRP_IPV6_RULE - 1))

/* An address of this host. */
struct own {
	union rcm_dns_address address;
	uint8_t prefix;
	bool deprecated;
	bool home;
	bool native;
};

/* What the kernel said of the way to an address, or to all addresses of its class in a block. */
struct way_key {
	uint16_t family;
	uint16_t class;
	int32_t block;		/* -1: the one address alone */
	uint32_t scope;
	uint8_t address[16];
};

struct way {
	UT_hash_handle hh;
	struct way_key key;
	struct rcm_order order;		/* but for the address itself */
};

struct rcm_srcaddr {
	struct rcm_loop *loop;	/* NULL: nobody tells */
	struct rcm_source told;	/* in the loop: nothing changed */
	int monitor;		/* readable when an address, a route, a rule or a device of the host came or went; -1:
				 * this process isn't told of any, nothing is known but what connect() tells */
	int udp4, udp6;		/* -1: not open yet, or the family isn't there */
	unsigned owns_count;
	struct own *owns;
	struct rcm_blocks blocks;
	bool choice;		/* which source is taken for IPv6 depends on the very address */
	struct way *ways;
	bool stale;
	struct rcm_policy policy;
};

static bool srcaddr_same_address(const union rcm_dns_address *a, const union rcm_dns_address *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a->in6.sin6_addr, &b->in6.sin6_addr);
}

/* RFC 6724 rule 7: a tunnel is what encapsulates IPv6. */
static bool srcaddr_is_native(int fd, unsigned index)
{
	struct ifreq ifr = { .ifr_ifindex = (int)index };

	if (ioctl(fd, SIOCGIFNAME, &ifr) || ioctl(fd, SIOCGIFHWADDR, &ifr))
		return true;
	switch (ifr.ifr_hwaddr.sa_family) {
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
		return false;
	default:
		return true;
	}
}

static bool srcaddr_read_own(struct own *own, const struct ifaddrmsg *msg, size_t len, int fd)
{
	const struct rtattr *local = NULL;
	size_t size = msg->ifa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);

	for (const struct rtattr *a = IFA_RTA(msg); RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && !local))
			local = a;
	if (!local || RTA_PAYLOAD(local) != size)
		return false;
	memset(own, 0, sizeof(*own));
	own->address.sa.sa_family = msg->ifa_family;
	memcpy(msg->ifa_family == AF_INET ? (void *)&own->address.in.sin_addr : (void *)&own->address.in6.sin6_addr,
	       RTA_DATA(local), size);
	own->prefix = msg->ifa_prefixlen;
	own->deprecated = msg->ifa_flags & IFA_F_DEPRECATED;
	own->home = msg->ifa_flags & IFA_F_HOMEADDRESS;
	own->native = srcaddr_is_native(fd, msg->ifa_index);
	return true;
}

static int srcaddr_add_own(const struct nlmsghdr *nlh, void *arg)
{
	struct rcm_srcaddr *srcaddr = arg;
	const struct ifaddrmsg *msg = NLMSG_DATA(nlh);
	struct own *grown;

	if (nlh->nlmsg_type != RTM_NEWADDR || (msg->ifa_family != AF_INET && msg->ifa_family != AF_INET6))
		return 0;
	grown = realloc(srcaddr->owns, (srcaddr->owns_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	srcaddr->owns = grown;
	if (srcaddr_read_own(&grown[srcaddr->owns_count], msg, IFA_PAYLOAD(nlh), srcaddr->monitor))
		srcaddr->owns_count++;
	return 0;
}

static void srcaddr_forget_ways(struct rcm_srcaddr *srcaddr)
{
	struct way *way, *next;

	HASH_ITER(hh, srcaddr->ways, way, next) {
		HASH_DEL(srcaddr->ways, way);
		free(way);
	}
}

/* Of several IPv6 addresses the kernel chooses one by the destination. */
static bool srcaddr_has_choice(const struct rcm_srcaddr *srcaddr)
{
	unsigned choice = 0;

	for (unsigned i = 0; i < srcaddr->owns_count; i++) {
		const struct in6_addr *in6 = &srcaddr->owns[i].address.in6.sin6_addr;

		choice += srcaddr->owns[i].address.sa.sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(in6) &&
			  !IN6_IS_ADDR_LOOPBACK(in6);
	}
	return choice > 1;
}

/* What a kernel, or a sandbox, doesn't tell isn't known, and isn't asked for again until something changes. False:
 * memory or descriptors had run out. */
static bool srcaddr_refresh(struct rcm_srcaddr *srcaddr)
{
	int addresses, blocks;

	srcaddr_forget_ways(srcaddr);
	srcaddr->owns_count = 0;
	addresses = rcm_netlink_dump(RTM_GETADDR, AF_UNSPEC, srcaddr_add_own, srcaddr);
	blocks = rcm_blocks_read(&srcaddr->blocks);
	srcaddr->choice = addresses || srcaddr_has_choice(srcaddr);
	return !rcm_is_want(addresses) && !rcm_is_want(blocks);
}

/* Once is enough until somebody wants to know: the routes of others must not keep us awake. */
static void srcaddr_told(struct rcm_source *source, uint32_t events)
{
	(void)events;
	rcm_source_remove(source);
}

void rcm_srcaddr_watch(struct rcm_srcaddr *srcaddr, struct rcm_loop *loop)
{
	srcaddr->loop = loop;
}

/* An overrun of the monitor (ENOBUFS) is news as well; only an empty one says that nothing changed. */
bool rcm_srcaddr_is_stale(struct rcm_srcaddr *srcaddr)
{
	char buf[4096];

	if (srcaddr->monitor < 0 || (srcaddr->told.loop && !srcaddr->stale))
		return false;
	while (recv(srcaddr->monitor, buf, sizeof(buf), MSG_DONTWAIT) > 0 || errno == ENOBUFS)
		srcaddr->stale = true;
	return srcaddr->stale;
}

void rcm_srcaddr_follow(struct rcm_srcaddr *srcaddr)
{
	if (rcm_srcaddr_is_stale(srcaddr))
		srcaddr->stale = !srcaddr_refresh(srcaddr);
	/* Where it can't be had in the loop it is looked at each time. */
	if (srcaddr->loop && srcaddr->monitor >= 0 && !srcaddr->told.loop)
		(void)rcm_source_add(srcaddr->loop, &srcaddr->told, srcaddr->monitor, RCM_READABLE, srcaddr_told);
}

/* 0 or -errno: *ret_fd is -1 where a sandbox, or the kernel, has no such socket for this process. */
static int srcaddr_open_monitor(int *ret_fd)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK,
				  .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
					       RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_RULE | GROUP_IPV6_RULE |
					       RTMGRP_LINK };
	int fd = rcm_fds_add(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));

	if (rcm_is_want(fd))
		return fd;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&nl, sizeof(nl))) {
		rcm_fds_close(fd);
		fd = -1;
	}
	*ret_fd = fd < 0 ? -1 : fd;
	return 0;
}

int rcm_srcaddr_open(struct rcm_srcaddr **ret_srcaddr)
{
	struct rcm_srcaddr *srcaddr = calloc(1, sizeof(*srcaddr));
	int ret;

	if (!srcaddr)
		return -ENOMEM;
	ret = srcaddr_open_monitor(&srcaddr->monitor);
	if (ret) {
		free(srcaddr);
		return ret;
	}
	srcaddr->udp4 = srcaddr->udp6 = -1;
	srcaddr->stale = true;
	srcaddr->policy = rcm_policy_default;
	*ret_srcaddr = srcaddr;
	return 0;
}

int rcm_srcaddr_renew(const struct rcm_srcaddr *srcaddr, struct rcm_srcaddr **ret_srcaddr)
{
	int ret = rcm_srcaddr_open(ret_srcaddr);

	if (ret)
		return ret;
	(*ret_srcaddr)->policy = srcaddr->policy;
	rcm_srcaddr_follow(*ret_srcaddr);
	return 0;
}

/* The ways that are known stay: the kernel doesn't go by it. */
void rcm_srcaddr_rank(struct rcm_srcaddr *srcaddr, const struct rcm_policy *policy)
{
	srcaddr->policy = *policy;
}

void rcm_srcaddr_close(struct rcm_srcaddr *srcaddr)
{
	if (!srcaddr)
		return;
	rcm_source_remove(&srcaddr->told);
	rcm_fds_close(srcaddr->monitor);
	rcm_fds_close(srcaddr->udp4);
	rcm_fds_close(srcaddr->udp6);
	free(srcaddr->owns);
	srcaddr_forget_ways(srcaddr);
	rcm_blocks_clear(&srcaddr->blocks);
	free(srcaddr);
}

/* 0, or -errno: only -EAFNOSUPPORT says something about the destination, anything else about this process. */
static int srcaddr_open_udp(struct rcm_srcaddr *srcaddr, int family)
{
	int *fd = family == AF_INET ? &srcaddr->udp4 : &srcaddr->udp6;

	if (*fd < 0)
		*fd = rcm_fds_add(socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	return *fd < 0 ? *fd : 0;
}

/* The address chosen by one connect() binds the next, unless the socket is disconnected between the two. */
static bool srcaddr_ask_kernel(const struct rcm_srcaddr *srcaddr, const union rcm_dns_address *to,
			       union rcm_dns_address *from)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool v4 = to->sa.sa_family == AF_INET;
	int fd = v4 ? srcaddr->udp4 : srcaddr->udp6;
	union rcm_dns_address port = *to;
	socklen_t len = v4 ? sizeof(to->in) : sizeof(to->in6);

	if (v4)
		port.in.sin_port = htons(53);
	else
		port.in6.sin6_port = htons(53);
	connect(fd, &none, sizeof(none));
	return !connect(fd, &port.sa, len) && !getsockname(fd, &from->sa, &len);
}

/* 0, or -errno where nothing can be said of the way there. */
static int srcaddr_ask_way(struct rcm_srcaddr *srcaddr, struct rcm_order *order)
{
	int ret = srcaddr_open_udp(srcaddr, order->to.sa.sa_family);

	if (ret && ret != -EAFNOSUPPORT)
		return ret;
	order->native = true;
	order->from_prefix = 32;
	if (!srcaddr_ask_kernel(srcaddr, &order->to, &order->from)) {
		order->from.sa.sa_family = AF_UNSPEC;
		return 0;
	}
	for (unsigned i = 0; i < srcaddr->owns_count; i++) {
		const struct own *own = &srcaddr->owns[i];

		if (!srcaddr_same_address(&own->address, &order->from))
			continue;
		order->from_prefix = own->prefix;
		order->from_deprecated = own->deprecated;
		order->from_home = own->home;
		order->native = own->native;
		break;
	}
	return 0;
}

static struct way_key srcaddr_key_of(const struct rcm_srcaddr *srcaddr, const union rcm_dns_address *to)
{
	struct way_key key = { .family = to->sa.sa_family, .class = (uint16_t)rcm_order_class(to), .block = -1 };
	bool v4 = to->sa.sa_family == AF_INET;

	if (v4 || (!srcaddr->choice && !to->in6.sin6_scope_id))
		key.block = rcm_blocks_find(&srcaddr->blocks, to);
	if (key.block >= 0)
		return key;
	if (v4) {
		memcpy(key.address, &to->in.sin_addr, sizeof(to->in.sin_addr));
	} else {
		memcpy(key.address, &to->in6.sin6_addr, sizeof(to->in6.sin6_addr));
		key.scope = to->in6.sin6_scope_id;
	}
	return key;
}

/* Without memory it is asked for again next time. */
static void srcaddr_keep_way(struct rcm_srcaddr *srcaddr, const struct way_key *key, const struct rcm_order *order)
{
	struct way *way = malloc(sizeof(*way));

	if (!way)
		return;
	if (HASH_COUNT(srcaddr->ways) == RCM_WAYS_MAX)
		srcaddr_forget_ways(srcaddr);
	way->key = *key;
	way->order = *order;
	HASH_ADD(hh, srcaddr->ways, key, sizeof(way->key), way);
	if (!way->hh.tbl)
		free(way);
}

/* 0, or -errno where nothing can be said of the way there. */
static int srcaddr_look_at(struct rcm_srcaddr *srcaddr, struct rcm_order *order)
{
	struct way_key key = srcaddr_key_of(srcaddr, &order->to);
	struct rcm_order known;
	struct way *way;
	int ret;

	if (srcaddr->stale || srcaddr->monitor < 0)
		return srcaddr_ask_way(srcaddr, order);
	HASH_FIND(hh, srcaddr->ways, &key, sizeof(key), way);
	if (way) {
		known = way->order;
		known.to = order->to;
		known.given = order->given;
		*order = known;
		return 0;
	}
	ret = srcaddr_ask_way(srcaddr, order);
	if (!ret)
		srcaddr_keep_way(srcaddr, &key, order);
	return ret;
}

/* The orders, sorted; NULL: the addresses are as they were. */
static struct rcm_order *srcaddr_sort(struct rcm_srcaddr *srcaddr, union rcm_dns_address *addresses, unsigned count)
{
	struct rcm_order *orders;

	if (count < 2)
		return NULL;
	orders = calloc(count, sizeof(*orders));
	if (!orders)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		orders[i].to = addresses[i];
		orders[i].given = i;
		if (srcaddr_look_at(srcaddr, &orders[i]))
			goto failed;
	}
	rcm_order_sort(orders, count, &srcaddr->policy);
	for (unsigned i = 0; i < count; i++)
		addresses[i] = orders[i].to;
	return orders;
failed:
	free(orders);
	return NULL;
}

void rcm_srcaddr_sort(struct rcm_srcaddr *srcaddr, union rcm_dns_address *addresses, unsigned count)
{
	free(srcaddr_sort(srcaddr, addresses, count));
}

struct rcm_order *rcm_srcaddr_sort_why(struct rcm_srcaddr *srcaddr, union rcm_dns_address *addresses, unsigned count)
{
	struct rcm_order *orders = srcaddr_sort(srcaddr, addresses, count);

	if (orders)
		rcm_order_explain(orders, count, &srcaddr->policy);
	return orders;
}
