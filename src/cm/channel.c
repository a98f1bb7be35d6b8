/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#include "cm/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/container.h"
#include "base/err.h"
#include "base/log.h"
#include "cm/handlers.h"
#include "cm/id.h"
#include "cm/rouse.h"
#include "cm/table.h"

/* The queue comes before the kernel; but one take in so many looks at the kernel too, lest an application that always
 * has an event of its own waiting starves the others. */
enum { KERNEL_LOOK_EVERY = 16 };

static void close_descriptors(struct rcm_channel *channel) RCM_UNCHECKED
{
	if (channel->pub.fd >= 0 && !channel->bare)
		close(channel->pub.fd);
	channel->pub.fd = -1;
	rcm_readiness_close(&channel->readiness);
	rcm_ucma_close(&channel->ucma);
}

/* The kernel's own descriptor is enough for who waits for the kernel's events alone; and it waits, as the application's
 * O_NONBLOCK says. */
static int open_descriptors(struct rcm_channel *channel, bool sync) RCM_UNCHECKED
{
	int ret = rcm_ucma_open(&channel->ucma);

	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
		return ret;
	channel->for_sync = sync;
	if (ret || !sync)
		return rcm_readiness_open(&channel->readiness, channel->ucma.fd, &channel->pub.fd);
	channel->pub.fd = channel->ucma.fd;
	channel->bare = true;
	return fcntl(channel->pub.fd, F_SETFL, 0) ? rcm_errno() : 0;
}

static int channel_open(bool sync, struct rcm_channel **ret_channel) RCM_UNCHECKED
{
	struct rcm_channel *channel = calloc(1, sizeof(*channel));
	int ret;

	if (!channel)
		return -ENOMEM;
	channel->pub.fd = -1;
	channel->readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
	channel->ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
	ret = open_descriptors(channel, sync);
	if (ret) {
		close_descriptors(channel);
		free(channel);
		return ret;
	}
	atomic_init(&channel->refs, 1);
	rcm_lock_init(&channel->lock);
	rcm_lock_init(&channel->reading);
	pthread_cond_init(&channel->left, NULL);
	sem_init(&channel->own, 0, 0);
	TAILQ_INIT(&channel->queue);
	TAILQ_INIT(&channel->aside);
	TAILQ_INIT(&channel->nobodys);
	rcm_roll_add(RCM_ROLL_CHANNELS, &channel->roll);
	*ret_channel = channel;
	return 0;
}

int rcm_channel_new(struct rcm_channel **ret_channel)
{
	return channel_open(false, ret_channel);
}

int rcm_channel_new_sync(struct rcm_channel **ret_channel)
{
	return channel_open(true, ret_channel);
}

struct rcm_channel *rcm_channel_ref(struct rcm_channel *channel)
{
	atomic_fetch_add_explicit(&channel->refs, 1, memory_order_relaxed);
	return channel;
}

bool rcm_channel_ref_if_live(struct rcm_channel *channel)
{
	unsigned refs = atomic_load(&channel->refs);

	while (refs && !atomic_compare_exchange_weak(&channel->refs, &refs, refs + 1))
		;
	return refs;
}

/* Its memory is kept for a while, for calls of other threads that were on their way when it was destroyed: programs end
 * so, as rping, whose reader turns to the next event while the channel goes. */
void rcm_channel_put(struct rcm_channel *channel) RCM_UNCHECKED
{
	struct rcm_roll_entry *oldest;

	if (!channel || atomic_fetch_sub(&channel->refs, 1) != 1)
		return;
	pthread_cond_destroy(&channel->left);
	rcm_lock_done(&channel->lock);
	rcm_lock_done(&channel->reading);
	sem_destroy(&channel->own);
	free(channel->spare);
	rcm_roll_retire(&channel->roll, &oldest);
	if (oldest)
		free(rcm_container(oldest, struct rcm_channel, roll));
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

static int cover_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int ret = 0;

	rcm_lock_assert_held(&channel->lock);
	/* Nothing shows any more on one that goes. */
	if (channel->closing)
		return 0;
	if (channel->bare)
		ret = rcm_readiness_cover(&channel->readiness, channel->pub.fd, &channel->ucma.fd);
	if (!ret)
		channel->bare = false;
	return ret;
}

