/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events from a channel: of the queue, and of the kernel's descriptor into it. */
#include "cm/take.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "cm/handlers.h"
#include "cm/id.h"

/* Reads one kernel event into *spare, which is made where it is NULL: 0, -EAGAIN. */
static int take_read(struct rcm_channel *channel, struct rcm_kernel_event **spare)
{
	if (channel->ucma.fd < 0)
		return -EAGAIN;
	if (!*spare)
		*spare = malloc(sizeof(**spare));
	return *spare ? rcm_ucma_get_event(&channel->ucma, &(*spare)->raw) : -ENOMEM;
}

/* What a later kernel may say, this library hands to nobody, under a type that it can count. */
static enum rdma_cm_event_type take_known_type(enum rdma_cm_event_type type)
{
	return (unsigned)type < RCM_EVENT_TYPES ? type : RDMA_CM_EVENT_INTERNAL;
}

/* Takes over what was read: it is at the queue's end, or, its id being gone, with nobodys. */
static void take_file_locked(struct rcm_channel *channel, struct rcm_kernel_event *read)
	RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event = &read->event;

	rcm_lock_assert_held(&channel->lock);
	read->channel = rcm_channel_ref(channel);
	read->mcast = NULL;
	*event = (struct rcm_event){
		.pub = { .event = take_known_type(read->raw.type), .status = read->raw.status },
		.ops = rcm_event_kernel_ops(read->raw.type),
		.id = rcm_id_find(read->raw.uid),
	};
	if (event->id) {
		event->pub.id = &event->id->pub;
		rcm_channel_append_locked(channel, event);
	} else {
		TAILQ_INSERT_TAIL(&channel->nobodys, event, in_channel);
	}
}

/* 0, -EAGAIN: none. A bare descriptor is not read under the lock: it may wait. */
static int take_read_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int ret;

	rcm_lock_assert_held(&channel->lock);
	if (channel->bare)
		return -EAGAIN;
	ret = take_read(channel, &channel->spare);
	if (ret)
		return ret;
	take_file_locked(channel, channel->spare);
	channel->spare = NULL;
	return 0;
}

/* With the descriptor's reading to itself: what is there stays there until it is read. */
static int take_read_bare_locked(struct rcm_channel *channel, const unsigned *seen, struct rcm_kernel_event **spare)
	RCM_REQUIRES(channel->reading)
{
	struct pollfd p = { .fd = channel->ucma.fd, .events = POLLIN };
	bool there = seen && *seen == atomic_load_explicit(&channel->reads, memory_order_relaxed);
	int ret;

	rcm_lock_assert_held(&channel->reading);
	if (!there && poll(&p, 1, 0) != 1)
		return -EAGAIN;
	ret = take_read(channel, spare);
	if (!ret)
		atomic_fetch_add_explicit(&channel->reads, 1, memory_order_relaxed);
	return ret;
}

static int take_bare_locked(struct rcm_channel *channel, const unsigned *seen) RCM_REQUIRES(channel->reading)
{
	struct rcm_kernel_event *read = NULL;
	int ret;

	rcm_lock_assert_held(&channel->reading);
	ret = take_read_bare_locked(channel, seen, &read);
	if (ret) {
		free(read);
		return ret;
	}
	rcm_lock_acquire(&channel->lock);
	take_file_locked(channel, read);
	rcm_lock_release(&channel->lock);
	return 0;
}

int rcm_channel_read_bare(struct rcm_channel *channel, const unsigned *seen)
{
	int ret = 0;

	rcm_lock_acquire(&channel->reading);
	if (channel->bare)
		ret = take_bare_locked(channel, seen);
	rcm_lock_release(&channel->reading);
	return ret;
}

void rcm_channel_await_bare_read(struct rcm_channel *channel)
{
	if (!channel->for_sync)
		return;
	rcm_lock_acquire(&channel->reading);
	rcm_lock_release(&channel->reading);
}

