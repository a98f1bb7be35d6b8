/* SPDX-License-Identifier: BSD-2-Clause */
/* The only maker and freer of struct rdma_addrinfo lists. */
#include "addr/build.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <rdma/rai.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"

/* A service's destination, behind which the rest of its record is found; of the SA, and of the DNS. */
struct place {
	union rcm_sockaddr addr;
	struct rcm_service_rest service;
};
struct srv_place {
	union rcm_sockaddr addr;
	struct rcm_srv_rest srv;
};

/* A list is one block: all entries, then two addresses for each, then the routes, then the places of services of one of
 * both kinds, then the canonical name. */
struct block {
	struct rdma_addrinfo *entries;
	union rcm_sockaddr *addresses;
	struct ibv_path_data *routes;
	struct place *places;
	struct srv_place *srv_places;
	char *canonname;
};

static int block_new(const struct rcm_result *results, unsigned count, int flags, size_t canon_len,
		     struct block *ret_block)
{
	size_t routes = 0, places = flags & RAI_SA ? count : 0, srv_places = flags & RAI_SRV ? count : 0, size;
	char *at;

	assert(count > 0);
	for (unsigned i = 0; i < count; i++)
		routes += results[i].routes;
	size = count * (sizeof(struct rdma_addrinfo) + 2 * sizeof(union rcm_sockaddr));
	size += routes * sizeof(struct ibv_path_data) + places * sizeof(struct place);
	size += srv_places * sizeof(struct srv_place);
	at = calloc(1, size + canon_len);
	if (!at)
		return -ENOMEM;
	ret_block->entries = (void *)at;
	ret_block->addresses = (void *)(ret_block->entries + count);
	ret_block->routes = (void *)(ret_block->addresses + 2 * (size_t)count);
	ret_block->places = (void *)(ret_block->routes + routes);
	ret_block->srv_places = (void *)(ret_block->places + places);
	ret_block->canonname = (void *)(ret_block->srv_places + srv_places);
	return 0;
}

/* Service ids of the IP port spaces are made of port space and port (IBTA annex A11). */
static void build_set_service(union rcm_sockaddr *sa, int port_space, uint16_t port)
{
	if (sa->sa.sa_family == AF_IB) {
		sa->ib.sib_sid = htobe64((uint64_t)(uint32_t)port_space << 16);
		sa->ib.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK);
		if (!port)
			return;
	}
	rcm_sockaddr_set_port(sa, htons(port));
}

static struct sockaddr *build_place(struct block *block, const union rcm_sockaddr *sa, socklen_t *ret_len)
{
	union rcm_sockaddr *to = block->addresses++;

	*to = *sa;
	*ret_len = rcm_sockaddr_len(sa->sa.sa_family);
	return &to->sa;
}

static struct sockaddr *build_place_service(struct block *block, const struct rcm_result *result, socklen_t *ret_len)
{
	struct place *to = block->places++;

	to->addr = result->dst;
	if (result->service)
		to->service = *result->service;
	*ret_len = rcm_sockaddr_len(result->dst.sa.sa_family);
	return &to->addr.sa;
}

/* Who it is that has the address is told with each: it may be another one each time. */
static void build_place_srv(struct rdma_addrinfo *ai, struct block *block, const union rcm_sockaddr *dst,
			    const struct rcm_srv_rest *srv)
{
	struct srv_place *to = block->srv_places++;

	to->addr = *dst;
	to->srv = *srv;
	ai->ai_flags = RAI_SRV;
	ai->ai_dst_addr = &to->addr.sa;
	ai->ai_dst_len = rcm_sockaddr_len(dst->sa.sa_family);
	ai->ai_dst_canonname = to->srv.target;
}

/* The source that fits: what the hints gave, else what the route said; of the SA the port that it was asked through. */
static const union rcm_sockaddr *build_source(const struct rcm_hints *hints, const struct rcm_result *result)
{
	bool fits = hints->src.sa.sa_family && hints->src.sa.sa_family == result->dst.sa.sa_family;

	if (fits && !(hints->flags & RAI_SA))
		return &hints->src;
	return result->src.sa.sa_family ? &result->src : NULL;
}

