/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of a CM ID, and its life: create, bind, migrate, destroy. */
#include "cm/id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cm/attach.h"
#include "cm/local.h"
#include "cm/sync.h"
#include "cm/table.h"
#include "resolve/request.h"

struct rcm_id *rcm_id_ref(struct rcm_id *id)
{
	atomic_fetch_add_explicit(&id->refs, 1, memory_order_relaxed);
	return id;
}

void rcm_id_put(struct rcm_id *id) RCM_UNCHECKED
{
	if (!id || atomic_fetch_sub(&id->refs, 1) != 1)
		return;
	rcm_answer_put(id->found.answer);
	rcm_channel_put(id->channel);
	pthread_cond_destroy(&id->acked);
	rcm_lock_done(&id->lock);
	free(id);
}

void rcm_id_taken(struct rcm_id *id, enum rdma_cm_event_type type)
{
	atomic_fetch_add_explicit(&id->unacked_of[type], 1, memory_order_relaxed);
	atomic_fetch_add(&id->unacked, 1);
}

/* Either this sees awaited, or rcm_id_wait_acked() sees the lower count: both are sequentially consistent. */
void rcm_id_acked(struct rcm_id *id, enum rdma_cm_event_type type)
{
	atomic_fetch_sub_explicit(&id->unacked_of[type], 1, memory_order_relaxed);
	if (atomic_fetch_sub(&id->unacked, 1) != 1 || !atomic_load(&id->awaited))
		return;
	rcm_lock_acquire(&id->lock);
	pthread_cond_broadcast(&id->acked);
	rcm_lock_release(&id->lock);
}

static void trace_owed(struct rcm_id *id)
{
	for (unsigned type = 0; type < RCM_EVENT_TYPES; type++) {
		unsigned owed = atomic_load_explicit(&id->unacked_of[type], memory_order_relaxed);

		if (owed)
			rcm_trace("id %p waits for rdma_ack_cm_event() of %u %s", (void *)id, owed,
				  rcm_event_name(type));
	}
}

void rcm_id_wait_acked(struct rcm_id *id)
{
	atomic_store(&id->awaited, true);
	if (atomic_load(&id->unacked))
		trace_owed(id);
	rcm_lock_acquire(&id->lock);
	while (atomic_load(&id->unacked))
		rcm_lock_wait(&id->lock, &id->acked);
	rcm_lock_release(&id->lock);
	atomic_store(&id->awaited, false);
}

static bool is_port_space(enum rdma_port_space ps)
{
	return ps == RDMA_PS_TCP || ps == RDMA_PS_UDP || ps == RDMA_PS_IB || ps == RDMA_PS_IPOIB;
}

/* An id on channel, whose reference it takes over, without a kernel id; freed by rcm_id_put(). */
static struct rcm_id *id_alloc(struct rcm_channel *channel, enum rdma_port_space ps,
			       enum ibv_qp_type qp_type) RCM_UNCHECKED
{
	struct rcm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->pub.ps = ps;
	id->pub.qp_type = qp_type;
	id->pub.channel = &channel->pub;
	id->channel = channel;
	atomic_init(&id->refs, 1);
	rcm_lock_init(&id->lock);
	pthread_cond_init(&id->acked, NULL);
	TAILQ_INIT(&id->undelivered);
	rcm_options_init(&id->options);
	return id;
}

static int create_in_kernel(struct rcm_id *id, const struct rcm_ucma *ucma)
{
	int ret;

	if (ucma->fd < 0)
		return 0;
	ret = rcm_table_add(id, &id->uid);
	if (ret)
		return ret;
	ret = rcm_ucma_create_id(ucma, id->uid, id->pub.ps, id->pub.qp_type, &id->handle);
	if (ret)
		rcm_table_remove(id->uid);
	id->has_handle = !ret;
	return ret;
}

int rcm_id_new(struct rcm_channel *channel, void *context, enum rdma_port_space ps,
	       enum ibv_qp_type qp_type, struct rcm_id **ret_id) RCM_UNCHECKED
{
	bool sync = !channel;
	struct rcm_id *id;
	int ret;

	if (!is_port_space(ps))
		return -EINVAL;
	ret = sync ? rcm_channel_new(&channel) : 0;
	if (ret)
		return ret;
	id = id_alloc(rcm_channel_ref(channel), ps, qp_type);
	if (!id) {
		rcm_channel_put(channel);
		ret = -ENOMEM;
		goto out;
	}
	id->pub.context = context;
	id->sync = sync;
	ret = create_in_kernel(id, &channel->ucma);
	if (ret)
		rcm_id_put(id);
	else
		*ret_id = id;
out:
	if (ret && sync)
		rcm_channel_close(channel);
	return ret;
}

