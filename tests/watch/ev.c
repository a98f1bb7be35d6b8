/* SPDX-License-Identifier: BSD-2-Clause */
/* libev, by each of its back ends; since 4.32 linuxaio isn't compiled in unless asked for, and distributions don't ask. */
#include <ev.h>
#include <stdlib.h>

#include "watch.h"

struct watch {
	struct ev_loop *loop;
	ev_io io;
	ev_timer timer;
	int woken;
};

static void on_readable(struct ev_loop *loop, ev_io *io, int revents)
{
	((struct watch *)io->data)->woken = revents & EV_READ ? 1 : -1;
	ev_break(loop, EVBREAK_ALL);
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
}

static void *watch_new(int fd, unsigned backend)
{
	struct ev_loop *loop = ev_supported_backends() & backend ? ev_loop_new(backend) : NULL;
	struct watch *watch;

	if (!loop)
		return NULL;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		abort();
	watch->loop = loop;
	ev_io_init(&watch->io, on_readable, fd, EV_READ);
	ev_timer_init(&watch->timer, on_time, 0, 0);
	watch->io.data = watch;
	ev_io_start(loop, &watch->io);
	return watch;
}

static void *select_open(int fd)
{
	return watch_new(fd, EVBACKEND_SELECT);
}

static void *poll_open(int fd)
{
	return watch_new(fd, EVBACKEND_POLL);
}

static void *epoll_open(int fd)
{
	return watch_new(fd, EVBACKEND_EPOLL);
}

static void *uring_open(int fd)
{
	return watch_new(fd, EVBACKEND_IOURING);
}

static int watch_wait(void *arg, int ms)
{
	struct watch *watch = arg;

	watch->woken = 0;
	if (!ms) {
		ev_run(watch->loop, EVRUN_NOWAIT);
		return watch->woken;
	}
	ev_now_update(watch->loop);
	ev_timer_set(&watch->timer, ms / 1e3, 0);
	ev_timer_start(watch->loop, &watch->timer);
	ev_run(watch->loop, 0);
	ev_timer_stop(watch->loop, &watch->timer);
	return watch->woken;
}

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	ev_io_stop(watch->loop, &watch->io);
	ev_loop_destroy(watch->loop);
	free(watch);
}

const struct watch_ops watch_ev[] = {
	{ "libev-select", WATCH_LEVEL, select_open, watch_wait, watch_close },
	{ "libev-poll", WATCH_LEVEL, poll_open, watch_wait, watch_close },
	{ "libev-epoll", WATCH_LEVEL, epoll_open, watch_wait, watch_close },
	{ "libev-iouring", WATCH_PAST, uring_open, watch_wait, watch_close },
	{ 0 },
};
