/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a CM ID: made, bound, destroyed. */
#include "cm/life.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "base/fork.h"
#include "cm/attach.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/local.h"
#include "cm/lookup.h"
#include "cm/mcast.h"
#include "cm/service.h"
#include "cm/sync.h"
#include "cm/wait.h"

static bool life_knows_port_space(enum rdma_port_space ps)
{
	return ps == RDMA_PS_TCP || ps == RDMA_PS_UDP || ps == RDMA_PS_IB || ps == RDMA_PS_IPOIB;
}

static struct rcm_id *life_alloc_on(struct rcm_channel *channel, enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
	struct rcm_id *id = rcm_id_alloc(channel, ps, qp_type);

	if (!id)
		return NULL;
	rcm_channel_ref(channel);
	if (!rcm_table_enter(&id->entry))
		return id;
	rcm_id_put(id);
	return NULL;
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
	id = life_alloc_on(channel, ps, qp_type);
	if (id) {
		id->sync = sync;
		*ret_id = id;
		return 0;
	}
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

/* What a destroy finds when it begins: nothing comes to a dead id, nor a device or a route by an event that is being
 * delivered. */
struct life_end {
	struct rcm_channel *channel;		/* a dead id stays on it, and keeps it */
	struct rdma_cm_event *event;		/* that a synchronous call left */
	bool sync;
	bool asks, serves, joins;		/* a resolution or its answer, services, groups */
	bool attached;
};

static struct life_end life_end_locked(struct rcm_id *id) RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	return (struct life_end){
		.channel = id->channel, .event = id->pub.event, .sync = id->sync,
		.asks = id->lookup || id->found.answer, .serves = !LIST_EMPTY(&id->services),
		.joins = !LIST_EMPTY(&id->mcasts), .attached = id->device || id->pub.route.path_rec,
	};
}

static struct life_end life_begin_end(struct rcm_id *id)
{
	struct life_end end;

	rcm_lock_acquire(&id->lock);
	end = life_end_locked(id);
	id->pub.event = NULL;
	/* A migration that waits for another is off. */
	if (id->migrating)
		rcm_lock_broadcast(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
	return end;
}

/* The kernel's id, then what was read for it: what is read from then on is for nobody, as the id is dead. */
static void life_end_in_kernel(struct rcm_id *id, struct rcm_channel *channel)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);

	rcm_kernel_end(id, channel);
	rcm_lock_acquire(&channel->lock);
	rcm_channel_withdraw_locked(channel, id, &rest);
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&rest);
}

/* The library's alone, unlike a channel of the application's: its number may be another file's, for which no command
 * is. */
static void life_prove(struct rcm_channel *channel)
{
	rcm_lock_acquire(&channel->lock);
	rcm_channel_lose_unknown_locked(channel);
	rcm_lock_release(&channel->lock);
}

static void life_end(struct rcm_id *id, const struct life_end *end)
{
	if (end->sync) {
		rcm_wait_give_up_left();
		rcm_channel_stop(end->channel);
		life_prove(end->channel);
	}
	if (end->asks)
		rcm_lookup_abandon(id);
	if (end->serves)
		rcm_service_end_all(id);
	if (end->joins)
		rcm_mcast_stop_all(id);
	life_end_in_kernel(id, end->channel);
	if (end->event)
		rcm_event_ack(rcm_event_of(end->event));
	rcm_id_wait_acked(id, 0);
	rcm_id_wait_acked(id, 1);
	if (end->attached)
		rcm_detach(id);
	if (end->joins)
		rcm_mcast_free_all(id);
	if (end->sync)
		rcm_channel_close(end->channel);
}

/* What most ids have is ended without a cancellation point. */
static bool life_end_is_brief(const struct life_end *end)
{
	return !end->sync && !end->asks && !end->serves && !end->joins && !end->attached && !end->event;
}

/* Apart, so that the other way saves no registers for it. */
__attribute__((noinline))
static void life_end_with_all(struct rcm_id *id)
{
	struct life_end end = life_begin_end(id);
	int cancel;

	if (life_end_is_brief(&end)) {
		life_end(id, &end);
		return;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	life_end(id, &end);
	pthread_setcancelstate(cancel, NULL);
}

/*
 * It has nothing but its kernel's id, and nobody else has it: events, resolutions and calls under way have a reference
 * each, and who takes one from now on sees that it is dead, and leaves it alone.
 */
static bool life_is_alone(const struct rcm_id *id, unsigned refs)
{
	return atomic_load(&id->entry.refs) == refs && !id->laden && !id->sync && !rcm_fork_generation;
}

/* Without its lock, as nobody changes it. */
static void life_end_alone(struct rcm_id *id) RCM_UNCHECKED
{
	if (id->has_handle)
		rcm_kernel_destroy(id->channel, id->handle);
}

/* refs: the application's and the caller's. */
static inline int life_destroy(struct rcm_id *id, unsigned refs)
{
	if (atomic_exchange(&id->dead, true))
		return -EINVAL;
	if (life_is_alone(id, refs))
		life_end_alone(id);
	else
		life_end_with_all(id);
	rcm_id_put(id);
	return 0;
}

int rcm_id_destroy(struct rcm_id *id)
{
	return life_destroy(id, 1);
}

int rcm_id_destroy_held(struct rcm_id *id)
{
	return life_destroy(id, 2);
}

static int life_bind_in_kernel(struct rcm_id *id, const union rcm_sockaddr *addr)
{
	int ret = rcm_kernel_give(id, rcm_ucma_bind, &addr->sa, rcm_sockaddr_len(addr->sa.sa_family));

	if (!ret)
		ret = rcm_attach(id);
	if (ret)
		return ret;
	rcm_lock_acquire(&id->lock);
	id->bound = true;
	rcm_lock_release(&id->lock);
	return 0;
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
	if (id->bound) {
		ret = -EINVAL;
	} else {
		memcpy(&id->pub.route.addr.src_storage, addr, sizeof(*addr));
		id->pub.port_num = port.number;
		id->port = port;
		id->bound = true;
	}
	rcm_lock_release(&id->lock);
	return ret;
}

/* Whether it may be bound still is for the kernel to say: it knows of a device that has gone, too. */
int rcm_id_bind(struct rcm_id *id, const struct sockaddr *from)
{
	union rcm_sockaddr addr;

	if (!rcm_sockaddr_copy(&addr, from, 0))
		return -EINVAL;
	return rcm_kernel_has(id) ? life_bind_in_kernel(id, &addr) : life_bind_here(id, &addr);
}
