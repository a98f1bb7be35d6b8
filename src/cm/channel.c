/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#include "cm/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/container.h"
#include "base/zalloc.h"
#include "cm/id.h"
#include "cm/rouse.h"

/* Those that are still the channel's. The kernel's alone nobody can prove: the program may have one of its own. */
static void channel_close_descriptors(struct rcm_channel *channel) RCM_UNCHECKED
{
	int fd = channel->pub.fd;
	bool known = rcm_readiness_close(&channel->readiness, fd);

	if (channel->bare ? rcm_fds_is_claimed(fd, channel->claim) :
			    known && rcm_readiness_is_over(fd, channel->ucma.fd))
		rcm_ucma_close(&channel->ucma);
	channel->ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
	if (known)
		close(fd);
	channel->pub.fd = -1;
}

/* The kernel's own descriptor is enough for who waits for the kernel's events alone; and it waits, as the application's
 * O_NONBLOCK says. */
static int channel_open_descriptors(struct rcm_channel *channel, bool sync) RCM_UNCHECKED
{
	int ret = rcm_ucma_open(&channel->ucma, sync ? 0 : O_NONBLOCK);

	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
		return ret;
	channel->for_sync = sync;
	if (ret || !sync) {
		ret = rcm_readiness_open(&channel->readiness, channel->ucma.fd, &channel->pub.fd);
		if (ret)
			rcm_ucma_close(&channel->ucma);
		return ret;
	}
	channel->pub.fd = channel->ucma.fd;
	channel->claim = rcm_fds_claim(channel->pub.fd);
	channel->bare = true;
	return 0;
}

static int channel_open(bool sync, struct rcm_channel **ret_channel) RCM_UNCHECKED
{
	struct rcm_channel *channel = rcm_zalloc(sizeof(*channel));
	int ret;

	if (!channel)
		return -ENOMEM;
	channel->readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
	channel->ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
	ret = channel_open_descriptors(channel, sync);
	if (ret) {
		free(channel);
		return ret;
	}
	atomic_init(&channel->refs, 1);
	rcm_lock_init(&channel->lock);
	rcm_lock_init(&channel->reading);
	channel->left = (struct rcm_condition)RCM_CONDITION_INIT;
	sem_init(&channel->own, 0, 0);
	TAILQ_INIT(&channel->queue);
	TAILQ_INIT(&channel->aside);
	TAILQ_INIT(&channel->nobodys);
	rcm_roll_add(&channel->roll);
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

/* Its memory and its lock are kept for a while, for calls of other threads that were on their way when it was
 * destroyed: programs end so, as rping, whose reader turns to the next event while the channel goes. */
void rcm_channel_put(struct rcm_channel *channel) RCM_UNCHECKED
{
	struct rcm_roll_entry *oldest;

	if (!channel || atomic_fetch_sub(&channel->refs, 1) != 1)
		return;
	sem_destroy(&channel->own);
	free(channel->spare);
	channel->spare = NULL;
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

bool rcm_channel_is_known_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (channel->bare)
		return rcm_fds_is_claimed(channel->pub.fd, channel->claim) &&
		       rcm_ucma_is(&channel->ucma, channel->pub.fd);
	return rcm_readiness_knows(&channel->readiness, channel->pub.fd);
}

void rcm_channel_lose_unknown_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (rcm_channel_is_known_locked(channel))
		return;
	rcm_readiness_close(&channel->readiness, channel->pub.fd);
	channel->pub.fd = -1;
	channel->bare = false;
	atomic_store(&channel->ucma.fd, -1);
}

/* Who is asleep on the bare descriptor, as it was readable a moment ago say, goes on to what covers it. */
static int channel_cover_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int ret;

	rcm_lock_assert_held(&channel->lock);
	/* Nothing shows any more on one that goes. */
	if (channel->closing || !channel->bare)
		return 0;
	if (!rcm_channel_is_known_locked(channel))
		return -EBADF;
	ret = rcm_readiness_cover(&channel->readiness, channel->pub.fd, &channel->ucma.fd);
	if (ret)
		return ret;
	channel->bare = false;
	if (channel->users)
		rcm_rouse_all();
	return 0;
}

int rcm_channel_cover(struct rcm_channel *channel)
{
	int ret;

	if (!channel->bare)
		return 0;
	rcm_lock_acquire(&channel->lock);
	ret = channel_cover_locked(channel);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	return ret;
}

/* Where no descriptor is left to cover it, what is queued is found by reading alone. */
void rcm_channel_turn_locked(struct rcm_channel *channel)
{
	bool due = !TAILQ_EMPTY(&channel->queue);

	rcm_lock_assert_held(&channel->lock);
	if (channel->shared || channel->closing)
		return;
	if (channel->bare && (!due || channel->own_awaited || channel_cover_locked(channel)))
		return;
	if (due)
		rcm_readiness_show(&channel->readiness, channel->pub.fd);
	else
		channel->takes = rcm_readiness_hide(&channel->readiness, channel->pub.fd) ?
				  RCM_KERNEL_LOOK_EVERY - 1 : 0;
}

