/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#include "cm/mcast.h"

#include <errno.h>
#include <stdlib.h>

#include "addr/sockaddr.h"
#include "base/fork.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/sync.h"
#include "cm/table.h"
#include "verbs/qp.h"

/* Under the lock of the id, but for what is said to be under its queues; it goes with a leave, or with the id. */
struct rcm_mcast {
	LIST_ENTRY(rcm_mcast) link;		/* mcasts of the id */
	union rcm_sockaddr addr;
	void *context;
	uint64_t uid;
	uint32_t handle;			/* the kernel's, of this membership */
	uint16_t flags;
	bool joined;				/* and so has handle */
	bool leaving;				/* nobody's any more but the leaver's, who waits for unacked */
	bool awaited;				/* rcm_mcast_join_sync() waits for its outcome */
	unsigned unacked;			/* events of it that were delivered and not acked */
	bool attached;				/* the QP is, to gid and lid; these three are under the id's queues */
	union ibv_gid gid;
	uint16_t lid;
};

/* One that is left is found by nobody. */
static struct rcm_mcast *mcast_find_locked(struct rcm_id *id, uint64_t uid) RCM_REQUIRES(id->lock)
{
	struct rcm_mcast *mcast;

	rcm_lock_assert_held(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		if (mcast->uid == uid && !mcast->leaving)
			return mcast;
	return NULL;
}

static int mcast_new(struct rcm_id *id, const struct sockaddr *addr, struct rcm_mcast **ret_mcast)
{
	struct rcm_mcast *mcast = calloc(1, sizeof(*mcast));
	int ret;

	if (!mcast)
		return -ENOMEM;
	ret = rcm_sockaddr_copy(&mcast->addr, addr, 0) ? rcm_table_add(&id->entry, &mcast->uid) : -EINVAL;
	if (ret)
		free(mcast);
	else
		*ret_mcast = mcast;
	return ret;
}

/* The kernel's answer to JOIN_MCAST; an id that was destroyed meanwhile has taken its memberships along. */
static void mcast_end_join(struct rcm_id *id, uint64_t uid, uint32_t handle, int status)
{
	struct rcm_mcast *mcast;

	rcm_lock_acquire(&id->lock);
	mcast = mcast_find_locked(id, uid);
	if (mcast && status)
		LIST_REMOVE(mcast, link);
	if (mcast && !status) {
		mcast->handle = handle;
		mcast->joined = true;
		mcast = NULL;
	}
	rcm_lock_release(&id->lock);
	if (status)
		rcm_table_remove(uid);
	free(mcast);
}

static int mcast_start_join(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context,
			    bool awaited)
{
	struct rcm_mcast *mcast;
	uint32_t handle;
	uint64_t uid;
	int ret;

	ret = mcast_new(id, addr, &mcast);
	if (ret)
		return ret;
	mcast->context = context;
	mcast->flags = flags;
	mcast->awaited = awaited;
	uid = mcast->uid;
	/* Before the command: the event may come before it returns. */
	rcm_lock_acquire(&id->lock);
	id->laden = true;
	LIST_INSERT_HEAD(&id->mcasts, mcast, link);
	rcm_lock_release(&id->lock);
	ret = rcm_kernel_give(id, rcm_ucma_join_mcast, uid, &mcast->addr.sa,
			      rcm_sockaddr_len(mcast->addr.sa.sa_family), flags, &handle);
	mcast_end_join(id, uid, handle, ret);
	return ret;
}

int rcm_mcast_join(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context)
{
	return mcast_start_join(id, addr, flags, context, false);
}

/* One call at a time waits. */
static void mcast_end_wait(struct rcm_id *id)
{
	struct rcm_mcast *mcast;

	rcm_lock_acquire(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		mcast->awaited = false;
	rcm_lock_broadcast(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
}

int rcm_mcast_join_sync(struct rcm_id *id, const struct sockaddr *addr, uint16_t flags, void *context)
{
	int ret = mcast_start_join(id, addr, flags, context, true);

	if (!ret)
		ret = rcm_sync_complete(id, RCM_SYNC_MCAST);
	mcast_end_wait(id);
	return ret;
}

/* Takes a membership out of everyone's sight but the caller's, who ends it. */
static struct rcm_mcast *mcast_claim(struct rcm_id *id, const struct sockaddr *addr, uint64_t *ret_uid,
				     uint32_t *ret_handle)
{
	struct rcm_mcast *mcast;

	rcm_lock_acquire(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		if (mcast->joined && !mcast->leaving && rcm_sockaddr_equal(&mcast->addr.sa, addr))
			break;
	if (mcast) {
		mcast->leaving = true;
		*ret_uid = mcast->uid;
		*ret_handle = mcast->handle;
	}
	rcm_lock_release(&id->lock);
	return mcast;
}

static void mcast_detach(struct rcm_id *id, struct rcm_mcast *mcast)
{
	rcm_lock_acquire(&id->queues);
	if (mcast->attached && id->pub.qp)
		rcm_qp_detach_mcast(id->pub.qp, &mcast->gid, mcast->lid);
	mcast->attached = false;
	rcm_lock_release(&id->queues);
}

static void mcast_wait_acked(struct rcm_id *id, struct rcm_mcast *mcast)
{
	rcm_lock_acquire(&id->lock);
	while (mcast->unacked)
		rcm_lock_wait(&id->lock, &id->changed);
	LIST_REMOVE(mcast, link);
	rcm_lock_release(&id->lock);
	free(mcast);
}

/* The id's own channel, with a reference, where a call waits there for an outcome that won't come; or NULL. */
static struct rcm_channel *mcast_waited_on(struct rcm_id *id, const struct rcm_mcast *mcast)
{
	struct rcm_channel *channel = NULL;

	rcm_lock_acquire(&id->lock);
	if (mcast->awaited && id->sync)
		channel = rcm_channel_ref(id->channel);
	rcm_lock_release(&id->lock);
	return channel;
}

/* The channel serves the id's next calls, unless who destroys or moves the id has stopped it, too. */
static void mcast_resume(struct rcm_id *id, const struct rcm_mcast *mcast, struct rcm_channel *channel)
{
	rcm_lock_acquire(&id->lock);
	while (mcast->awaited)
		rcm_lock_wait(&id->lock, &id->changed);
	if (!id->dead && !id->migrating && id->channel == channel)
		rcm_channel_resume(channel);
	rcm_lock_release(&id->lock);
}

/* Ends the rdma_join_multicast() that waits for this membership. */
static void mcast_end_waiting(struct rcm_id *id, const struct rcm_mcast *mcast)
{
	struct rcm_channel *channel = mcast_waited_on(id, mcast);

	if (!channel)
		return;
	rcm_channel_stop(channel);
	mcast_resume(id, mcast, channel);
	rcm_channel_put(channel);
}

int rcm_mcast_leave(struct rcm_id *id, const struct sockaddr *addr)
{
	struct rcm_mcast *mcast;
	uint32_t handle;
	uint64_t uid;
	int ret;

	if (!rcm_sockaddr_len(addr->sa_family))
		return -EINVAL;
	mcast = mcast_claim(id, addr, &uid, &handle);
	if (!mcast)
		return -EADDRNOTAVAIL;
	rcm_table_remove(uid);
	mcast_detach(id, mcast);
	ret = rcm_kernel_leave_mcast(id, handle);
	mcast_end_waiting(id, mcast);
	/* The event of a synchronous join is the library's to ack. */
	rcm_sync_ack(id);
	mcast_wait_acked(id, mcast);
	return ret;
}

void rcm_mcast_stop_all(struct rcm_id *id)
{
	struct rcm_mcast *mcast;

	rcm_lock_acquire(&id->lock);
	LIST_FOREACH(mcast, &id->mcasts, link)
		rcm_table_remove(mcast->uid);
	rcm_lock_release(&id->lock);
}

void rcm_mcast_free_all(struct rcm_id *id)
{
	struct rcm_mcast *mcast, *next;

	rcm_lock_acquire(&id->lock);
	for (mcast = LIST_FIRST(&id->mcasts); mcast; mcast = next) {
		next = LIST_NEXT(mcast, link);
		if (mcast->leaving)
			continue;
		LIST_REMOVE(mcast, link);
		free(mcast);
	}
	rcm_lock_release(&id->lock);
}

/* Who leaves one isn't here. */
void rcm_mcast_renew_all(struct rcm_id *id, bool whole) RCM_UNCHECKED
{
	struct rcm_mcast *mcast, *next;

	if (!whole)
		LIST_INIT(&id->mcasts);
	for (mcast = LIST_FIRST(&id->mcasts); mcast; mcast = next) {
		next = LIST_NEXT(mcast, link);
		mcast->unacked = 0;
		mcast->awaited = false;
		if (mcast->leaving)
			LIST_REMOVE(mcast, link);
	}
}

/* Attaches the QP to the group that was joined, unless it is being left. */
static int mcast_attach(struct rcm_id *id, struct rcm_mcast *mcast, const struct ibv_ah_attr *ah)
{
	bool wanted;
	int ret = 0;

	rcm_lock_acquire(&id->queues);
	rcm_lock_acquire(&id->lock);
	wanted = !mcast->leaving && id->pub.qp;
	rcm_lock_release(&id->lock);
	if (wanted)
		ret = rcm_qp_attach_mcast(id->pub.qp, &ah->grh.dgid, ah->dlid);
	if (wanted && !ret) {
		mcast->attached = true;
		mcast->gid = ah->grh.dgid;
		mcast->lid = ah->dlid;
	}
	rcm_lock_release(&id->queues);
	return ret;
}

static int mcast_deliver(struct rcm_event *event)
{
	struct rcm_kernel_event *kernel = rcm_kernel_event_of(event);
	struct rdma_ud_param *ud = &event->pub.param.ud;
	struct rcm_id *id = event->id;
	struct rcm_mcast *mcast;
	uint16_t flags = 0;
	int ret = 0;

	rcm_ucma_event_ud(&kernel->raw, ud);
	rcm_lock_acquire(&id->lock);
	mcast = mcast_find_locked(id, kernel->raw.uid);
	if (mcast) {
		mcast->unacked++;
		kernel->mcast = mcast;
		ud->private_data = mcast->context;
		flags = mcast->flags;
	}
	rcm_lock_release(&id->lock);
	if (!mcast)
		return -ENOENT;
	if (event->pub.event == RDMA_CM_EVENT_MULTICAST_JOIN && !event->pub.status &&
	    flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		ret = mcast_attach(id, mcast, &ud->ah_attr);
	if (ret)
		rcm_event_retype(event, RDMA_CM_EVENT_MULTICAST_ERROR, ret);
	return 0;
}

/* The last one lets go whoever leaves the group. */
static void mcast_free_event(struct rcm_event *event)
{
	struct rcm_mcast *mcast = rcm_kernel_event_of(event)->mcast;
	struct rcm_id *id = event->id;

	if (mcast && event->process == rcm_fork_generation) {
		rcm_lock_acquire(&id->lock);
		if (!--mcast->unacked)
			rcm_lock_broadcast(&id->lock, &id->changed);
		rcm_lock_release(&id->lock);
	}
	rcm_kernel_event_free(event);
}

const struct rcm_event_ops rcm_mcast_ops = {
	.deliver = mcast_deliver,
	.free = mcast_free_event,
};
