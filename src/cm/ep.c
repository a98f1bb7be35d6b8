/* SPDX-License-Identifier: BSD-2-Clause */
/* What an endpoint keeps beside its id. */
#include "cm/ep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/id.h"

int rcm_ep_prepend_data(struct rcm_id *id, struct rdma_conn_param *param, uint8_t data[UINT8_MAX])
{
	const struct rcm_ep *ep;
	size_t len = param->private_data ? param->private_data_len : 0;

	rcm_lock_acquire(&id->lock);
	ep = id->ep;
	rcm_lock_release(&id->lock);
	if (!ep || !ep->data_len)
		return 0;
	if (ep->data_len + len > UINT8_MAX)
		return -EINVAL;
	memcpy(data, ep->data, ep->data_len);
	if (len)
		memcpy(data + ep->data_len, param->private_data, len);
	param->private_data = data;
	param->private_data_len = (uint8_t)(ep->data_len + len);
	return 0;
}
