/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: an id made and prepared from a resolved address in one call. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>

struct rcm_ep;
struct rcm_id;

/* rdma_create_ep(). Blocks. */
int rcm_ep_new(const struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
	       struct rcm_id **ret_id);

/* Makes the QP of a request to a listening endpoint; 0 also where it is no endpoint, or one without a QP. */
int rcm_ep_create_qp(struct rcm_id *listener, struct rcm_id *id);

/* Puts the endpoint's connection data (ai_connect) before the caller's: param's private data may point to data then.
 * -EINVAL: too long. */
int rcm_ep_prepend_data(struct rcm_id *id, struct rdma_conn_param *param, uint8_t data[UINT8_MAX]);

void rcm_ep_free(struct rcm_ep *ep);		/* NULL: nothing */
