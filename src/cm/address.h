/* SPDX-License-Identifier: BSD-2-Clause */
/* From an address to a device and a route, by the kernel. */
#pragma once

#include <rdma/rdma_cma.h>

#include "cm/event.h"

struct rcm_id;

/* rdma_resolve_addr(); src may be NULL. 0, and ADDR_RESOLVED or ADDR_ERROR follows; -EINVAL; what the kernel
 * said. */
int rcm_address_resolve(struct rcm_id *id, const struct sockaddr *src, const struct sockaddr *dst,
			   int timeout_ms);

/* rdma_resolve_route(). 0, and ROUTE_RESOLVED or ROUTE_ERROR follows. Right after an answer of the SA it resolves the
 * address first. */
int rcm_address_resolve_route(struct rcm_id *id, int timeout_ms);

extern const struct rcm_event_ops rcm_address_resolved_ops;	/* ADDR_RESOLVED */
extern const struct rcm_event_ops rcm_address_error_ops;	/* ADDR_ERROR */
extern const struct rcm_event_ops rcm_address_route_ops;	/* ROUTE_RESOLVED */
