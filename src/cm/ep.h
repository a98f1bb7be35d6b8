/* SPDX-License-Identifier: BSD-2-Clause */
/* What an endpoint keeps beside its id: for the QPs of requests, and the data of its connection. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rcm_id;

/* Constant once its id has it. */
struct rcm_ep {
	struct ibv_pd *pd;			/* passive: for the QPs of requests; NULL: the device's */
	bool has_attr;
	struct ibv_qp_init_attr attr;
	size_t data_len;			/* active: connection data */
	uint8_t data[UINT8_MAX];
};

/* Puts the endpoint's connection data (ai_connect) before the caller's: param's private data may point to data then.
 * -EINVAL: too long. */
int rcm_ep_prepend_data(struct rcm_id *id, struct rdma_conn_param *param, uint8_t data[UINT8_MAX]);