int rcm_channel_cover(struct rcm_channel *channel)
{
	int ret;

	if (!channel->bare)
		return 0;
	rcm_lock_acquire(&channel->lock);
	ret = cover_locked(channel);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	return ret;
}

/* Where no descriptor is left to cover it, what is queued is found by reading alone. */
void rcm_channel_show_locked(struct rcm_channel *channel)
{
	bool due = !TAILQ_EMPTY(&channel->queue);

	rcm_lock_assert_held(&channel->lock);
	if (channel->shared || channel->closing)
		return;
	if (channel->bare && (!due || channel->own_awaited || cover_locked(channel)))
		return;
	if (due)
		rcm_readiness_show(&channel->readiness, channel->pub.fd);
	else if (channel->readiness.shown)
		channel->takes = rcm_readiness_hide(&channel->readiness, channel->pub.fd) ? KERNEL_LOOK_EVERY - 1 : 0;
}

/* Reads one kernel event into *spare, which is made where it is NULL: 0, -EAGAIN. */
static int read_kernel(struct rcm_channel *channel, struct rcm_kernel_event **spare)
{
	if (channel->ucma.fd < 0)
		return -EAGAIN;
	if (!*spare)
		*spare = malloc(sizeof(**spare));
	return *spare ? rcm_ucma_get_event(&channel->ucma, &(*spare)->raw) : -ENOMEM;
}

/* What a later kernel may say, this library hands to nobody, under a type that it can count. */
static enum rdma_cm_event_type known_type(enum rdma_cm_event_type type)
{
	return (unsigned)type < RCM_EVENT_TYPES ? type : RDMA_CM_EVENT_INTERNAL;
}

/* Takes over what was read: it is at the queue's end, or, its id being gone, with nobodys. */
static void file_kernel_locked(struct rcm_channel *channel, struct rcm_kernel_event *read)
	RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event = &read->event;

	rcm_lock_assert_held(&channel->lock);
	read->channel = rcm_channel_ref(channel);
	read->mcast = NULL;
	*event = (struct rcm_event){
		.pub = { .event = known_type(read->raw.type), .status = read->raw.status },
		.ops = rcm_event_kernel_ops(read->raw.type),
		.id = rcm_table_find(read->raw.uid),
	};
	if (event->id) {
		event->pub.id = &event->id->pub;
		rcm_channel_append_locked(channel, event);
	} else {
		TAILQ_INSERT_TAIL(&channel->nobodys, event, in_channel);
	}
}

/* 0, -EAGAIN: none. A bare descriptor is not read under the lock: it may wait. */
static int read_kernel_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int ret;

	rcm_lock_assert_held(&channel->lock);
	if (channel->bare)
		return -EAGAIN;
	ret = read_kernel(channel, &channel->spare);
	if (ret)
		return ret;
	file_kernel_locked(channel, channel->spare);
	channel->spare = NULL;
	return 0;
}

/* With the descriptor's reading to itself: what is there stays there until it is read. */
static int read_bare_locked(struct rcm_channel *channel, struct rcm_kernel_event **spare)
	RCM_REQUIRES(channel->reading)
{
	struct pollfd p = { .fd = channel->ucma.fd, .events = POLLIN };

	rcm_lock_assert_held(&channel->reading);
	return poll(&p, 1, 0) == 1 ? read_kernel(channel, spare) : -EAGAIN;
}

