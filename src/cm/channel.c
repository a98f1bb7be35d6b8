/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#include "cm/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
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

static void unlink_locked(struct rcm_channel *channel, struct rcm_event *event)
	RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	TAILQ_REMOVE(event->list, event, in_channel);
	TAILQ_REMOVE(&event->id->undelivered, event, in_id);
	event->list = NULL;
}

static void append_locked(struct rcm_channel *channel, struct rcm_event *event)
	RCM_REQUIRES(channel->lock)
{
	TAILQ_INSERT_TAIL(&channel->queue, event, in_channel);
	TAILQ_INSERT_TAIL(&event->id->undelivered, event, in_id);
	event->list = &channel->queue;
}

/* Brings the descriptor in line with the queue. Asking epoll to look at the eventfd, or not to, takes a fifth less time
 * than writing and reading it, and is no cancellation point. */
static void show_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
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
		append_locked(channel, event);
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

	while ((event = TAILQ_FIRST(&channel->queue)) &&
	       !(types & RCM_EVENT_BIT(event->pub.event))) {
		TAILQ_REMOVE(&channel->queue, event, in_channel);
		TAILQ_INSERT_TAIL(&channel->aside, event, in_channel);
		event->list = &channel->aside;
	}
	return event;
}

/* One look, without waiting: 0, -EAGAIN, or what the kernel said. */
static int take(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
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
		unlink_locked(channel, event);
		rcm_id_taken(event->id, event->pub.event);
		*ret_event = event;
		ret = 0;
	}
	TAILQ_CONCAT(&nobodys, &channel->nobodys, in_channel);
	show_locked(channel);
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&nobodys);
	return ret;
}

/* Faults: a thread that sleeps in poll(2) doesn't cause them. */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGSYS ||
	       sig == SIGTRAP || sig == SIGABRT;
}

/* poll(2) says EINTR whatever handler ran. True where it may have been one that asked for that: a handler without
 * SA_RESTART for a signal that this thread lets in. */
static bool interrupted(void)
{
	struct sigaction action;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (is_fault(sig) || sigismember(&blocked, sig) == 1 || sigaction(sig, NULL, &action))
			continue;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    !(action.sa_flags & SA_RESTART))
			return true;
	}
	return false;
}

static int wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR || interrupted())
			return rcm_errno();
	return p.revents & POLLNVAL ? -EBADF : 0;
}

static bool is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* As take(), until deliver() agrees. */
static int take_delivered(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	struct rcm_event *event = NULL;
	int ret, cancel;

	/* The kernel's commands are write(2), a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!(ret = take(channel, types, &event))) {
		if (!event->ops->deliver(event))
			break;
		rcm_trace("%s for nobody dropped", rcm_event_name(event->pub.event));
		rcm_event_untake(event);
	}
	pthread_setcancelstate(cancel, NULL);
	if (!ret)
		*ret_event = event;
	return ret;
}

int rcm_channel_get(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	int ret;

	while ((ret = take_delivered(channel, RCM_EVENTS_ALL, ret_event)) == -EAGAIN) {
		if (!is_blocking(channel->pub.fd))
			return -EAGAIN;
		ret = wait_readable(channel->pub.fd);
		if (ret)
			return ret;
	}
	return ret;
}

static void put_back_aside(struct rcm_channel *channel)
{
	struct rcm_event *event;

	rcm_lock_acquire(&channel->lock);
	while ((event = TAILQ_LAST(&channel->aside, rcm_event_list))) {
		TAILQ_REMOVE(&channel->aside, event, in_channel);
		TAILQ_INSERT_HEAD(&channel->queue, event, in_channel);
		event->list = &channel->queue;
	}
	show_locked(channel);
	rcm_lock_release(&channel->lock);
}

int rcm_channel_get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret;

	while ((ret = take_delivered(channel, types, ret_event)) == -EAGAIN) {
		ret = wait_readable(channel->pub.fd);
		if (ret)
			break;
	}
	put_back_aside(channel);
	return ret;
}

/* Takes over what the kernel has ready, so that it comes before what is queued next. */
static void catch_up_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!read_kernel_locked(channel))
		;
	pthread_setcancelstate(cancel, NULL);
}

void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_acquire(&channel->lock);
	if (atomic_load_explicit(&event->id->kernel_busy, memory_order_relaxed))
		catch_up_locked(channel);
	append_locked(channel, event);
	show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_withdraw(struct rcm_channel *channel, struct rcm_id *id,
			  struct rcm_event_list *ret_list)
{
	struct rcm_event *event;

	rcm_lock_acquire(&channel->lock);
	while ((event = TAILQ_FIRST(&id->undelivered))) {
		unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(ret_list, event, in_channel);
	}
	show_locked(channel);
	rcm_lock_release(&channel->lock);
}

bool rcm_channel_withdraw_one(struct rcm_channel *channel, struct rcm_event *event)
{
	bool queued;

	rcm_lock_acquire(&channel->lock);
	queued = event->list;
	if (queued)
		unlink_locked(channel, event);
	show_locked(channel);
	rcm_lock_release(&channel->lock);
	return queued;
}

/* Lower address first: no two moves wait for each other. */
static void lock_both(struct rcm_channel *a, struct rcm_channel *b) RCM_UNCHECKED
{
	rcm_lock_acquire(a < b ? &a->lock : &b->lock);
	rcm_lock_acquire(a < b ? &b->lock : &a->lock);
}

/* The kernel leaves a request's new id on the old descriptor, where its commands go: so what waits there is read
 * first. */
static int move_in_kernel(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	uint32_t events;

	if (!id->has_handle)
		return 0;
	if (to->ucma.fd < 0)
		return -ENODEV;
	catch_up_locked(from);
	return rcm_ucma_migrate_id(&to->ucma, id->handle, from->ucma.fd, &events);
}

static void move_events(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	struct rcm_event_list moved = TAILQ_HEAD_INITIALIZER(moved);
	struct rcm_event *event;

	while ((event = TAILQ_FIRST(&id->undelivered))) {
		unlink_locked(from, event);
		TAILQ_INSERT_TAIL(&moved, event, in_channel);
	}
	while ((event = TAILQ_FIRST(&moved))) {
		TAILQ_REMOVE(&moved, event, in_channel);
		append_locked(to, event);
	}
}

/* MIGRATE_ID wakes nobody who waits for the events that it moved: epoll has to look at the descriptor again. */
static void look_again(struct rcm_channel *channel)
{
	struct epoll_event e = { .events = EPOLLIN };

	if (channel->ucma.fd >= 0)
		epoll_ctl(channel->pub.fd, EPOLL_CTL_MOD, channel->ucma.fd, &e);
}

int rcm_channel_move(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	int ret;

	lock_both(from, to);
	ret = move_in_kernel(id, from, to);
	if (!ret) {
		move_events(id, from, to);
		look_again(to);
	}
	show_locked(from);
	show_locked(to);
	rcm_lock_release(&from->lock);
	rcm_lock_release(&to->lock);
	return ret;
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
		unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(&rest, event, in_channel);
	}
	rcm_lock_release(&channel->lock);
	rcm_event_discard_all(&rest);
	rcm_lock_acquire(&channel->lock);
	close_descriptors(channel);
	rcm_lock_release(&channel->lock);
	rcm_channel_put(channel);
}
