/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#include "cm/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "cm/handlers.h"
#include "cm/id.h"
#include "cm/table.h"

/* The queue comes before the kernel; but one take in so many looks at the kernel too, lest an application that always
 * has an event of its own waiting starves the others. */
enum { KERNEL_LOOK_EVERY = 16 };

static int watch(struct rcm_channel *channel, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(channel->pub.fd, EPOLL_CTL_ADD, fd, &e) ? rcm_errno() : 0;
}

static void close_descriptors(struct rcm_channel *channel)
{
	if (channel->pub.fd >= 0)
		close(channel->pub.fd);
	if (channel->due_fd >= 0)
		close(channel->due_fd);
	rcm_ucma_close(&channel->ucma);
	channel->pub.fd = channel->due_fd = -1;
}

static int open_descriptors(struct rcm_channel *channel)
{
	int ret;

	channel->pub.fd = epoll_create1(EPOLL_CLOEXEC);
	if (channel->pub.fd < 0)
		return rcm_errno();
	channel->due_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (channel->due_fd < 0)
		return rcm_errno();
	ret = watch(channel, channel->due_fd, 0);
	if (ret)
		return ret;
	ret = rcm_ucma_open(&channel->ucma);
	if (!ret)
		return watch(channel, channel->ucma.fd, EPOLLIN);
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM ? ret : 0;
}

int rcm_channel_new(struct rcm_channel **ret_channel)
{
	struct rcm_channel *channel = calloc(1, sizeof(*channel));
	int ret;

	if (!channel)
		return -ENOMEM;
	channel->pub.fd = channel->due_fd = -1;
	channel->ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
	ret = open_descriptors(channel);
	if (ret) {
		close_descriptors(channel);
		free(channel);
		return ret;
	}
	atomic_init(&channel->refs, 1);
	rcm_lock_init(&channel->lock);
	TAILQ_INIT(&channel->queue);
	TAILQ_INIT(&channel->aside);
	TAILQ_INIT(&channel->nobodys);
	*ret_channel = channel;
	return 0;
}

struct rcm_channel *rcm_channel_ref(struct rcm_channel *channel)
{
	atomic_fetch_add_explicit(&channel->refs, 1, memory_order_relaxed);
	return channel;
}

void rcm_channel_put(struct rcm_channel *channel) RCM_UNCHECKED
{
	if (!channel || atomic_fetch_sub(&channel->refs, 1) != 1)
		return;
	rcm_lock_done(&channel->lock);
	free(channel->spare);
	free(channel);
}

void rcm_channel_unlink_locked(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_assert_held(&channel->lock);
	TAILQ_REMOVE(event->list, event, in_channel);
	TAILQ_REMOVE(&event->id->undelivered, event, in_id);
	event->list = NULL;
}

void rcm_channel_append_locked(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_assert_held(&channel->lock);
	TAILQ_INSERT_TAIL(&channel->queue, event, in_channel);
	TAILQ_INSERT_TAIL(&event->id->undelivered, event, in_id);
	event->list = &channel->queue;
}

/* Brings the descriptor in line with the queue. Asking epoll to look at the eventfd, or not to, takes a fifth less time
 * than writing and reading it, and is no cancellation point. */
void rcm_channel_show_locked(struct rcm_channel *channel)
{
	bool due = !TAILQ_EMPTY(&channel->queue);
	struct epoll_event e = { .events = due ? EPOLLIN : 0 };

	rcm_lock_assert_held(&channel->lock);
	if (due == channel->due || channel->due_fd < 0)
		return;
	channel->due = due;
	epoll_ctl(channel->pub.fd, EPOLL_CTL_MOD, channel->due_fd, &e);
}

