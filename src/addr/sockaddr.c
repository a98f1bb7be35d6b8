/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses of the three families: length, port, comparison, reading. */
#include "addr/sockaddr.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>

static_assert(sizeof(struct sockaddr_ib) == 48, "the kernel's sockaddr_ib");

/* Callers hand in addresses of any alignment and effective type. */
static union rcm_sockaddr sockaddr_load(const struct sockaddr *sa)
{
	union rcm_sockaddr u;

	rcm_sockaddr_copy(&u, sa, 0);
	return u;
}

socklen_t rcm_sockaddr_len(int family)
{
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

bool rcm_sockaddr_copy(union rcm_sockaddr *to, const struct sockaddr *from, socklen_t len)
{
	sa_family_t family = AF_UNSPEC;
	socklen_t need;

	if (!len || len >= sizeof(family))
		memcpy(&family, from, sizeof(family));
	need = rcm_sockaddr_len(family);
	memset(to, 0, sizeof(*to));
	if (!need || (len && len < need))
		return false;
	memcpy(to, from, need);
	return true;
}

uint16_t rcm_sockaddr_port(const struct sockaddr *sa)
{
	union rcm_sockaddr u = sockaddr_load(sa);

	switch (u.sa.sa_family) {
	case AF_INET:
		return u.in.sin_port;
	case AF_INET6:
		return u.in6.sin6_port;
	case AF_IB:
		return htons((uint16_t)be64toh(u.ib.sib_sid & u.ib.sib_sid_mask));
	default:
		return 0;
	}
}

void rcm_sockaddr_set_port(union rcm_sockaddr *sa, uint16_t port)
{
	uint64_t sid;

	switch (sa->sa.sa_family) {
	case AF_INET:
		sa->in.sin_port = port;
		break;
	case AF_INET6:
		sa->in6.sin6_port = port;
		break;
	case AF_IB:
		sid = be64toh(sa->ib.sib_sid) & ~UINT64_C(0xffff);
		sa->ib.sib_sid = htobe64(sid | ntohs(port));
		sa->ib.sib_sid_mask |= htobe64(0xffff);
		break;
	}
}

bool rcm_sockaddr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	union rcm_sockaddr x = sockaddr_load(a), y = sockaddr_load(b);

	if (x.sa.sa_family != y.sa.sa_family)
		return false;
	switch (x.sa.sa_family) {
	case AF_INET:
		return x.in.sin_addr.s_addr == y.in.sin_addr.s_addr && x.in.sin_port == y.in.sin_port;
	case AF_INET6:
		return !memcmp(&x.in6.sin6_addr, &y.in6.sin6_addr, sizeof(x.in6.sin6_addr)) &&
		       x.in6.sin6_port == y.in6.sin6_port && x.in6.sin6_scope_id == y.in6.sin6_scope_id;
	case AF_IB:
		return !ib_addr_cmp(&x.ib.sib_addr, &y.ib.sib_addr) && x.ib.sib_pkey == y.ib.sib_pkey &&
		       x.ib.sib_sid == y.ib.sib_sid && x.ib.sib_sid_mask == y.ib.sib_sid_mask;
	default:
		return false;
	}
}

void rcm_sockaddr_ib(union rcm_sockaddr *sa, const uint8_t gid[16], uint16_t pkey, uint64_t sid,
		     uint64_t sid_mask)
{
	memset(sa, 0, sizeof(*sa));
	sa->ib.sib_family = AF_IB;
	sa->ib.sib_pkey = htons(pkey);
	memcpy(&sa->ib.sib_addr, gid, 16);
	sa->ib.sib_sid = htobe64(sid);
	sa->ib.sib_sid_mask = htobe64(sid_mask);
}

/* An IPv6 address before its '%': what is wrong then is the scope. */
static bool sockaddr_scope_is_wrong(const char *text)
{
	const char *scope = strchr(text, '%');
	char host[INET6_ADDRSTRLEN];
	struct in6_addr addr;

	if (!scope || (size_t)(scope - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(scope - text));
	host[scope - text] = '\0';
	return inet_pton(AF_INET6, host, &addr) == 1;
}

static int sockaddr_parse_ip(const char *text, int family, union rcm_sockaddr *ret_sa)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST, .ai_family = family, .ai_socktype = SOCK_DGRAM,
	};
	struct addrinfo *list;

	switch (getaddrinfo(text, NULL, &hints, &list)) {
	case 0:
		rcm_sockaddr_copy(ret_sa, list->ai_addr, list->ai_addrlen);
		freeaddrinfo(list);
		return 1;
	case EAI_ADDRFAMILY:
		return -ENODATA;
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return sockaddr_scope_is_wrong(text) ? -ENOENT : 0;
	}
}

/* As an IPv6 address is written, with its scope. */
static int sockaddr_parse_gid(const char *text, union rcm_sockaddr *ret_sa)
{
	union rcm_sockaddr in6;
	int ret = sockaddr_parse_ip(text, AF_INET6, &in6);

	if (ret == 1) {
		rcm_sockaddr_ib(ret_sa, in6.in6.sin6_addr.s6_addr, 0xffff, 0, 0);
		ret_sa->ib.sib_scope_id = in6.in6.sin6_scope_id;
	}
	return ret == -ENODATA ? 0 : ret;
}

int rcm_sockaddr_parse(const char *text, int family, union rcm_sockaddr *ret_sa)
{
	/* Most nodes are names: inet_aton() takes only what begins with a digit, IPv6 has a colon. */
	if (!(*text >= '0' && *text <= '9') && !strchr(text, ':'))
		return 0;
	return family == AF_IB ? sockaddr_parse_gid(text, ret_sa) : sockaddr_parse_ip(text, family, ret_sa);
}
