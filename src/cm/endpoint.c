/* SPDX-License-Identifier: BSD-2-Clause */
/* Making an endpoint: an id prepared from a resolved address in one call. */
#include "cm/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "cm/address.h"
#include "cm/ep.h"
#include "cm/id.h"
#include "cm/life.h"
#include "cm/option.h"
#include "cm/queues.h"
#include "cm/sync.h"

enum { STEP_TIMEOUT_MS = 2000 };

/* The QP is of the id's type, whatever attr says; attr gets what the device gave, and stays as it is on failure. */
static int endpoint_create_qp(struct rcm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = { 0 };
	int ret;

	memcpy(&ex, attr, sizeof(*attr));
	ex.qp_type = id->pub.qp_type;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	ret = rcm_queues_create_qp(id, &ex);
	if (!ret)
		memcpy(attr, &ex, sizeof(*attr));
	return ret;
}

int rcm_ep_create_qp(struct rcm_id *listener, struct rcm_id *id)
{
	struct ibv_qp_init_attr attr;
	struct rcm_ep *ep;

	rcm_lock_acquire(&listener->lock);
	ep = listener->ep;
	rcm_lock_release(&listener->lock);
	if (!ep || !ep->has_attr)
		return 0;
	attr = ep->attr;
	return endpoint_create_qp(id, ep->pd, &attr);
}

static int endpoint_attach(struct rcm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
			   const struct ibv_qp_init_attr *attr)
{
	struct rcm_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return -ENOMEM;
	ep->pd = pd;
	if (attr) {
		ep->has_attr = true;
		ep->attr = *attr;
	}
	if (res->ai_connect && res->ai_connect_len <= sizeof(ep->data)) {
		memcpy(ep->data, res->ai_connect, res->ai_connect_len);
		ep->data_len = res->ai_connect_len;
	}
	rcm_lock_acquire(&id->lock);
	id->ep = ep;
	rcm_lock_release(&id->lock);
	return 0;
}

static int endpoint_bind(struct rcm_id *id, struct sockaddr *src, struct ibv_pd *pd)
{
	int ret = rcm_id_bind(id, src);

	/* The device's own is the id's since it has a device. */
	rcm_lock_acquire(&id->queues);
	rcm_lock_acquire(&id->lock);
	if (!ret && pd)
		id->pub.pd = pd;
	rcm_lock_release(&id->lock);
	rcm_lock_release(&id->queues);
	return ret;
}

static int endpoint_resolve_route(struct rcm_id *id, const struct rdma_addrinfo *res)
{
	int ret;

	if (res->ai_route_len)
		ret = rcm_option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, res->ai_route, res->ai_route_len);
	else
		ret = rcm_address_resolve_route(id, STEP_TIMEOUT_MS);
	return ret ? ret : rcm_sync_complete(id, RCM_SYNC_ROUTE);
}

static int endpoint_prepare(struct rcm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
			    struct ibv_qp_init_attr *attr)
{
	const struct sockaddr *src = res->ai_src_len ? res->ai_src_addr : NULL;
	int ret = rcm_address_resolve(id, src, res->ai_dst_addr, STEP_TIMEOUT_MS);

	if (!ret)
		ret = rcm_sync_complete(id, RCM_SYNC_ADDRESS);
	if (!ret)
		ret = endpoint_resolve_route(id, res);
	return ret || !attr ? ret : endpoint_create_qp(id, pd, attr);
}

static bool endpoint_address_fits(const struct sockaddr *address, socklen_t len)
{
	return address && len >= sizeof(address->sa_family) && len == rcm_sockaddr_len(address->sa_family);
}

/* A source of no length is none; where it is what to bind to, it has to be there. */
static bool endpoint_fits(const struct rdma_addrinfo *res)
{
	bool passive = res->ai_flags & RAI_PASSIVE;

	if ((passive || res->ai_src_len) && !endpoint_address_fits(res->ai_src_addr, res->ai_src_len))
		return false;
	return passive || endpoint_address_fits(res->ai_dst_addr, res->ai_dst_len);
}

int rcm_ep_new(const struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
	       struct rcm_id **ret_id)
{
	bool passive = res->ai_flags & RAI_PASSIVE;
	struct rcm_id *id;
	int ret;

	if (!endpoint_fits(res))
		return -EINVAL;
	ret = rcm_id_new(NULL, NULL, (enum rdma_port_space)res->ai_port_space,
			 (enum ibv_qp_type)res->ai_qp_type, &id);
	if (ret)
		return ret;
	ret = endpoint_attach(id, res, passive ? pd : NULL, passive ? attr : NULL);
	if (!ret)
		ret = passive ? endpoint_bind(id, res->ai_src_addr, pd) : endpoint_prepare(id, res, pd, attr);
	if (ret)
		rcm_id_destroy(id);
	else
		*ret_id = id;
	return ret;
}
