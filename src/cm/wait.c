/* SPDX-License-Identifier: BSD-2-Clause */
/* A blocked reader of a channel: until an event is due, and its delivery agrees. */
#include "cm/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/err.h"
#include "base/fork.h"
#include "base/log.h"
#include "cm/rouse.h"
#include "cm/take.h"

/*
 * A wait that can't be roused looks by itself. A call's wait for the kernel begins as such a one, briefly, since most
 * are over by then, and a second descriptor costs more than the deadline: who destroys its id waits as long at most.
 */
enum { BRIEF_MS = 10, LOOK_MS = 100 };

/* A reader that waits, with cancellation held off but for the wait itself. */
struct wait {
	struct rcm_reader reader;
	struct rcm_rouse rouse;
	bool awaits_own;			/* counts as a call that waits on channel->own */
	bool lasts;				/* no longer brief: it is to be roused */
	unsigned generation;			/* the process that it sleeps in */
	int cancel_state;			/* the caller's */
};

/* What this thread sleeps in, or left by siglongjmp(3), and what that holds. */
static _Thread_local struct {
	const struct wait *wait;		/* NULL: nothing; not to be followed */
	struct wait held;
	bool ends_with_thread;
} asleep;

static pthread_key_t thread_end;
static atomic_bool has_thread_end;

static void wait_end(void *arg)
{
	struct wait *wait = arg;

	rcm_rouse_leave(&wait->rouse);
	if (wait->awaits_own)
		rcm_channel_await_own(wait->reader.channel, -1);
	rcm_reader_end(&wait->reader);
}

/* In the child of a fork the channel has forgotten who waited. */
static void wait_hold_nothing(struct wait *wait)
{
	wait->reader.uses = false;
	wait->awaits_own = false;
}

void rcm_wait_give_up_left(void)
{
	if (!asleep.wait)
		return;
	asleep.wait = NULL;
	if (asleep.held.generation != rcm_fork_generation)
		wait_hold_nothing(&asleep.held);
	wait_end(&asleep.held);
}

/* Of a thread that jumped out of one, and ends. */
static void thread_ends(void *unused)
{
	(void)unused;
	rcm_wait_give_up_left();
}

__attribute__((constructor)) static void wait_watch_threads(void)
{
	has_thread_end = !pthread_key_create(&thread_end, thread_ends);
}

/* The archive may be a part of what dlclose(3) unmaps. */
__attribute__((destructor)) static void wait_forget_threads(void)
{
	if (atomic_exchange(&has_thread_end, false))
		pthread_key_delete(thread_end);
}

static void wait_sleeps(struct wait *wait)
{
	rcm_wait_give_up_left();
	if (!asleep.ends_with_thread)
		asleep.ends_with_thread = has_thread_end && !pthread_setspecific(thread_end, &asleep);
	wait->generation = rcm_fork_generation;
	asleep.held = *wait;
	/* What a signal handler gives up is whole. */
	atomic_signal_fence(memory_order_release);
	asleep.wait = wait;
}

/* Where a signal handler's call has given it up, or its fork is awake here, it holds nothing any more. */
static void wait_woke(struct wait *wait)
{
	if (asleep.wait != wait)
		wait->rouse = (struct rcm_rouse){ 0 };
	if (asleep.wait != wait || wait->generation != rcm_fork_generation)
		wait_hold_nothing(wait);
	asleep.wait = NULL;
}

static int wait_poll(struct pollfd on[2], int timeout_ms)
{
	return poll(on, 2, timeout_ms) < 0 ? rcm_errno() : 0;
}

static void wait_cancelled(void *wait)
{
	wait_woke(wait);
	wait_end(wait);
}

/* A reader that is cancelled here is no user of the channel any more. */
static int wait_poll_cancellable(struct wait *wait, struct pollfd on[2], int timeout_ms)
{
	int ret;

	pthread_cleanup_push(wait_cancelled, wait);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	ret = wait_poll(on, timeout_ms);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	return ret;
}