/* The first queued event of types; those before it go aside. */
static struct rcm_event *take_first_locked(struct rcm_channel *channel, uint32_t types)
	RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event;

	rcm_lock_assert_held(&channel->lock);
	while ((event = TAILQ_FIRST(&channel->queue)) &&
	       !(types & RCM_EVENT_BIT(event->pub.event))) {
		TAILQ_REMOVE(&channel->queue, event, in_channel);
		TAILQ_INSERT_TAIL(&channel->aside, event, in_channel);
		event->list = &channel->aside;
	}
	return event;
}

static int take_locked(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
	RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event;
	int ret = 0;

	rcm_lock_assert_held(&channel->lock);
	if (channel->closing)
		return -ECANCELED;
	event = take_first_locked(channel, types);
	if (event && ++channel->takes % RCM_KERNEL_LOOK_EVERY == 0)
		take_read_locked(channel);
	while (!event && !ret) {
		ret = take_read_locked(channel);
		event = take_first_locked(channel, types);
	}
	if (!event)
		return ret;
	rcm_channel_unlink_locked(channel, event);
	rcm_id_taken(event->id, event);
	*ret_event = event;
	return 0;
}

static void take_put_back_aside_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event;

	rcm_lock_assert_held(&channel->lock);
	while ((event = TAILQ_LAST(&channel->aside, rcm_event_list))) {
		TAILQ_REMOVE(&channel->aside, event, in_channel);
		TAILQ_INSERT_HEAD(&channel->queue, event, in_channel);
		event->list = &channel->queue;
	}
}

static void reader_use_locked(struct rcm_channel *channel, struct rcm_reader *reader) RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	if (!reader->uses)
		channel->users++;
	reader->uses = true;
}

static void reader_end_locked(struct rcm_channel *channel, struct rcm_reader *reader) RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	if (reader->uses)
		rcm_channel_leave_locked(channel);
	reader->uses = false;
	take_put_back_aside_locked(channel);
}

/* By a user of the channel, which it is no more. */
static void take_discard_nobodys(struct rcm_channel *channel)
{
	struct rcm_event_list nobodys = TAILQ_HEAD_INITIALIZER(nobodys);

	rcm_lock_acquire(&channel->lock);
	TAILQ_CONCAT(&nobodys, &channel->nobodys, in_channel);
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&nobodys);
	rcm_lock_acquire(&channel->lock);
	rcm_channel_leave_locked(channel);
	rcm_lock_release(&channel->lock);
}

/* reader: who takes, for types of its own; or NULL, and nothing is asked about it. */
__attribute__((always_inline)) static inline
int take_in(struct rcm_channel *channel, uint32_t types, struct rcm_reader *reader, struct rcm_event **ret_event)
{
	bool found_nobodys;
	int ret;

	rcm_lock_acquire(&channel->lock);
	ret = take_locked(channel, types, ret_event);
	if (reader && ret == -EAGAIN)
		reader_use_locked(channel, reader);
	else if (reader)
		reader_end_locked(channel, reader);
	/* Of one that goes, they are for who closes it. */
	found_nobodys = !channel->closing && !TAILQ_EMPTY(&channel->nobodys);
	if (found_nobodys)
		channel->users++;
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	if (found_nobodys)
		take_discard_nobodys(channel);
	return ret;
}

int rcm_channel_take(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	return take_in(channel, RCM_EVENTS_ALL, NULL, ret_event);
}

int rcm_reader_take(struct rcm_reader *reader, struct rcm_event **ret_event)
{
	return take_in(reader->channel, reader->types, reader, ret_event);
}

int rcm_reader_begin(struct rcm_reader *reader)
{
	struct rcm_channel *channel = reader->channel;
	bool closing;

	rcm_lock_acquire(&channel->lock);
	closing = channel->closing;
	if (!closing)
		reader_use_locked(channel, reader);
	rcm_lock_release(&channel->lock);
	return closing ? -ECANCELED : -EAGAIN;
}

void rcm_reader_end(void *arg)
{
	struct rcm_reader *reader = arg;
	struct rcm_channel *channel = reader->channel;

	if (!reader->uses)
		return;
	rcm_lock_acquire(&channel->lock);
	reader_end_locked(channel, reader);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_catch_up_locked(struct rcm_channel *channel)
{
	int cancel;

	rcm_lock_assert_held(&channel->lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!take_read_locked(channel))
		;
	pthread_setcancelstate(cancel, NULL);
}