static void build_given(struct rdma_addrinfo *ai, const struct rcm_hints *hints, const struct rcm_result *result,
			struct block *block)
{
	ai->ai_flags = hints->flags;
	ai->ai_family = hints->family;
	ai->ai_qp_type = hints->qp_type;
	ai->ai_port_space = hints->port_space;
	if (result->dst.sa.sa_family)
		ai->ai_dst_addr = build_place(block, &result->dst, &ai->ai_dst_len);
	if (result->src.sa.sa_family)
		ai->ai_src_addr = build_place(block, &result->src, &ai->ai_src_len);
}

static void build_fill(struct rdma_addrinfo *ai, const struct rcm_hints *hints, uint16_t port,
		       const struct rcm_result *result, struct block *block)
{
	const union rcm_sockaddr *src = build_source(hints, result);
	union rcm_sockaddr dst = result->dst;

	if (result->as_given) {
		build_given(ai, hints, result, block);
		return;
	}
	ai->ai_flags = hints->flags & RAI_PASSIVE;
	ai->ai_family = dst.sa.sa_family;
	ai->ai_qp_type = hints->qp_type ? hints->qp_type : IBV_QPT_RC;
	ai->ai_port_space = hints->port_space ? hints->port_space : RDMA_PS_TCP;
	if (hints->flags & RAI_SA) {
		ai->ai_flags = RAI_SA;
		ai->ai_port_space = RDMA_PS_IB;
	} else {
		build_set_service(&dst, ai->ai_port_space, result->srv ? result->srv->port : port);
	}
	if (hints->flags & RAI_PASSIVE && !(hints->flags & RAI_SA)) {
		ai->ai_src_addr = build_place(block, &dst, &ai->ai_src_len);
		return;
	}
	if (hints->flags & RAI_SA)
		ai->ai_dst_addr = build_place_service(block, result, &ai->ai_dst_len);
	else if (result->srv)
		build_place_srv(ai, block, &dst, result->srv);
	else
		ai->ai_dst_addr = build_place(block, &dst, &ai->ai_dst_len);
	if (src)
		ai->ai_src_addr = build_place(block, src, &ai->ai_src_len);
	if (result->routes) {
		ai->ai_route = block->routes;
		ai->ai_route_len = result->routes * sizeof(*block->routes);
		memcpy(block->routes, result->route, ai->ai_route_len);
		block->routes += result->routes;
	}
}

int rcm_addrinfo_build(const struct rcm_hints *hints, uint16_t port, const struct rcm_result *results,
		       unsigned count, const char *canonname, struct rdma_addrinfo **ret_list)
{
	size_t canon_len;
	struct rdma_addrinfo *first;
	struct block block;
	int ret;

	if (hints->flags & RAI_SRV)
		canonname = NULL;
	canon_len = canonname ? strlen(canonname) + 1 : 0;
	ret = block_new(results, count, hints->flags, canon_len, &block);
	if (ret)
		return ret;
	first = block.entries;
	for (unsigned i = 0; i < count; i++) {
		build_fill(&first[i], hints, port, &results[i], &block);
		first[i].ai_next = i + 1 < count ? &first[i + 1] : NULL;
	}
	if (canonname) {
		memcpy(block.canonname, canonname, canon_len);
		if (hints->flags & RAI_PASSIVE && !(hints->flags & RAI_SA))
			first->ai_src_canonname = block.canonname;
		else
			first->ai_dst_canonname = block.canonname;
	}
	*ret_list = first;
	return 0;
}

/* Of what these lists have none but a service's entry has the flag: it would need a service to be asked for. */
const struct rcm_service_rest *rcm_addrinfo_service(const struct rdma_addrinfo *ai)
{
	if (!(ai->ai_flags & RAI_SA) || !ai->ai_dst_addr || ai->ai_dst_addr->sa_family != AF_IB)
		return NULL;
	return &rcm_container(ai->ai_dst_addr, struct place, addr)->service;
}

const struct rcm_srv_rest *rcm_addrinfo_srv(const struct rdma_addrinfo *ai)
{
	if (ai->ai_flags != RAI_SRV || !ai->ai_dst_addr)
		return NULL;
	return &rcm_container(ai->ai_dst_addr, struct srv_place, addr)->srv;
}

void rcm_addrinfo_free(struct rdma_addrinfo *list)
{
	free(list);
}
