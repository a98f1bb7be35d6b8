/* SPDX-License-Identifier: BSD-2-Clause */
/* What a CM ID is: its references, its channel, what is posted to it and waits for an ack. */
#include "cm/id.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "resolve/accept.h"
#include "resolve/resolve.h"

struct rcm_id *rcm_id_alloc(struct rcm_channel *channel, enum rdma_port_space ps,
			    enum ibv_qp_type qp_type) RCM_UNCHECKED
{
	struct rcm_id *id = malloc(sizeof(*id));

	if (!id)
		return NULL;
	/* With memset() the compiler makes it calloc(), which passes by what this thread freed (glibc before 2.41). */
	explicit_bzero(id, sizeof(*id));
	id->pub.ps = ps;
	id->pub.qp_type = qp_type;
	id->pub.channel = &channel->pub;
	id->channel = channel;
	atomic_init(&id->refs, 1);
	rcm_lock_init(&id->lock);
	rcm_lock_init(&id->queues);
	id->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	TAILQ_INIT(&id->undelivered);
	id->options = (struct rcm_options){ .deadline_ms = RCM_DEADLINE_DEFAULT, .source = RCM_DNS_CONFIGURED };
	rcm_roll_add(RCM_ROLL_IDS, &id->roll);
	return id;
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
	rcm_roll_remove(&id->roll);
	id_free_spares(id);
	rcm_answer_put(id->found.answer);
	rcm_accept_put(id->options.accept);
	free(id->ep);
	rcm_channel_put(id->channel);
	pthread_cond_destroy(&id->changed);
	rcm_lock_done(&id->queues);
	rcm_lock_done(&id->lock);
	free(id);
}

void rcm_id_taken(struct rcm_id *id, struct rcm_event *event)
{
	event->stay = id->stay;
	event->process = rcm_fork_generation;
	atomic_fetch_add_explicit(&id->unacked_of[RCM_EVENT_PLACE(event->pub.event)], 1, memory_order_relaxed);
	atomic_fetch_add(&id->unacked[event->stay], 1);
}

/* Either this sees who waits, or rcm_id_wait_acked() sees the lower count: both are sequentially consistent. */
void rcm_id_acked(struct rcm_id *id, enum rdma_cm_event_type type, uint8_t stay)
{
	atomic_fetch_sub_explicit(&id->unacked_of[RCM_EVENT_PLACE(type)], 1, memory_order_relaxed);
	if (atomic_fetch_sub(&id->unacked[stay], 1) != 1 || !atomic_load(&id->awaiting))
		return;
	rcm_lock_acquire(&id->lock);
	pthread_cond_broadcast(&id->changed);
	rcm_lock_release(&id->lock);
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
	atomic_fetch_add(&id->awaiting, 1);
	id_trace_owed(id);
	rcm_lock_acquire(&id->lock);
	while (atomic_load(&id->unacked[stay]))
		rcm_lock_wait(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
	atomic_fetch_sub(&id->awaiting, 1);
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
	bool dead;

	rcm_lock_acquire(&id->lock);
	dead = id->dead;
	rcm_lock_release(&id->lock);
	return dead;
}

bool rcm_id_is_idle_locked(struct rcm_id *id)
{
	rcm_lock_assert_held(&id->lock);
	return !id->commands[0] && !id->commands[1];
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