/* A synchronous resolution's outcome: the call waits for it, or soon will, or has covered the descriptor. */
static bool channel_call_takes(const struct rcm_channel *channel, const struct rcm_event *event)
{
	return channel->bare && (event->pub.event == RDMA_CM_EVENT_ADDRINFO_RESOLVED ||
				 event->pub.event == RDMA_CM_EVENT_ADDRINFO_ERROR);
}

/* True: it has to show. */
static bool channel_queue_locked(struct rcm_channel *channel, struct rcm_event *event) RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	rcm_channel_append_locked(channel, event);
	for (unsigned i = 0; i < channel->own_awaited; i++)
		sem_post(&channel->own);
	return !channel_call_takes(channel, event);
}

void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event)
{
	rcm_lock_acquire(&channel->lock);
	if (channel_queue_locked(channel, event))
		rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

bool rcm_channel_post_unshown(struct rcm_channel *channel, struct rcm_event *event)
{
	bool shows;

	rcm_lock_acquire(&channel->lock);
	shows = channel_queue_locked(channel, event);
	rcm_lock_release(&channel->lock);
	return shows;
}

void rcm_channel_show(struct rcm_channel *channel)
{
	rcm_lock_acquire(&channel->lock);
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_await_own(struct rcm_channel *channel, int calls)
{
	rcm_lock_acquire(&channel->lock);
	channel->own_awaited += (unsigned)calls;
	rcm_lock_release(&channel->lock);
}

/* Of an id that ends, as it may where the program has closed all: by then the numbers may be those of its own loop. */
static void channel_show_proven_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	if (TAILQ_EMPTY(&channel->queue) && channel->readiness.shown)
		rcm_readiness_doubt(&channel->readiness);
	rcm_channel_show_locked(channel);
}

void rcm_channel_withdraw_locked(struct rcm_channel *channel, struct rcm_id *id, struct rcm_event_list *ret_list)
{
	struct rcm_event *event;

	rcm_lock_assert_held(&channel->lock);
	while ((event = TAILQ_FIRST(&id->undelivered))) {
		rcm_channel_unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(ret_list, event, in_channel);
	}
	channel_show_proven_locked(channel);
}

bool rcm_channel_withdraw_one(struct rcm_channel *channel, struct rcm_event *event)
{
	bool queued;

	rcm_lock_acquire(&channel->lock);
	queued = event->list;
	if (queued)
		rcm_channel_unlink_locked(channel, event);
	channel_show_proven_locked(channel);
	rcm_lock_release(&channel->lock);
	return queued;
}

void rcm_channel_look_again_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (!channel->bare && channel->ucma.fd >= 0)
		rcm_readiness_look_again(&channel->readiness, channel->pub.fd, channel->ucma.fd);
}

/* In the child of a fork that a signal handler made nobody counts, not even who waited. */
void rcm_channel_leave_locked(struct rcm_channel *channel)
{
	rcm_lock_assert_held(&channel->lock);
	if (channel->users && !--channel->users)
		rcm_lock_broadcast(&channel->lock, &channel->left);
}

/* A wait that was told of an event goes to read it, and must not wait there once that is gone with its id. Readable
 * until it is closed, or goes on: all that wait on the descriptor see it, but for those that found it bare. */
void rcm_channel_stop(struct rcm_channel *channel)
{
	bool used;

	rcm_lock_acquire(&channel->lock);
	channel->closing = true;
	used = channel->users;
	if (used && !channel->bare) {
		rcm_readiness_doubt(&channel->readiness);
		rcm_readiness_show(&channel->readiness, channel->pub.fd);
	}
	for (unsigned i = 0; i < channel->users; i++)
		sem_post(&channel->own);
	rcm_lock_release(&channel->lock);
	if (!used)
		return;
	if (channel->for_sync)
		rcm_rouse_all();
	rcm_lock_acquire(&channel->lock);
	while (channel->users)
		rcm_lock_wait(&channel->lock, &channel->left);
	rcm_lock_release(&channel->lock);
}

void rcm_channel_resume(struct rcm_channel *channel)
{
	rcm_lock_acquire(&channel->lock);
	channel->closing = false;
	rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
}

/* False: nothing was left. */
static bool channel_empty_locked(struct rcm_channel *channel, struct rcm_event_list *rest) RCM_REQUIRES(channel->lock)
{
	struct rcm_event *event;

	rcm_lock_assert_held(&channel->lock);
	TAILQ_CONCAT(rest, &channel->nobodys, in_channel);
	while ((event = TAILQ_FIRST(&channel->queue))) {
		rcm_channel_unlink_locked(channel, event);
		TAILQ_INSERT_TAIL(rest, event, in_channel);
	}
	return !TAILQ_EMPTY(rest);
}

void rcm_channel_close(struct rcm_channel *channel)
{
	struct rcm_event_list rest = TAILQ_HEAD_INITIALIZER(rest);

	if (!channel)
		return;
	rcm_channel_stop(channel);
	rcm_lock_acquire(&channel->lock);
	/* What is dropped may have a command for the kernel. */
	while (channel_empty_locked(channel, &rest)) {
		rcm_lock_release(&channel->lock);
		rcm_event_discard_all(&rest);
		rcm_lock_acquire(&channel->lock);
	}
	channel_close_descriptors(channel);
	rcm_lock_release(&channel->lock);
	rcm_channel_put(channel);
}
