/* SPDX-License-Identifier: BSD-2-Clause */
/* What a CM ID is: its references, its channel, what is posted to it and waits for an ack. */
#include "cm/id.h"

#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/zalloc.h"
#include "resolve/accept.h"
#include "resolve/resolve.h"

struct rcm_id *rcm_id_alloc(struct rcm_channel *channel, enum rdma_port_space ps,
			    enum ibv_qp_type qp_type) RCM_UNCHECKED
{
	struct rcm_id *id = rcm_zalloc(sizeof(*id));

	if (!id)
		return NULL;
	id->pub.ps = ps;
	id->pub.qp_type = qp_type;
	id->pub.channel = &channel->pub;
	id->channel = channel;
	atomic_init(&id->entry.refs, 1);
	rcm_lock_init(&id->lock);
	rcm_lock_init(&id->queues);
	id->changed = (struct rcm_condition)RCM_CONDITION_INIT;
	TAILQ_INIT(&id->undelivered);
	id->options = (struct rcm_options){ .deadline_ms = RCM_DEADLINE_DEFAULT, .source = RCM_DNS_CONFIGURED };
	return id;
}

struct rcm_id *rcm_id_find(uint64_t uid)
{
	struct rcm_entry *entry = rcm_table_find(uid);
	struct rcm_id *id = entry ? rcm_container(entry, struct rcm_id, entry) : NULL;

	if (!id || !rcm_id_is_dead(id))
		return id;
	rcm_id_put(id);
	return NULL;
}

static void id_free_spares(struct rcm_id *id)
{
	struct rcm_event *event, *next;

	for (event = atomic_load(&id->spare); event; event = next) {
		next = event->spare;
		free(event);
	}
}

void rcm_id_free(struct rcm_id *id) RCM_UNCHECKED
{
	/* First: a fork's child goes through what is in the table. */
	rcm_table_remove(id->entry.uid);
	id_free_spares(id);
	rcm_answer_put(id->found.answer);
	rcm_accept_put(id->options.accept);
	free(id->ep);
	rcm_channel_put(id->channel);
	free(id);
}

void rcm_id_taken(struct rcm_id *id, struct rcm_event *event)
{
	event->stay = id->stay;
	event->process = rcm_fork_generation;
	atomic_fetch_add_explicit(&id->unacked_of[RCM_EVENT_PLACE(event->pub.event)], 1, memory_order_relaxed);
	atomic_fetch_add(&id->unacked[event->stay], 1);
}

/* Either this sees who waits, or id_await() sees the lower count: both are sequentially consistent. */
static void id_count_down(struct rcm_id *id, atomic_uint *count)
{
	if (atomic_fetch_sub(count, 1) != 1 || !atomic_load(&id->awaiting))
		return;
	rcm_lock_acquire(&id->lock);
	rcm_lock_broadcast(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
}

static void id_await(struct rcm_id *id, const atomic_uint *count)
{
	atomic_fetch_add(&id->awaiting, 1);
	rcm_lock_acquire(&id->lock);
	while (atomic_load(count))
		rcm_lock_wait(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
	atomic_fetch_sub(&id->awaiting, 1);
}

void rcm_id_acked(struct rcm_id *id, enum rdma_cm_event_type type, uint8_t stay)
{
	atomic_fetch_sub_explicit(&id->unacked_of[RCM_EVENT_PLACE(type)], 1, memory_order_relaxed);
	id_count_down(id, &id->unacked[stay]);
}

static void id_trace_owed(struct rcm_id *id)
{
	for (unsigned place = 0; place < RCM_EVENT_PLACES; place++) {
		unsigned owed = atomic_load_explicit(&id->unacked_of[place], memory_order_relaxed);

		if (owed)
			rcm_trace("id %p waits for rdma_ack_cm_event() of %u %s", (void *)id, owed,
				  rcm_event_name(rcm_event_at_place(place)));
	}
}

void rcm_id_wait_acked(struct rcm_id *id, uint8_t stay)
{
	if (!atomic_load(&id->unacked[stay]))
		return;
	id_trace_owed(id);
	id_await(id, &id->unacked[stay]);
}

void rcm_id_command_over(struct rcm_id *id, uint8_t stay)
{
	id_count_down(id, &id->commands[stay]);
}

void rcm_id_wait_commands(struct rcm_id *id, uint8_t stay)
{
	if (atomic_load(&id->commands[stay]))
		id_await(id, &id->commands[stay]);
}

void rcm_id_renewal_over(struct rcm_id *id)
{
	id_count_down(id, &id->renewals);
}

void rcm_id_wait_renewals(struct rcm_id *id)
{
	if (atomic_load(&id->renewals))
		id_await(id, &id->renewals);
}

struct rcm_channel *rcm_id_channel(struct rcm_id *id)
{
	struct rcm_channel *channel;

	rcm_lock_acquire(&id->lock);
	channel = rcm_channel_ref(id->channel);
	rcm_lock_release(&id->lock);
	return channel;
}

bool rcm_id_is_sync(struct rcm_id *id)
{
	return id->sync;
}

bool rcm_id_is_ud(const struct rcm_id *id)
{
	return id->pub.qp_type == IBV_QPT_UD;
}

bool rcm_id_is_dead(struct rcm_id *id)
{
	return id->dead;
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
