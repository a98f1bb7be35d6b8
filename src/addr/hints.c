/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the arguments of a resolution and turns them into plain values. */
#include "addr/hints.h"

#include <errno.h>
#include <rdma/rai.h>
#include <string.h>
#include <sys/socket.h>

#include "addr/service.h"
#include "base/limits.h"

#define KNOWN_FLAGS (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_SA | RAI_DNS | \
		     RAI_SRV)

static bool hints_family_is_known(int family)
{
	return family == AF_UNSPEC || rcm_sockaddr_len(family);
}

/* 1: an unreliable transport, 0: a reliable one, -EINVAL: none that a CM ID can have. */
static int hints_are_datagram(const struct rcm_hints *h)
{
	switch (h->qp_type) {
	case 0:
		return h->port_space == RDMA_PS_UDP || h->port_space == RDMA_PS_IPOIB;
	case IBV_QPT_UD:
		return 1;
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return -EINVAL;
	}
}

static bool hints_space_fits(int port_space, bool datagram)
{
	switch (port_space) {
	case 0:
	case RDMA_PS_IB:
		return true;
	case RDMA_PS_TCP:
		return !datagram;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return datagram;
	default:
		return false;
	}
}

/* Where one of queue pair type and port space is given, the other follows. */
static int hints_settle_transport(struct rcm_hints *h)
{
	int datagram = hints_are_datagram(h);

	if (datagram < 0)
		return datagram;
	if (!hints_space_fits(h->port_space, datagram))
		return -EINVAL;
	if (h->qp_type && !h->port_space)
		h->port_space = datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
	else if (h->port_space && !h->qp_type)
		h->qp_type = datagram ? IBV_QPT_UD : IBV_QPT_RC;
	if (h->qp_type)
		h->socket_type = datagram ? SOCK_DGRAM : SOCK_STREAM;
	return 0;
}

/* The kernel takes an address of no family for none, too. */
static int hints_address(const struct sockaddr *sa, socklen_t len, union rcm_sockaddr *ret_address)
{
	union rcm_sockaddr address = { 0 };
	sa_family_t family = AF_MAX;

	if (len && !sa)
		return -EINVAL;
	if (len >= sizeof(family))
		memcpy(&family, sa, sizeof(family));
	if (len && family != AF_UNSPEC && !rcm_sockaddr_copy(&address, sa, len))
		return -EINVAL;
	*ret_address = address;
	return 0;
}

int rcm_hints_source(const struct rdma_addrinfo *hints, union rcm_sockaddr *ret_src)
{
	return hints_address(hints->ai_src_addr, hints->ai_src_len, ret_src);
}

int rcm_hints_destination(const struct rdma_addrinfo *hints, union rcm_sockaddr *ret_dst)
{
	return hints_address(hints->ai_dst_addr, hints->ai_dst_len, ret_dst);
}

static int hints_take(const struct rdma_addrinfo *hints, struct rcm_hints *h)
{
	if (hints->ai_flags & ~KNOWN_FLAGS || !hints_family_is_known(hints->ai_family))
		return -EINVAL;
	h->flags = hints->ai_flags;
	h->family = hints->ai_family;
	h->qp_type = hints->ai_qp_type;
	h->port_space = hints->ai_port_space;
	if (rcm_hints_source(hints, &h->src))
		return -EINVAL;
	return hints_settle_transport(h);
}

static int hints_check_sa(const char *node, const char *service, struct rcm_hints *h)
{
	int ret;

	if (h->flags & (RAI_DNS | RAI_SRV) || node)
		return -ENOTSUP;
	if (!service || !*service)
		return -EINVAL;
	ret = rcm_service_id(service, &h->service_id);
	if (ret < 0)
		return ret;
	h->by_id = ret;
	return !ret && strlen(service) > RCM_SERVICE_NAME_MAX ? -ENAMETOOLONG : 0;
}

static int hints_check_name(const char *node, const char *service, const struct rcm_hints *h)
{
	union rcm_sockaddr number;

	if ((node && !*node) || (service && !*service))
		return -EINVAL;
	if (!node)
		return 0;
	if (strlen(node) > RCM_NODE_MAX)
		return -ENAMETOOLONG;
	if (h->flags & RAI_NUMERICHOST && !rcm_sockaddr_parse(node, h->family, &number))
		return -EINVAL;
	return 0;
}

/* What node and service make together is rcm_owner_make()'s. */
static int hints_check_srv(const char *node, const struct rcm_hints *h)
{
	if (!node || h->flags & (RAI_PASSIVE | RAI_NUMERICHOST) || h->family == AF_IB)
		return -EINVAL;
	return 0;
}

int rcm_hints_check(const char *node, const char *service, const struct rdma_addrinfo *hints,
		    struct rcm_hints *ret_hints)
{
	struct rcm_hints h = { .family = AF_UNSPEC };
	int ret = 0;

	if (!node && !service && !hints)
		return -EINVAL;
	if (hints)
		ret = hints_take(hints, &h);
	if (!ret)
		ret = h.flags & RAI_SA ? hints_check_sa(node, service, &h) : hints_check_name(node, service, &h);
	if (!ret && h.flags & RAI_SRV)
		ret = hints_check_srv(node, &h);
	if (!ret)
		*ret_hints = h;
	return ret;
}
