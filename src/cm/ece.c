/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment. */
#include "cm/ece.h"

#include <errno.h>

#include "cm/id.h"
#include "verbs/qp.h"

int rcm_ece_set_local(struct rcm_id *id, const struct ibv_ece *ece)
{
	if (id->pub.qp)
		return -EINVAL;
	rcm_lock_acquire(&id->lock);
	id->conn.local_ece = (struct rcm_ucma_ece){ ece->vendor_id, ece->options };
	rcm_lock_release(&id->lock);
	return 0;
}

static struct rcm_ucma_ece remote(struct rcm_id *id)
{
	struct rcm_ucma_ece ece;

	rcm_lock_acquire(&id->lock);
	ece = id->conn.remote_ece;
	rcm_lock_release(&id->lock);
	return ece;
}

int rcm_ece_get_remote(struct rcm_id *id, struct ibv_ece *ret_ece)
{
	struct rcm_ucma_ece ece = remote(id);

	if (id->pub.qp)
		return -EINVAL;
	*ret_ece = (struct ibv_ece){ .vendor_id = ece.vendor_id, .options = ece.attr_mod };
	return 0;
}

int rcm_ece_to_offer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece)
{
	struct ibv_ece ece;
	int ret;

	if (id->pub.qp) {
		ret = rcm_qp_query_ece(id->pub.qp, &ece);
		if (!ret)
			*ret_ece = (struct rcm_ucma_ece){ ece.vendor_id, ece.options };
		return ret;
	}
	rcm_lock_acquire(&id->lock);
	*ret_ece = id->conn.local_ece;
	rcm_lock_release(&id->lock);
	return 0;
}

void rcm_ece_keep_remote(struct rcm_id *id, struct rcm_ucma_ece ece)
{
	rcm_lock_acquire(&id->lock);
	id->conn.remote_ece = ece;
	rcm_lock_release(&id->lock);
}

int rcm_ece_apply_remote(struct rcm_id *id)
{
	struct rcm_ucma_ece from = remote(id);
	struct ibv_ece ece = { .vendor_id = from.vendor_id, .options = from.attr_mod };

	/* No vendor: the peer, or the kernel between, doesn't know of these options. */
	return from.vendor_id ? rcm_qp_set_ece(id->pub.qp, &ece) : 0;
}
