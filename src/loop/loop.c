/* SPDX-License-Identifier: BSD-2-Clause */
/* A small epoll loop. */
#include "loop/loop.h"

#include <assert.h>
#include <stddef.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fds.h"
#include "base/limits.h"
#include "loop/timer.h"

static_assert((int)EPOLLIN == RCM_READABLE && (int)EPOLLOUT == RCM_WRITABLE &&
	      (int)EPOLLERR == RCM_BROKEN && (int)EPOLLHUP == RCM_HANGUP && (uint32_t)EPOLLET == RCM_EDGE,
	      "a source's events are epoll's");

int rcm_loop_init(struct rcm_loop *loop)
{
	int fd = rcm_fds_add(epoll_create1(EPOLL_CLOEXEC));

	if (fd < 0)
		return fd;
	*loop = (struct rcm_loop){ .epfd = fd, .now = rcm_clock_now() };
	TAILQ_INIT(&loop->due);
	return 0;
}

void rcm_loop_done(struct rcm_loop *loop)
{
	rcm_fds_close(loop->epfd);
	loop->epfd = -1;
}

static int loop_control(struct rcm_source *source, int op, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = source };

	return epoll_ctl(source->loop->epfd, op, source->fd, &e) ? rcm_errno() : 0;
}

int rcm_source_add(struct rcm_loop *loop, struct rcm_source *source, int fd, uint32_t events,
		   void (*ready)(struct rcm_source *, uint32_t))
{
	int ret;

	*source = (struct rcm_source){ .fd = fd, .events = events, .ready = ready, .loop = loop };
	ret = loop_control(source, EPOLL_CTL_ADD, events);
	if (ret)
		source->loop = NULL;
	return ret;
}

int rcm_source_change(struct rcm_source *source, uint32_t events)
{
	int ret;

	if (events == source->events)
		return 0;
	ret = loop_control(source, EPOLL_CTL_MOD, events);
	if (!ret)
		source->events = events;
	return ret;
}

void rcm_source_remove(struct rcm_source *source)
{
	struct rcm_loop *loop = source->loop;

	if (!loop)
		return;
	loop_control(source, EPOLL_CTL_DEL, 0);
	for (unsigned i = 0; i < loop->batched; i++)
		if (loop->batch[i] == source)
			loop->batch[i] = NULL;
	source->loop = NULL;
}

int rcm_loop_turn(struct rcm_loop *loop, int max_wait_ms)
{
	struct epoll_event events[RCM_TURN_EVENTS];
	struct rcm_source *batch[RCM_TURN_EVENTS];
	int n, wait_ms, ret;

	wait_ms = rcm_timers_wait_ms(loop, rcm_clock_now(), max_wait_ms);
	if (loop->before_wait)
		loop->before_wait(loop);
	n = epoll_wait(loop->epfd, events, RCM_TURN_EVENTS, wait_ms);
	ret = n < 0 && errno != EINTR ? rcm_errno() : 0;
	if (loop->after_wait)
		loop->after_wait(loop);
	if (ret)
		return ret;
	loop->now = rcm_clock_now();
	for (int i = 0; i < n; i++)
		batch[i] = events[i].data.ptr;
	loop->batch = batch;
	loop->batched = n > 0 ? (unsigned)n : 0;
	for (int i = 0; i < n; i++)
		if (batch[i])
			batch[i]->ready(batch[i], events[i].events);
	loop->batch = NULL;
	loop->batched = 0;
	rcm_timers_fire(loop, loop->now);
	return 0;
}