/* Reads one kernel event. 0: it is at the queue's end, or, its id being gone, with nobodys. -EAGAIN: none. */
static int read_kernel_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	struct rcm_kernel_event *read;
	struct rcm_event *event;
	int ret;

	rcm_lock_assert_held(&channel->lock);
	if (channel->ucma.fd < 0)
		return -EAGAIN;
	if (!channel->spare)
		channel->spare = malloc(sizeof(*channel->spare));
	read = channel->spare;
	if (!read)
		return -ENOMEM;
	ret = rcm_ucma_get_event(&channel->ucma, &read->raw);
	if (ret)
		return ret;
	channel->spare = NULL;
	read->channel = rcm_channel_ref(channel);
	event = &read->event;
	*event = (struct rcm_event){
		.pub = { .event = read->raw.type, .status = read->raw.status },
		.ops = rcm_event_kernel_ops(read->raw.type),
		.id = rcm_table_find(read->raw.uid),
	};
	if (event->id) {
		event->pub.id = &event->id->pub;
		rcm_channel_append_locked(channel, event);
	} else {
		TAILQ_INSERT_TAIL(&channel->nobodys, event, in_channel);
	}
	return 0;
}

/* The first queued event of types; those before it go aside. */
static struct rcm_event *first_locked(struct rcm_channel *channel, uint32_t types)
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

int rcm_channel_take(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	struct rcm_event_list nobodys = TAILQ_HEAD_INITIALIZER(nobodys);
	struct rcm_event *event;
	int ret = 0;

	rcm_lock_acquire(&channel->lock);
	event = first_locked(channel, types);
	if (event && ++channel->takes % KERNEL_LOOK_EVERY == 0)
		read_kernel_locked(channel);
	while (!event && !ret) {
		ret = read_kernel_locked(channel);
		event = first_locked(channel, types);
	}
	if (event) {
		rcm_channel_unlink_locked(channel, event);
		rcm_id_taken(event->id, event->pub.event);
		*ret_event = event;
		ret = 0;
	}
	TAILQ_CONCAT(&nobodys, &channel->nobodys, in_channel);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&nobodys);
	return ret;
}

void rcm_channel_put_back_aside(struct rcm_channel *channel)
{
	struct rcm_event *event;

	rcm_lock_acquire(&channel->lock);
	while ((event = TAILQ_LAST(&channel->aside, rcm_event_list))) {
		TAILQ_REMOVE(&channel->aside, event, in_channel);
		TAILQ_INSERT_HEAD(&channel->queue, event, in_channel);
		event->list = &channel->queue;
	}
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

/* Takes over what the kernel has ready, so that it comes before what is queued next. */
void rcm_channel_catch_up_locked(struct rcm_channel *channel)
{
	int cancel;

	rcm_lock_assert_held(&channel->lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!read_kernel_locked(channel))
		;
	pthread_setcancelstate(cancel, NULL);
}

void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_acquire(&channel->lock);
	if (atomic_load_explicit(&event->id->kernel_busy, memory_order_relaxed))
		rcm_channel_catch_up_locked(channel);
	rcm_channel_append_locked(channel, event);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_withdraw(struct rcm_channel *channel, struct rcm_id *id,
			  struct rcm_event_list *ret_list)
{
	struct rcm_event *event;

	rcm_lock_acquire(&channel->lock);
	while ((event = TAILQ_FIRST(&id->undelivered))) {
		rcm_channel_unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(ret_list, event, in_channel);
	}
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

bool rcm_channel_withdraw_one(struct rcm_channel *channel, struct rcm_event *event)
{
	bool queued;

	rcm_lock_acquire(&channel->lock);
	queued = event->list;
	if (queued)
		rcm_channel_unlink_locked(channel, event);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	return queued;
}

/* MIGRATE_ID wakes nobody who waits for the events that it moved: epoll has to look at the descriptor again. */
void rcm_channel_look_again_locked(struct rcm_channel *channel)
{
	struct epoll_event e = { .events = EPOLLIN };

	rcm_lock_assert_held(&channel->lock);
	if (channel->ucma.fd >= 0)
		epoll_ctl(channel->pub.fd, EPOLL_CTL_MOD, channel->ucma.fd, &e);
}

void rcm_channel_close(struct rcm_channel *channel)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);
	struct rcm_event *event;

	if (!channel)
		return;
	rcm_lock_acquire(&channel->lock);
	TAILQ_CONCAT(&rest, &channel->nobodys, in_channel);
	while ((event = TAILQ_FIRST(&channel->queue))) {
		rcm_channel_unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(&rest, event, in_channel);
	}
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&rest);
	rcm_lock_acquire(&channel->lock);
	close_descriptors(channel);
	rcm_lock_release(&channel->lock);
	rcm_channel_put(channel);
}
