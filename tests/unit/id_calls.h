/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls on an id, with arguments that do. */
#pragma once

#include <rdma/rdma_cma.h>

static struct rdma_cm_id *id;
static struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { 0x020200c0 } };
static struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr = { 0x010000ef } };

static inline int call_resolve_addr(void)
{
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 100);
}

static inline int call_resolve_route(void)
{
	return rdma_resolve_route(id, 100);
}

static inline int call_listen(void)
{
	return rdma_listen(id, 1);
}

static inline int call_establish(void)
{
	return rdma_establish(id);
}

static inline int call_reject(void)
{
	return rdma_reject(id, NULL, 0);
}

static inline int call_reject_ece(void)
{
	return rdma_reject_ece(id, NULL, 0);
}

static inline int call_disconnect(void)
{
	return rdma_disconnect(id);
}

static inline int call_notify(void)
{
	return rdma_notify(id, IBV_EVENT_COMM_EST);
}

static inline int call_set_option(void)
{
	uint8_t tos = 8;

	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
}

static inline int call_init_qp_attr(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	return rdma_init_qp_attr(id, &attr, &mask);
}

static inline int call_join_multicast(void)
{
	return rdma_join_multicast(id, (struct sockaddr *)&group, NULL);
}
