/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment. */
#include "cm/ece.h"

#include <errno.h>

#include "cm/id.h"
#include "verbs/qp.h"

static struct rcm_ucma_ece ece_remote(struct rcm_id *id)
{
	struct rcm_ucma_ece ece;

	rcm_lock_acquire(&id->lock);
	ece = id->conn.remote_ece;
	rcm_lock_release(&id->lock);
	return ece;
}

int rcm_ece_set_local(struct rcm_id *id, const struct ibv_ece *ece)
{
	int ret = 0;

	if (!ece->vendor_id || ece->comp_mask)
		return -EINVAL;
	rcm_lock_acquire(&id->queues);
	rcm_lock_acquire(&id->lock);
	if (id->pub.qp)
		ret = -EINVAL;
	else
		id->conn.local_ece = (struct rcm_ucma_ece){ ece->vendor_id, ece->options };
	rcm_lock_release(&id->lock);
	rcm_lock_release(&id->queues);
	return ret;
}

int rcm_ece_get_remote(struct rcm_id *id, struct ibv_ece *ret_ece)
{
	struct rcm_ucma_ece ece = ece_remote(id);
	bool has_qp;

	rcm_lock_acquire(&id->queues);
	has_qp = id->pub.qp;
	rcm_lock_release(&id->queues);
	if (has_qp)
		return -EINVAL;
	*ret_ece = (struct ibv_ece){ .vendor_id = ece.vendor_id, .options = ece.attr_mod };
	return 0;
}

static struct rcm_ucma_ece ece_local(struct rcm_id *id)
{
	struct rcm_ucma_ece ece;

	rcm_lock_acquire(&id->lock);
	ece = id->conn.local_ece;
	rcm_lock_release(&id->lock);
	return ece;
}

static int ece_to_offer_locked(struct rcm_id *id, struct rcm_ucma_ece *ret_ece) RCM_REQUIRES(id->queues)
{
	struct ibv_ece ece;
	int ret;

	rcm_lock_assert_held(&id->queues);
	if (!id->pub.qp) {
		*ret_ece = ece_local(id);
		return 0;
	}
	ret = rcm_qp_query_ece(id->pub.qp, &ece);
	if (!ret)
		*ret_ece = (struct rcm_ucma_ece){ ece.vendor_id, ece.options };
	return ret;
}

int rcm_ece_to_offer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece)
{
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = ece_to_offer_locked(id, ret_ece);
	rcm_lock_release(&id->queues);
	return ret;
}

int rcm_ece_to_answer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece)
{
	struct rcm_ucma_ece asked = ece_remote(id), own = { 0 };
	int ret = 0;

	if (asked.vendor_id)
		ret = rcm_ece_to_offer(id, &own);
	if (ret)
		return ret;
	*ret_ece = (struct rcm_ucma_ece){ asked.vendor_id, own.attr_mod };
	return 0;
}

void rcm_ece_keep_remote(struct rcm_id *id, struct rcm_ucma_ece ece)
{
	rcm_lock_acquire(&id->lock);
	id->conn.remote_ece = ece;
	rcm_lock_release(&id->lock);
}

/* A device refuses another maker's options: of those it is to use none. */
static int ece_use_locked(struct rcm_id *id, struct rcm_ucma_ece peers) RCM_REQUIRES(id->queues)
{
	struct ibv_ece ece;
	int ret;

	rcm_lock_assert_held(&id->queues);
	if (!id->pub.qp)
		return -EINVAL;
	ret = rcm_qp_query_ece(id->pub.qp, &ece);
	if (ret || !ece.vendor_id)
		return ret;
	ece.options = peers.vendor_id == ece.vendor_id ? peers.attr_mod : 0;
	ece.comp_mask = 0;
	return rcm_qp_set_ece(id->pub.qp, &ece);
}

int rcm_ece_use_request(struct rcm_id *id)
{
	struct rcm_ucma_ece asked = ece_remote(id);
	int ret;

	if (!asked.vendor_id)
		return 0;
	rcm_lock_acquire(&id->queues);
	ret = ece_use_locked(id, asked);
	rcm_lock_release(&id->queues);
	return ret;
}

int rcm_ece_use_response(struct rcm_id *id)
{
	struct rcm_ucma_ece answered = ece_remote(id), own;
	int ret;

	rcm_lock_acquire(&id->queues);
	ret = ece_to_offer_locked(id, &own);
	if (!ret && answered.vendor_id && answered.vendor_id != own.vendor_id)
		ret = -EINVAL;
	if (!ret)
		ret = ece_use_locked(id, answered);
	rcm_lock_release(&id->queues);
	return ret;
}
