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

/* Which of the two descriptors under pub.fd. */
enum { OWN, KERNEL };

static int channel_watch(struct rcm_channel *channel, int fd, uint64_t which, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = which };

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
	ret = channel_watch(channel, channel->due_fd, OWN, 0);
	if (ret)
		return ret;
	ret = rcm_ucma_open(&channel->ucma);
	if (!ret)
		return channel_watch(channel, channel->ucma.fd, KERNEL, EPOLLIN);
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

/* Waked anew, whoever watches: due_fd is up, and not on epoll's list of what may be ready (see hide_locked()), so that
 * EPOLL_CTL_MOD puts it there and wakes. EPOLLONESHOT: what takes it from there disarms it, too. */
static void show_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = OWN };

	rcm_lock_assert_held(&channel->lock);
	if (epoll_ctl(channel->pub.fd, EPOLL_CTL_MOD, channel->due_fd, &e) && errno == ENOENT)
		epoll_ctl(channel->pub.fd, EPOLL_CTL_ADD, channel->due_fd, &e);
}

/*
 * EPOLL_CTL_MOD would leave due_fd on the list, and the next one that arms it would then wake nobody who looks at edges
 * alone. Taking it by epoll_wait(2) disarms and unlinks it in one call, which also tells of the kernel's descriptor.
 * Whether there is something to take, epoll_wait(2) looks at without a lock, and may miss it while another thread
 * polls: then it is taken out and put in again, which is exact, and rare.
 */
static void hide_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	struct epoll_event ready[2], off = { .data.u64 = OWN };
	bool taken = false, kernel = false;
	int n, cancel;

	rcm_lock_assert_held(&channel->lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	n = epoll_wait(channel->pub.fd, ready, 2, 0);
	pthread_setcancelstate(cancel, NULL);
	for (int i = 0; i < n; i++) {
		taken = taken || ready[i].data.u64 == OWN;
		kernel = kernel || ready[i].data.u64 == KERNEL;
	}
	if (!taken) {
		epoll_ctl(channel->pub.fd, EPOLL_CTL_DEL, channel->due_fd, NULL);
		epoll_ctl(channel->pub.fd, EPOLL_CTL_ADD, channel->due_fd, &off);
	}
	channel->takes = kernel ? KERNEL_LOOK_EVERY - 1 : 0;
}

void rcm_channel_show_locked(struct rcm_channel *channel)
{
	bool due = !TAILQ_EMPTY(&channel->queue);

	rcm_lock_assert_held(&channel->lock);
	if (due == channel->due || channel->due_fd < 0)
		return;
	channel->due = due;
	if (due)
		show_locked(channel);
	else
		hide_locked(channel);
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

/* MIGRATE_ID wakes nobody who waits for the events that it moved: epoll has to look at the descriptor again. As one
 * that is new to it: of one that it knows, and that is on its list of what may be ready, it would not wake. */
void rcm_channel_look_again_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (channel->ucma.fd < 0)
		return;
	epoll_ctl(channel->pub.fd, EPOLL_CTL_DEL, channel->ucma.fd, NULL);
	channel_watch(channel, channel->ucma.fd, KERNEL, EPOLLIN);
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