/* 1: readable. 0: it is to look, as it was roused, joined those that are only now, or looks by itself. */
static int wait_readable(struct wait *wait)
{
	const struct rcm_channel *channel = wait->reader.channel;
	struct pollfd on[] = { { .fd = channel->pub.fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	int timeout_ms = -1, ret;

	/* What covers it shows to all that wait on it. */
	if (channel->bare && !wait->lasts) {
		timeout_ms = BRIEF_MS;
	} else if (channel->bare) {
		if (rcm_rouse_join(&wait->rouse))
			return 0;
		on[1].fd = rcm_rouse_fd(&wait->rouse);
		timeout_ms = on[1].fd < 0 ? LOOK_MS : -1;
	}
	wait_sleeps(wait);
	if (wait->cancel_state == PTHREAD_CANCEL_ENABLE)
		ret = wait_poll_cancellable(wait, on, timeout_ms);
	else
		ret = wait_poll(on, timeout_ms);
	wait_woke(wait);
	if (ret)
		return ret;
	if (on[0].revents & POLLNVAL)
		return -EBADF;
	wait->lasts = true;
	return on[0].revents != 0;
}

static bool is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* Whether it reaches the application. */
static bool wait_delivers(struct rcm_event *event)
{
	int ret = rcm_event_deliver(event);

	if (ret) {
		rcm_trace("%s for nobody dropped", rcm_event_name(event->pub.event));
		rcm_event_untake(event);
	}
	return !ret;
}

/* Until deliver() agrees. */
static int wait_take(struct wait *wait, struct rcm_event **ret_event)
{
	int ret;

	do {
		ret = rcm_reader_take(&wait->reader, ret_event);
	} while (!ret && !wait_delivers(*ret_event));
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

/* Until something may be due. -EAGAIN: the application doesn't wait. */
static int wait_due(struct wait *wait)
{
	struct rcm_channel *channel = wait->reader.channel;
	unsigned reads;
	bool blocking;
	int ret = 0;

	if (wait->reader.types == RCM_EVENTS_ALL)
		show_own(channel);
	reads = atomic_load_explicit(&channel->reads, memory_order_relaxed);
	blocking = is_blocking(channel->pub.fd);
	if (blocking)
		ret = wait_readable(wait);
	else if (!channel->bare)
		ret = -EAGAIN;
	if (ret < 0 || !channel->bare)
		return ret < 0 ? ret : 0;
	if (blocking && !ret)
		return 0;
	ret = rcm_channel_read_bare(channel, blocking ? &reads : NULL);
	return ret == -EAGAIN && blocking ? 0 : ret;
}

/* Before a look: what is posted after that rings. */
static void wait_await_own(struct wait *wait)
{
	if (!wait->awaits_own)
		rcm_channel_await_own(wait->reader.channel, 1);
	wait->awaits_own = true;
}

/* A deadline that never comes: with one, a signal handler always ends the wait, SA_RESTART or not. */
static int wait_own_due(struct wait *wait)
{
	struct rcm_channel *channel = wait->reader.channel;
	const struct timespec never = { .tv_sec = INT32_MAX };
	int ret;

	if (!is_blocking(channel->pub.fd)) {
		ret = rcm_channel_cover(channel);
		return ret ? ret : -EAGAIN;
	}
	wait_sleeps(wait);
	ret = sem_clockwait(&channel->own, CLOCK_MONOTONIC, &never) ? rcm_errno() : 0;
	wait_woke(wait);
	if (!ret)
		wait_await_own(wait);
	return ret;
}

/* looked: what a first look said. */
static int wait_get(struct wait *wait, int (*due)(struct wait *wait), int looked, struct rcm_event **ret_event)
{
	int ret = looked;

	while (ret == -EAGAIN) {
		ret = due(wait);
		if (ret)
			break;
		ret = wait_take(wait, ret_event);
	}
	wait_end(wait);
	return ret;
}

static struct wait wait_for(struct rcm_channel *channel, uint32_t types, int cancel_state)
{
	return (struct wait){
		.reader = { .channel = channel, .types = types }, .lasts = types == RCM_EVENTS_ALL,
		.cancel_state = cancel_state,
	};
}

/* Apart from what most calls do, which saves no registers for it. */
__attribute__((noinline))
static int wait_after_look(struct rcm_channel *channel, int looked, struct rcm_event **ret_event)
{
	struct wait wait = wait_for(channel, RCM_EVENTS_ALL, PTHREAD_CANCEL_DISABLE);
	int ret = looked;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &wait.cancel_state);
	if (ret)
		ret = rcm_reader_begin(&wait.reader);
	else if (!wait_delivers(*ret_event))
		ret = wait_take(&wait, ret_event);
	ret = wait_get(&wait, wait_due, ret, ret_event);
	pthread_setcancelstate(wait.cancel_state, NULL);
	return ret;
}

/* What is there and complete is taken without a hold on cancellation: nothing on the way is a cancellation point. */
int rcm_channel_get(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	int ret = rcm_channel_take(channel, ret_event);

	if (ret ? ret != -EAGAIN : !(*ret_event)->ops->deliver)
		return ret;
	return wait_after_look(channel, ret, ret_event);
}

int rcm_channel_get_held(struct rcm_channel *channel, int cancel_state, struct rcm_event **ret_event)
{
	struct wait wait = wait_for(channel, RCM_EVENTS_ALL, cancel_state);

	return wait_get(&wait, wait_due, wait_take(&wait, ret_event), ret_event);
}

int rcm_channel_get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	struct wait wait = wait_for(channel, types, PTHREAD_CANCEL_DISABLE);

	return wait_get(&wait, wait_due, wait_take(&wait, ret_event), ret_event);
}

int rcm_channel_get_own(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	struct wait wait = wait_for(channel, types, PTHREAD_CANCEL_DISABLE);

	wait_await_own(&wait);
	return wait_get(&wait, wait_own_due, wait_take(&wait, ret_event), ret_event);
}
