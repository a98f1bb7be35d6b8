/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of rdma_getaddrinfo(), which programs wrote for rdma-core's. */
#include "addr/gai.h"

#include <errno.h>
#include <netdb.h>
#include <rdma/rai.h>
#include <string.h>
#include <sys/socket.h>

#include "base/limits.h"

#define GID_FLAGS (RAI_FAMILY | RAI_NUMERICHOST)

/* The socket type of a queue pair type, or of a port space, alone; 0: any. */
static int gai_type_socket(int qp_type)
{
	switch (qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SOCK_STREAM;
	case IBV_QPT_UD:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

static int gai_space_socket(int port_space)
{
	switch (port_space) {
	case RDMA_PS_TCP:
		return SOCK_STREAM;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

static void gai_set_socket(struct rcm_hints *h, int type)
{
	h->socket_type = type;
	if (type == SOCK_DGRAM && !h->qp_type)
		h->qp_type = IBV_QPT_UD;
	if (type == SOCK_DGRAM && !h->port_space)
		h->port_space = RDMA_PS_UDP;
}

/* Ends with the code, without a question. */
static void gai_fail(struct rcm_gai *gai, int eai)
{
	gai->node = gai->service = NULL;
	gai->eai = eai;
}

static void gai_take_hints(struct rcm_gai *gai, const struct rdma_addrinfo *hints)
{
	int of_type = gai_type_socket(hints->ai_qp_type), of_space = gai_space_socket(hints->ai_port_space);
	struct rcm_hints *h = &gai->hints;

	h->flags &= RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_DNS;
	if (h->family == AF_IB && (h->flags & GID_FLAGS) != GID_FLAGS)
		h->family = AF_UNSPEC;
	if (h->family != AF_UNSPEC && !rcm_sockaddr_len(h->family))
		gai_fail(gai, EAI_FAMILY);
	else if (of_type && of_space && of_type != of_space)
		gai_fail(gai, EAI_SOCKTYPE);
	/* Of both, a service that has a port for each has the same, as a rule: rcm_gai_datagram() is for the others. */
	gai_set_socket(h, of_type ? of_type : of_space ? of_space : SOCK_STREAM);
}

/* "1.2.3.256": of IPv4 alone, the C library looks up no such name. */
static bool gai_node_is_digits(const char *node, int family)
{
	size_t len = strspn(node, "0123456789.");

	return family == AF_INET && *node != '.' && !node[len] && node[len - 1] != '.';
}

/* What can't be looked up is found missing only after the service. */
static void gai_take_node(struct rcm_gai *gai)
{
	const char *node = gai->node;
	union rcm_sockaddr number;
	int family = gai->hints.family;

	if (!*node || strlen(node) > RCM_NODE_MAX ||
	    ((gai->hints.flags & RAI_NUMERICHOST || gai_node_is_digits(node, family)) &&
	     !rcm_sockaddr_parse(node, family, &number))) {
		gai->node = NULL;
		gai->eai = EAI_NONAME;
	}
}

int rcm_gai_take(struct rcm_gai *gai, const struct rdma_addrinfo *hints)
{
	if (!gai->node && !gai->service && !hints)
		return -EINVAL;
	if (hints && hints->ai_flags & (RAI_SA | RAI_SRV))
		return rcm_hints_check(gai->node, gai->service, hints, &gai->hints);
	if (hints) {
		gai->hints.flags = hints->ai_flags;
		gai->hints.family = hints->ai_family;
		gai->hints.qp_type = hints->ai_qp_type;
		gai->hints.port_space = hints->ai_port_space;
		if (rcm_hints_source(hints, &gai->hints.src))
			return -EINVAL;
	}
	if (!gai->node && !gai->service)
		return rcm_hints_destination(hints, &gai->dst);
	if (hints)
		gai_take_hints(gai, hints);
	else
		gai_set_socket(&gai->hints, SOCK_STREAM);
	/* An empty text is the number 0 to getaddrinfo(). */
	if (gai->service && !*gai->service)
		gai->service = "0";
	if (gai->node)
		gai_take_node(gai);
	return 0;
}

bool rcm_gai_datagram(struct rcm_gai *gai)
{
	struct rcm_hints *h = &gai->hints;

	if (h->socket_type != SOCK_STREAM || gai_type_socket(h->qp_type) || gai_space_socket(h->port_space))
		return false;
	gai_set_socket(h, SOCK_DGRAM);
	return true;
}
