/* SPDX-License-Identifier: BSD-2-Clause */
/* Who handles which event of the kernel's. */
#include "cm/handlers.h"

#include <errno.h>

#include "cm/address.h"
#include "cm/conn.h"
#include "cm/listen.h"
#include "cm/mcast.h"

static int handlers_deliver_to_nobody(struct rcm_event *event)
{
	(void)event;
	return -ENOSYS;
}

static const struct rcm_event_ops unhandled_ops = {
	.deliver = handlers_deliver_to_nobody,
	.free = rcm_kernel_event_free,
};

/* A line for each event of the kernel's that reaches the application. */
static const struct rcm_event_ops *const handlers[RCM_EVENT_TYPES] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = &rcm_address_resolved_ops,
	[RDMA_CM_EVENT_ADDR_ERROR] = &rcm_address_error_ops,
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = &rcm_address_route_ops,
	[RDMA_CM_EVENT_ROUTE_ERROR] = &rcm_conn_plain_ops,
	[RDMA_CM_EVENT_CONNECT_REQUEST] = &rcm_listen_request_ops,
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = &rcm_conn_response_ops,
	[RDMA_CM_EVENT_CONNECT_ERROR] = &rcm_conn_plain_ops,
	[RDMA_CM_EVENT_UNREACHABLE] = &rcm_conn_plain_ops,
	[RDMA_CM_EVENT_REJECTED] = &rcm_conn_rejected_ops,
	[RDMA_CM_EVENT_ESTABLISHED] = &rcm_conn_established_ops,
	[RDMA_CM_EVENT_DISCONNECTED] = &rcm_conn_disconnected_ops,
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = &rcm_conn_removal_ops,
	[RDMA_CM_EVENT_MULTICAST_JOIN] = &rcm_mcast_ops,
	[RDMA_CM_EVENT_MULTICAST_ERROR] = &rcm_mcast_ops,
	[RDMA_CM_EVENT_ADDR_CHANGE] = &rcm_conn_plain_ops,
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = &rcm_conn_plain_ops,
};

const struct rcm_event_ops *rcm_event_kernel_ops(enum rdma_cm_event_type type)
{
	if ((unsigned)type < RCM_EVENT_TYPES && handlers[type])
		return handlers[type];
	return &unhandled_ops;
}
