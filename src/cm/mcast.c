/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#include "cm/mcast.h"

#include <errno.h>
#include <stdlib.h>

#include "addr/sockaddr.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/table.h"
#include "verbs/qp.h"

struct rcm_mcast {
	LIST_ENTRY(rcm_mcast) link;		/* mcasts of the id; all under its lock */
	union rcm_sockaddr addr;
	void *context;
	uint64_t uid;
	uint32_t handle;			/* the kernel's, of this membership */
	uint16_t flags;
	bool attached;
	union ibv_gid gid;			/* what the QP is attached to */
	uint16_t lid;
};

static void mcast_forget(struct rcm_id *id, struct rcm_mcast *mcast)
{
	rcm_lock_acquire(&id->lock);
	LIST_REMOVE(mcast, link);
	rcm_lock_release(&id->lock);
	rcm_table_remove(mcast->uid);
	free(mcast);
}

int rcm_mcast_join(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context)
{
	struct rcm_mcast *mcast = calloc(1, sizeof(*mcast));
	uint32_t handle;
	int ret;

	if (!mcast)
		return -ENOMEM;
	mcast->context = context;
	mcast->flags = flags;
	ret = rcm_sockaddr_copy(&mcast->addr, addr, 0) ? rcm_table_add(id, &mcast->uid) : -EAFNOSUPPORT;
	if (ret) {
		free(mcast);
		return ret;
	}
	/* Before the command: the event may come before it returns. */
	rcm_lock_acquire(&id->lock);
	LIST_INSERT_HEAD(&id->mcasts, mcast, link);
	rcm_lock_release(&id->lock);
	ret = rcm_kernel_give(id, rcm_ucma_join_mcast, mcast->uid, &mcast->addr.sa,
			      rcm_sockaddr_len(mcast->addr.sa.sa_family), flags, &handle);
	if (ret) {
		mcast_forget(id, mcast);
		return ret;
	}
	rcm_lock_acquire(&id->lock);
	mcast->handle = handle;
	rcm_lock_release(&id->lock);
	return 0;
}

/* The membership has a handle of its own. */
static int mcast_leave_in_kernel(const struct rcm_ucma *ucma, uint32_t handle, const struct rcm_mcast *mcast)
{
	uint32_t events;

	(void)handle;
	return rcm_ucma_leave_mcast(ucma, mcast->handle, &events);
}

int rcm_mcast_leave(struct rcm_id *id, const struct sockaddr *addr)
{
	struct rcm_mcast *mcast;
	int ret;

	rcm_lock_acquire(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		if (rcm_sockaddr_equal(&mcast->addr.sa, addr))
			break;
	rcm_lock_release(&id->lock);
	if (!mcast)
		return -EADDRNOTAVAIL;
	rcm_lock_acquire(&id->queues);
	if (mcast->attached && id->pub.qp)
		rcm_qp_detach_mcast(id->pub.qp, &mcast->gid, mcast->lid);
	rcm_lock_release(&id->queues);
	ret = rcm_kernel_give(id, mcast_leave_in_kernel, mcast);
	mcast_forget(id, mcast);
	return ret;
}

void rcm_mcast_forget_all(struct rcm_id *id)
{
	struct rcm_mcast *mcast;

	for (;;) {
		rcm_lock_acquire(&id->lock);
		mcast = LIST_FIRST(&id->mcasts);
		rcm_lock_release(&id->lock);
		if (!mcast)
			return;
		mcast_forget(id, mcast);
	}
}

static struct rcm_mcast *mcast_find_locked(struct rcm_id *id, uint64_t uid) RCM_REQUIRES(id->lock)
{
	struct rcm_mcast *mcast;

	rcm_lock_assert_held(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		if (mcast->uid == uid)
			return mcast;
	return NULL;
}

/* Attaches the QP to the group that was joined; true: it is to be remembered. */
static bool mcast_attach(struct rcm_event *event, uint16_t flags)
{
	const struct ibv_ah_attr *ah = &event->pub.param.ud.ah_attr;
	struct rcm_id *id = event->id;
	bool has_qp;
	int ret = 0;

	if (event->pub.event != RDMA_CM_EVENT_MULTICAST_JOIN || event->pub.status ||
	    flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return false;
	rcm_lock_acquire(&id->queues);
	has_qp = id->pub.qp;
	if (has_qp)
		ret = rcm_qp_attach_mcast(id->pub.qp, &ah->grh.dgid, ah->dlid);
	rcm_lock_release(&id->queues);
	if (ret)
		rcm_event_retype(event, RDMA_CM_EVENT_MULTICAST_ERROR, ret);
	return has_qp && !ret;
}

static int mcast_deliver(struct rcm_event *event)
{
	struct rdma_ud_param *ud = &event->pub.param.ud;
	uint64_t uid = rcm_kernel_event_of(event)->raw.uid;
	struct rcm_id *id = event->id;
	struct rcm_mcast *mcast;
	uint16_t flags = 0;
	bool attached;

	rcm_ucma_event_ud(&rcm_kernel_event_of(event)->raw, ud);
	rcm_lock_acquire(&id->lock);
	mcast = mcast_find_locked(id, uid);
	if (mcast) {
		ud->private_data = mcast->context;
		flags = mcast->flags;
	}
	rcm_lock_release(&id->lock);
	if (!mcast)
		return -ENOENT;
	attached = mcast_attach(event, flags);
	rcm_lock_acquire(&id->lock);
	mcast = mcast_find_locked(id, uid);
	if (mcast && attached) {
		mcast->attached = true;
		mcast->gid = ud->ah_attr.grh.dgid;
		mcast->lid = ud->ah_attr.dlid;
	}
	rcm_lock_release(&id->lock);
	return 0;
}

const struct rcm_event_ops rcm_mcast_ops = {
	.deliver = mcast_deliver,
	.free = rcm_kernel_event_free,
};
