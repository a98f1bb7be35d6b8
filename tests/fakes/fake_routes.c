/* SPDX-License-Identifier: BSD-2-Clause */
/* A host that the test makes up. */
#include "fake_routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/test.h"
#include "dns/netlink.h"

struct fake_routes host;

int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *len);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

static size_t read_bytes(const char *text, uint8_t bytes[16])
{
	bool v6 = strchr(text, ':');

	assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes), 1);
	return v6 ? 16 : 4;
}

union rcm_dns_address fake_address(const char *text)
{
	union rcm_dns_address address = { 0 };
	uint8_t bytes[16];

	if (read_bytes(text, bytes) == 4) {
		address.in.sin_family = AF_INET;
		memcpy(&address.in.sin_addr, bytes, 4);
	} else {
		address.in6.sin6_family = AF_INET6;
		memcpy(&address.in6.sin6_addr, bytes, 16);
	}
	return address;
}

union told {
	struct nlmsghdr nlh;
	uint8_t bytes[256];
};

static void put(union told *told, uint16_t type, const char *text, size_t cut)
{
	struct rtattr *a = (struct rtattr *)(told->bytes + NLMSG_ALIGN(told->nlh.nlmsg_len));
	uint8_t bytes[16];
	size_t len = read_bytes(text, bytes) - cut;

	*a = (struct rtattr){ .rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(len) };
	memcpy(RTA_DATA(a), bytes, len);
	told->nlh.nlmsg_len = NLMSG_ALIGN(told->nlh.nlmsg_len) + (uint32_t)RTA_SPACE(len);
}

static int tell_own(const struct fake_own *own, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	union told told = { .nlh = { .nlmsg_type = own->type ? own->type : RTM_NEWADDR,
				     .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)) } };

	*(struct ifaddrmsg *)NLMSG_DATA(&told.nlh) = (struct ifaddrmsg){
		.ifa_family = own->family, .ifa_prefixlen = own->prefix, .ifa_flags = own->flags, .ifa_index = own->index,
	};
	if (own->local && !own->local_last)
		put(&told, IFA_LOCAL, own->local, own->cut);
	if (own->address)
		put(&told, IFA_ADDRESS, own->address, own->cut);
	if (own->local && own->local_last)
		put(&told, IFA_LOCAL, own->local, own->cut);
	return take(&told.nlh, arg);
}

static int tell_route(unsigned i, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	union told told = { .nlh = { .nlmsg_type = RTM_NEWROUTE, .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)) } };
	bool v6 = strchr(host.blocks[i].prefix, ':');

	if (v6 != (family == AF_INET6))
		return 0;
	*(struct rtmsg *)NLMSG_DATA(&told.nlh) = (struct rtmsg){ .rtm_family = (uint8_t)family, .rtm_dst_len = host.blocks[i].bits };
	put(&told, RTA_DST, host.blocks[i].prefix, 0);
	return take(&told.nlh, arg);
}

int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	int ret = 0;

	if (type == RTM_GETADDR) {
		host.dumped++;
		for (unsigned i = 0; i < host.owns_count && !ret; i++)
			ret = tell_own(&host.owns[i], take, arg);
		return ret ? ret : host.addresses_error;
	}
	for (unsigned i = 0; type == RTM_GETROUTE && i < host.blocks_count && !ret; i++)
		ret = tell_route(i, family, take, arg);
	return ret ? ret : host.routes_error;
}

int __wrap_socket(int family, int type, int protocol)
{
	int both[2];

	errno = host.socket_error[family];
	if (errno)
		return -1;
	if (family != AF_NETLINK)
		return __real_socket(AF_INET, type, protocol);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both), 0);
	if (host.news >= 0)
		close(host.news);
	host.news = both[1];
	return both[0];
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	if (address->sa_family != AF_NETLINK)
		return __real_bind(fd, address, len);
	errno = host.bind_error;
	return errno ? -1 : 0;
}

/* NULL: there is none. */
static const struct fake_way *way_of(const union rcm_dns_address *address)
{
	for (unsigned i = 0; i < host.ways_count; i++) {
		union rcm_dns_address to = fake_address(host.ways[i].to);

		if (to.sa.sa_family == AF_INET ? address->sa.sa_family == AF_INET &&
		    to.in.sin_addr.s_addr == address->in.sin_addr.s_addr : address->sa.sa_family == AF_INET6 &&
		    IN6_ARE_ADDR_EQUAL(&to.in6.sin6_addr, &address->in6.sin6_addr))
			return &host.ways[i];
	}
	return NULL;
}

/* As the kernel's: it is asked for DNS, and what is connected has to be disconnected before. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	bool v4 = address->sa_family == AF_INET;

	if (address->sa_family == AF_UNSPEC) {
		host.connected = false;
		return 0;
	}
	assert_false(host.connected);
	host.asked++;
	memcpy(&host.last, address, len);
	assert_int_equal(len, v4 ? sizeof(host.last.in) : sizeof(host.last.in6));
	assert_int_equal(ntohs(v4 ? host.last.in.sin_port : host.last.in6.sin6_port), 53);
	host.connected = fd >= 0 && way_of(&host.last);
	errno = ENETUNREACH;
	return host.connected ? 0 : -1;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *len)
{
	const struct fake_way *way = way_of(&host.last);
	union rcm_dns_address from;

	(void)fd;
	assert_true(host.connected);
	assert_int_equal(*len, host.last.sa.sa_family == AF_INET ? sizeof(from.in) : sizeof(from.in6));
	errno = ENOBUFS;
	if (!way->from)
		return -1;
	from = fake_address(way->from);
	memcpy(address, &from, *len);
	return 0;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	int now = host.reads[0];

	(void)fd;
	(void)buf;
	(void)len;
	assert_true(flags & MSG_DONTWAIT);
	host.read++;
	memmove(host.reads, host.reads + 1, sizeof(host.reads) - sizeof(*host.reads));
	if (now > 0)
		return now;
	errno = now ? -now : EAGAIN;
	return -1;
}

int fake_routes_begin(void **state)
{
	(void)state;
	host = (struct fake_routes){ .news = -1 };
	return 0;
}

int fake_routes_end(void **state)
{
	(void)state;
	if (host.news >= 0)
		close(host.news);
	return 0;
}

struct rcm_srcaddr *fake_routes_follow(void)
{
	struct rcm_srcaddr *srcaddr;

	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	rcm_srcaddr_follow(srcaddr);
	return srcaddr;
}

unsigned fake_routes_asked_for(struct rcm_srcaddr *srcaddr, const char *a, const char *b)
{
	union rcm_dns_address both[] = { fake_address(a), fake_address(b) };

	host.asked = 0;
	rcm_srcaddr_sort(srcaddr, both, 2);
	return host.asked;
}
