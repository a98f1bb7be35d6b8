/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the arguments of a resolution and turns them into plain values. */
#include "addr/hints.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "addr/service.h"
#include "base/limits.h"

#define KNOWN_FLAGS (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_SA | RAI_DNS)

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
	return 0;
}

static int hints_take(const struct rdma_addrinfo *hints, struct rcm_hints *h)
{
	if (hints->ai_flags & ~KNOWN_FLAGS || !hints_family_is_known(hints->ai_family))
		return -EINVAL;
	h->flags = hints->ai_flags;
	h->family = hints->ai_family;
	h->qp_type = hints->ai_qp_type;
	h->port_space = hints->ai_port_space;
	if (hints->ai_src_len) {
		if (!hints->ai_src_addr ||
		    !rcm_sockaddr_copy(&h->src, hints->ai_src_addr, hints->ai_src_len))
			return -EINVAL;
	}
	return hints_settle_transport(h);
}

static int hints_check_sa(const char *node, const char *service, struct rcm_hints *h)
{
	int ret;

	if (h->flags & RAI_DNS || node)
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
	if (!ret)
		*ret_hints = h;
	return ret;
}

int rcm_hints_eai(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	struct rcm_hints h = { 0 };
	union rcm_sockaddr number;
	int datagram;

	if (!hints || hints->ai_flags & (~KNOWN_FLAGS | RAI_SA) || !hints_family_is_known(hints->ai_family))
		return 0;
	h.qp_type = hints->ai_qp_type;
	h.port_space = hints->ai_port_space;
	datagram = hints_are_datagram(&h);
	/* A space that fits neither kind is one that nobody knows. */
	if ((node || service) && datagram >= 0 && !hints_space_fits(h.port_space, datagram) &&
	    hints_space_fits(h.port_space, !datagram))
		return EAI_SOCKTYPE;
	if (hints->ai_flags & RAI_NUMERICHOST && node && *node && strlen(node) <= RCM_NODE_MAX &&
	    !rcm_sockaddr_parse(node, hints->ai_family, &number))
		return EAI_NONAME;
	return 0;
}

int rcm_hints_destination(const struct rdma_addrinfo *hints, union rcm_sockaddr *ret_dst)
{
	union rcm_sockaddr dst = { 0 };

	if (hints->ai_dst_len &&
	    (!hints->ai_dst_addr || !rcm_sockaddr_copy(&dst, hints->ai_dst_addr, hints->ai_dst_len)))
		return -EINVAL;
	*ret_dst = dst;
	return 0;
}
