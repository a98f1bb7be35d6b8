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
	int fd = rcm_fds_add(epoll_create1(EPOLL_CLOEXEC)), ret;
	struct epoll_event none;

	if (fd < 0)
		return fd;
	/* A sandbox that forbids it is to be known before anybody relies on the loop. */
	if (epoll_wait(fd, &none, 1, 0) < 0 && errno != EINTR) {
		ret = rcm_errno();
		rcm_fds_close(fd);
		return ret;
	}
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

int rcm_source_arm(struct rcm_source *source, uint32_t events)
{
	return source->loop ? loop_control(source, EPOLL_CTL_MOD, events) : 0;
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

static bool loop_has_witness(const struct rcm_loop *loop)
{
	return !loop->witness || rcm_fds_is_same(loop->witness->fd);
}

/* Nobody else has the witness in an epoll of theirs. To one of the program's it is added: it is taken out again. */
bool rcm_loop_is_own(const struct rcm_loop *loop)
{
	struct epoll_event none = { 0 };

	if (!loop->witness)
		return true;
	if (!loop_has_witness(loop))
		return false;
	if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, loop->witness->fd, &none))
		return errno == EEXIST;
	epoll_ctl(loop->epfd, EPOLL_CTL_DEL, loop->witness->fd, NULL);
	return false;
}

int rcm_loop_turn(struct rcm_loop *loop, int max_wait_ms)
{
	struct epoll_event events[RCM_TURN_EVENTS];
	struct rcm_source *batch[RCM_TURN_EVENTS];
	int n, wait_ms, ret, epfd = loop->epfd;

	if (!rcm_loop_is_own(loop))
		return -EBADF;
	wait_ms = rcm_timers_wait_ms(loop, rcm_clock_now(), max_wait_ms);
	if (loop->before_wait)
		loop->before_wait(loop);
	n = epoll_wait(epfd, events, RCM_TURN_EVENTS, wait_ms);
	ret = n < 0 && errno != EINTR ? rcm_errno() : 0;
	if (loop->after_wait)
		loop->after_wait(loop);
	/* It may have waited by the program's, closed and made anew right before: what is told there are no sources. */
	if (!ret && (loop->epfd < 0 || (n > 0 && !loop_has_witness(loop))))
		ret = -EBADF;
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