int rcm_channel_read_bare(struct rcm_channel *channel)
{
	struct rcm_kernel_event *read = NULL;
	int cancel, ret;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rcm_lock_acquire(&channel->reading);
	ret = read_bare_locked(channel, &read);
	rcm_lock_release(&channel->reading);
	if (ret) {
		free(read);
	} else {
		rcm_lock_acquire(&channel->lock);
		file_kernel_locked(channel, read);
		rcm_lock_release(&channel->lock);
	}
	pthread_setcancelstate(cancel, NULL);
	return ret;
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
	int ret;

	rcm_lock_acquire(&channel->lock);
	ret = channel->closing ? -ECANCELED : 0;
	event = ret ? NULL : first_locked(channel, types);
	if (event && ++channel->takes % KERNEL_LOOK_EVERY == 0)
		read_kernel_locked(channel);
	while (!event && !ret) {
		ret = read_kernel_locked(channel);
		event = first_locked(channel, types);
	}
	if (event) {
		rcm_channel_unlink_locked(channel, event);
		rcm_id_taken(event->id, event);
		*ret_event = event;
		ret = 0;
	}
	if (!TAILQ_EMPTY(&channel->nobodys)) {
		TAILQ_CONCAT(&nobodys, &channel->nobodys, in_channel);
		channel->users++;
	}
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	if (!TAILQ_EMPTY(&nobodys)) {
		rcm_event_discard_all(&nobodys);
		rcm_channel_leave(channel);
	}
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

/* A synchronous resolution's outcome: the call waits for it, or soon will, or has covered the descriptor. */
static bool channel_call_takes(const struct rcm_channel *channel, const struct rcm_event *event)
{
	return channel->bare && (event->pub.event == RDMA_CM_EVENT_ADDRINFO_RESOLVED ||
				 event->pub.event == RDMA_CM_EVENT_ADDRINFO_ERROR);
}

void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_acquire(&channel->lock);
	rcm_channel_append_locked(channel, event);
	for (unsigned i = 0; i < channel->own_awaited; i++)
		sem_post(&channel->own);
	if (!channel_call_takes(channel, event))
		rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_await_own(struct rcm_channel *channel, int calls)
{
	rcm_lock_acquire(&channel->lock);
	channel->own_awaited += (unsigned)calls;
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

void rcm_channel_look_again_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (!channel->bare && channel->ucma.fd >= 0)
		rcm_readiness_look_again(channel->pub.fd, channel->ucma.fd);
}

int rcm_channel_use(struct rcm_channel *channel)
{
	int ret;

	rcm_lock_acquire(&channel->lock);
	ret = channel->closing ? -ECANCELED : 0;
	if (!ret)
		channel->users++;
	rcm_lock_release(&channel->lock);
	return ret;
}

void rcm_channel_leave(void *arg)
{
	struct rcm_channel *channel = arg;

	rcm_lock_acquire(&channel->lock);
	/* In the child of a fork that a signal handler made nobody counts, not even who waited. */
	if (channel->users && !--channel->users)
		pthread_cond_broadcast(&channel->left);
	rcm_lock_release(&channel->lock);
}

/* A wait that was told of an event goes to read it, and must not wait there once that is gone with its id. Readable
 * until it is closed, or goes on: all that wait on the descriptor see it, but for those that found it bare. */
void rcm_channel_stop(struct rcm_channel *channel)
{
	bool used;

	rcm_lock_acquire(&channel->lock);
	channel->closing = true;
	used = channel->users;
	if (used && !channel->bare)
		rcm_readiness_show(&channel->readiness, channel->pub.fd);
	for (unsigned i = 0; i < channel->users; i++)
		sem_post(&channel->own);
	rcm_lock_release(&channel->lock);
	if (!used)
		return;
	if (channel->for_sync)
		rcm_rouse_begin();
	rcm_lock_acquire(&channel->lock);
	while (channel->users)
		rcm_lock_wait(&channel->lock, &channel->left);
	rcm_lock_release(&channel->lock);
	if (channel->for_sync)
		rcm_rouse_end();
}

void rcm_channel_resume(struct rcm_channel *channel)
{
	rcm_lock_acquire(&channel->lock);
	channel->closing = false;
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_close(struct rcm_channel *channel)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);
	struct rcm_event *event;

	if (!channel)
		return;
	rcm_channel_stop(channel);
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
