/* SPDX-License-Identifier: BSD-2-Clause */
/* A blocked reader of a channel: until an event is due, and its delivery agrees. */
#include "cm/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "cm/rouse.h"
#include "cm/take.h"

/* A wait that can't be roused looks by itself. */
enum { LOOK_MS = 100 };

/* 1: readable. 0: it was roused, for another wait to end or because the channel was stopped; or it is time to look. */
static int wait_readable(const struct rcm_channel *channel, const struct rcm_rouse *rouse)
{
	struct pollfd p[] = { { .fd = channel->pub.fd, .events = POLLIN }, { .fd = rouse->fd, .events = POLLIN } };

	if (poll(p, 2, channel->for_sync && rouse->fd < 0 ? LOOK_MS : -1) < 0)
		return rcm_errno();
	if (p[1].revents && !p[0].revents)
		rcm_rouse_await_change(rouse);
	if (p[0].revents & POLLNVAL)
		return -EBADF;
	return p[0].revents != 0;
}

static bool is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* Whether it reaches the application. What completes one may be a cancellation point. */
static bool wait_delivers(struct rcm_event *event)
{
	int cancel, ret;

	if (!event->ops->deliver)
		return true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = rcm_event_deliver(event);
	if (ret) {
		rcm_trace("%s for nobody dropped", rcm_event_name(event->pub.event));
		rcm_event_untake(event);
	}
	pthread_setcancelstate(cancel, NULL);
	return !ret;
}

/* As take(), until deliver() agrees. */
static int take_delivered(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret;

	while (!(ret = rcm_channel_take(channel, types, ret_event)))
		if (wait_delivers(*ret_event))
			break;
	return ret;
}

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Who is about to wait for just anything has to see events of the library's own, too. Without a descriptor for them it
 * still gets the kernel's. */
static void show_own(struct rcm_channel *channel)
{
	int ret;

	if (!channel->bare || is_readable(channel->pub.fd) || !is_blocking(channel->pub.fd))
		return;
	ret = rcm_channel_cover(channel);
	if (ret)
		rcm_info("no descriptor for events of our own: errno %d", -ret);
}

static int wait_used(struct rcm_channel *channel, bool for_all, const struct rcm_rouse *rouse)
{
	unsigned reads;
	bool blocking;
	int ret = 0;

	if (for_all)
		show_own(channel);
	reads = atomic_load_explicit(&channel->reads, memory_order_relaxed);
	blocking = is_blocking(channel->pub.fd);
	if (blocking)
		ret = wait_readable(channel, rouse);
	else if (!channel->bare)
		ret = -EAGAIN;
	if (ret < 0 || !channel->bare)
		return ret < 0 ? ret : 0;
	if (blocking && !ret)
		return 0;
	ret = rcm_channel_read_bare(channel, blocking ? &reads : NULL);
	return ret == -EAGAIN && blocking ? 0 : ret;
}

/* Until something may be due. -EAGAIN: the application doesn't wait; -ECANCELED: the channel was stopped. A reader that
 * is cancelled meanwhile is no user of the channel any more. */
static int wait_due(struct rcm_channel *channel, bool for_all)
{
	struct rcm_rouse rouse = { .fd = -1 };
	int ret;

	/* Before the look whether the channel was stopped, lest nobody tells of that any more. */
	if (channel->for_sync)
		rcm_rouse_begin_wait(&rouse);
	ret = rcm_channel_use(channel);
	if (ret)
		return ret;
	pthread_cleanup_push(rcm_channel_leave, channel);
	ret = wait_used(channel, for_all, &rouse);
	pthread_cleanup_pop(1);
	return ret;
}

static void wait_put_channel(void *channel)
{
	rcm_channel_put(channel);
}

/* Nothing was due a moment ago; what came since shows. */
static int wait_delivered(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	int ret;

	do {
		ret = wait_due(channel, true);
		if (ret)
			return ret;
		ret = take_delivered(channel, RCM_EVENTS_ALL, ret_event);
	} while (ret == -EAGAIN);
	return ret;
}

static int get_waiting(struct rcm_channel *channel, bool looked, struct rcm_event **ret_event)
{
	int ret;

	if (!rcm_channel_ref_if_live(channel))
		return -ECANCELED;
	pthread_cleanup_push(wait_put_channel, channel);
	ret = looked ? -EAGAIN : take_delivered(channel, RCM_EVENTS_ALL, ret_event);
	if (ret == -EAGAIN)
		ret = wait_delivered(channel, ret_event);
	pthread_cleanup_pop(1);
	return ret;
}

/* The first look, under the channel's lock, needs no reference: a destroyed one's memory and lock are kept as long as
 * a call can be on its way here. */
int rcm_channel_get(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	int ret = rcm_channel_take(channel, RCM_EVENTS_ALL, ret_event);

	if (ret ? ret != -EAGAIN : wait_delivers(*ret_event))
		return ret;
	return get_waiting(channel, ret, ret_event);
}

int rcm_channel_get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret;

	while ((ret = take_delivered(channel, types, ret_event)) == -EAGAIN) {
		ret = wait_due(channel, false);
		if (ret)
			break;
	}
	rcm_channel_put_back_aside(channel);
	return ret;
}

/* A deadline that never comes: with one, a signal handler always ends the wait, SA_RESTART or not. */
static int wait_own(struct rcm_channel *channel)
{
	const struct timespec never = { .tv_sec = INT32_MAX };

	if (!is_blocking(channel->pub.fd)) {
		int ret = rcm_channel_cover(channel);

		return ret ? ret : -EAGAIN;
	}
	return sem_clockwait(&channel->own, CLOCK_MONOTONIC, &never) ? rcm_errno() : 0;
}

static int wait_own_due(struct rcm_channel *channel)
{
	int ret = rcm_channel_use(channel);

	if (ret)
		return ret;
	pthread_cleanup_push(rcm_channel_leave, channel);
	ret = wait_own(channel);
	pthread_cleanup_pop(1);
	return ret;
}

int rcm_channel_get_own(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret;

	/* Before the look: what is posted after it rings. */
	rcm_channel_await_own(channel, 1);
	while ((ret = take_delivered(channel, types, ret_event)) == -EAGAIN) {
		ret = wait_own_due(channel);
		if (ret)
			break;
	}
	rcm_channel_await_own(channel, -1);
	rcm_channel_put_back_aside(channel);
	return ret;
}
