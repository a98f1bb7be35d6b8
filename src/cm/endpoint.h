/* SPDX-License-Identifier: BSD-2-Clause */
/* Making an endpoint: an id prepared from a resolved address in one call. */
#pragma once

#include <rdma/rdma_cma.h>

struct rcm_id;

/* rdma_create_ep(). Blocks. */
int rcm_ep_new(const struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
	       struct rcm_id **ret_id);

/* Makes the QP of a request to a listening endpoint; 0 also where it is no endpoint, or one without a QP. */
int rcm_ep_create_qp(struct rcm_id *listener, struct rcm_id *id);
