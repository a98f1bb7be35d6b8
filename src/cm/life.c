/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a CM ID: made, bound, destroyed. */
#include "cm/life.h"

#include <errno.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "cm/attach.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/local.h"
#include "cm/lookup.h"
#include "cm/mcast.h"
#include "cm/service.h"
#include "cm/sync.h"

static bool life_knows_port_space(enum rdma_port_space ps)
{
	return ps == RDMA_PS_TCP || ps == RDMA_PS_UDP || ps == RDMA_PS_IB || ps == RDMA_PS_IPOIB;
}

/* On channel, or on one of its own, without a kernel's id yet. */
static int life_alloc(struct rcm_channel *channel, enum rdma_port_space ps, enum ibv_qp_type qp_type,
		      struct rcm_id **ret_id)
{
	bool sync = !channel;
	struct rcm_id *id;
	int ret;

	ret = sync ? rcm_channel_new_sync(&channel) : 0;
	if (ret)
		return ret;
	id = rcm_id_alloc(rcm_channel_ref(channel), ps, qp_type);
	if (id) {
		id->sync = sync;
		*ret_id = id;
		return 0;
	}
	rcm_channel_put(channel);
	if (sync)
		rcm_channel_close(channel);
	return -ENOMEM;
}

/* One that got no kernel's id. */
static void life_free(struct rcm_id *id) RCM_UNCHECKED
{
	if (id->sync)
		rcm_channel_close(id->channel);
	rcm_id_put(id);
}

int rcm_id_new(struct rcm_channel *channel, void *context, enum rdma_port_space ps,
	       enum ibv_qp_type qp_type, struct rcm_id **ret_id)
{
	struct rcm_id *id;
	int ret;

	if (!life_knows_port_space(ps))
		return -EINVAL;
	ret = life_alloc(channel, ps, qp_type, &id);
	if (ret)
		return ret;
	id->pub.context = context;
	ret = rcm_kernel_create(id);
	if (ret)
		life_free(id);
	else
		*ret_id = id;
	return ret;
}

int rcm_id_new_of_handle(struct rcm_channel *channel, uint32_t handle, struct rcm_channel *from,
			 enum rdma_port_space ps, enum ibv_qp_type qp_type, struct rcm_id **ret_id)
{
	struct rcm_id *id;
	int ret;

	ret = life_alloc(channel, ps, qp_type, &id);
	if (ret)
		return ret;
	ret = rcm_kernel_adopt(id, handle, from);
	if (ret)
		life_free(id);
	else
		*ret_id = id;
	return ret;
}

/* Whether calls or events have left anything with it; most ids that are destroyed have nothing. */
static bool life_holds_locked(struct rcm_id *id) RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	return id->lookup || id->found.answer || !LIST_EMPTY(&id->mcasts) || !LIST_EMPTY(&id->services) ||
	       id->device || id->pub.event || id->pub.route.path_rec;
}

/* What a destroy finds when it begins. */
struct life_end {
	struct rcm_channel *channel;		/* a dead id stays on it, and keeps it */
	bool sync;
	bool holds;
	bool idle;				/* no command is under way, and none will be */
};

/* False: it was dead before. */
static bool life_begin_end(struct rcm_id *id, struct life_end *ret_end)
{
	bool was_dead;

	rcm_lock_acquire(&id->lock);
	was_dead = id->dead;
	if (!was_dead) {
		id->dead = true;
		*ret_end = (struct life_end){
			.channel = id->channel, .sync = id->sync, .holds = life_holds_locked(id),
			.idle = rcm_id_is_idle_locked(id),
		};
		/* A migration that waits for another is off. */
		if (id->migrating)
			pthread_cond_broadcast(&id->changed);
	}
	rcm_lock_release(&id->lock);
	return !was_dead;
}

int rcm_id_destroy(struct rcm_id *id)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);
	struct life_end end;

	if (!life_begin_end(id, &end))
		return -EINVAL;
	if (end.sync)
		rcm_channel_stop(end.channel);
	/* Nothing of these comes to a dead id, nor a device or a route by an event that is delivered meanwhile. */
	if (end.holds) {
		rcm_lookup_abandon(id);
		rcm_service_end_all(id);
		rcm_mcast_stop_all(id);
	}
	rcm_kernel_end(id, end.channel, end.idle);
	rcm_channel_withdraw(end.channel, id, &rest);
	rcm_event_discard_all(&rest);
	if (end.holds || end.sync)
		rcm_sync_ack(id);
	rcm_id_wait_acked(id, 0);
	rcm_id_wait_acked(id, 1);
	if (end.holds) {
		rcm_detach(id);
		rcm_mcast_free_all(id);
	}
	if (end.sync)
		rcm_channel_close(end.channel);
	rcm_id_put(id);
	return 0;
}

static int life_bind_in_kernel(struct rcm_id *id, const union rcm_sockaddr *addr)
{
	int ret = rcm_kernel_give(id, rcm_ucma_bind, &addr->sa, rcm_sockaddr_len(addr->sa.sa_family));

	return ret ? ret : rcm_attach(id);
}

/* Without the kernel's rdma_cm there is one kind of address that can be bound: an InfiniBand port's GID. */
static int life_bind_here(struct rcm_id *id, union rcm_sockaddr *addr)
{
	struct rcm_sa_port port;
	int ret;

	if (addr->sa.sa_family != AF_IB)
		return -ENODEV;
	ret = rcm_local_bind(addr, id->pub.ps, &port);
	if (ret)
		return ret;
	rcm_lock_acquire(&id->lock);
	memcpy(&id->pub.route.addr.src_storage, addr, sizeof(*addr));
	id->pub.port_num = port.number;
	id->port = port;
	rcm_lock_release(&id->lock);
	return 0;
}

/* True, and the id is marked as bound, where it was not yet. */
static bool life_claim_bind(struct rcm_id *id)
{
	bool claimed;

	rcm_lock_acquire(&id->lock);
	claimed = !id->bound;
	id->bound = true;
	rcm_lock_release(&id->lock);
	return claimed;
}

int rcm_id_bind(struct rcm_id *id, const struct sockaddr *from)
{
	union rcm_sockaddr addr;
	int ret;

	if (!rcm_sockaddr_copy(&addr, from, 0))
		return -EINVAL;
	if (!life_claim_bind(id))
		return -EINVAL;
	ret = rcm_kernel_has(id) ? life_bind_in_kernel(id, &addr) : life_bind_here(id, &addr);
	if (ret) {
		rcm_lock_acquire(&id->lock);
		id->bound = false;
		rcm_lock_release(&id->lock);
	}
	return ret;
}