int rcm_id_new_of_handle(struct rcm_channel *channel, uint32_t handle, enum rdma_port_space ps,
			 enum ibv_qp_type qp_type, struct rcm_id **ret_id)
{
	struct rcm_id *id = id_alloc(rcm_channel_ref(channel), ps, qp_type);
	int ret;

	if (!id) {
		rcm_channel_put(channel);
		return -ENOMEM;
	}
	ret = rcm_table_add(id, &id->uid);
	if (ret) {
		rcm_id_put(id);
		return ret;
	}
	id->handle = handle;
	id->has_handle = true;
	*ret_id = id;
	return 0;
}

struct rcm_channel *rcm_id_channel(struct rcm_id *id)
{
	struct rcm_channel *channel;

	rcm_lock_acquire(&id->lock);
	channel = rcm_channel_ref(id->channel);
	rcm_lock_release(&id->lock);
	return channel;
}

struct rcm_channel *rcm_id_kernel(struct rcm_id *id)
{
	if (!id->has_handle)
		return NULL;
	atomic_store_explicit(&id->kernel_busy, true, memory_order_relaxed);
	return rcm_id_channel(id);
}

static void end_in_kernel(struct rcm_id *id, struct rcm_channel *channel)
{
	uint32_t events;
	int ret;

	rcm_table_remove(id->uid);
	rcm_conn_stop(id);
	if (!id->has_handle)
		return;
	ret = rcm_ucma_destroy_id(&channel->ucma, id->handle, &events);
	if (ret)
		rcm_info("DESTROY_ID of handle %u: errno %d", id->handle, -ret);
	id->has_handle = false;
}

int rcm_id_destroy(struct rcm_id *id)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);
	struct rcm_channel *channel;
	bool sync;

	rcm_lock_acquire(&id->lock);
	if (id->dead) {
		rcm_lock_release(&id->lock);
		return -EINVAL;
	}
	id->dead = true;
	sync = id->sync;
	rcm_lock_release(&id->lock);

	rcm_lookup_abandon(id);
	channel = rcm_id_channel(id);
	end_in_kernel(id, channel);
	rcm_channel_withdraw(channel, id, &rest);
	rcm_event_discard_all(&rest);
	rcm_sync_ack(id);
	rcm_id_wait_acked(id);
	rcm_conn_done(id);
	if (sync)
		rcm_channel_close(channel);
	rcm_channel_put(channel);
	rcm_id_put(id);
	return 0;
}

bool rcm_id_is_on(struct rcm_id *id, const struct rcm_channel *channel)
{
	bool is_on;

	rcm_lock_acquire(&id->lock);
	is_on = id->channel == channel;
	rcm_lock_release(&id->lock);
	return is_on;
}

bool rcm_id_is_dead(struct rcm_id *id)
{
	bool dead;

	rcm_lock_acquire(&id->lock);
	dead = id->dead;
	rcm_lock_release(&id->lock);
	return dead;
}

bool rcm_id_post_locked(struct rcm_id *id, struct rcm_event *event)
{
	rcm_lock_assert_held(&id->lock);
	if (id->dead)
		return false;
	rcm_channel_post(id->channel, event);
	return true;
}

bool rcm_id_post(struct rcm_id *id, struct rcm_event *event)
{
	bool posted;

	rcm_lock_acquire(&id->lock);
	posted = rcm_id_post_locked(id, event);
	rcm_lock_release(&id->lock);
	return posted;
}

static int bind_in_kernel(struct rcm_id *id, const union rcm_sockaddr *addr)
{
	struct rcm_channel *channel = rcm_id_channel(id);
	int ret;

	ret = rcm_ucma_bind(&channel->ucma, id->handle, &addr->sa,
			    rcm_sockaddr_len(addr->sa.sa_family));
	rcm_channel_put(channel);
	return ret ? ret : rcm_attach(id);
}

/* Without the kernel's rdma_cm there is one kind of address that can be bound: an InfiniBand port's GID. */
static int bind_here(struct rcm_id *id, union rcm_sockaddr *addr)
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
static bool claim_bind(struct rcm_id *id)
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
		return -EAFNOSUPPORT;
	if (!claim_bind(id))
		return -EINVAL;
	ret = id->has_handle ? bind_in_kernel(id, &addr) : bind_here(id, &addr);
	if (ret) {
		rcm_lock_acquire(&id->lock);
		id->bound = false;
		rcm_lock_release(&id->lock);
	}
	return ret;
}
