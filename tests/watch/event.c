/* SPDX-License-Identifier: BSD-2-Clause */
/* libevent, by each of its ways to ask the kernel, and edge-triggered. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

struct watch {
	struct event_base *base;
	struct event *event;
	int woken;
};

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;

	(void)fd;
	watch->woken = what & EV_READ ? 1 : -1;
	event_base_loopbreak(watch->base);
}

static struct event_base *base_of(const char *method)
{
	static const char *const methods[] = { "epoll", "poll", "select" };
	struct event_config *config = event_config_new();
	struct event_base *base;

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(methods[i], method))
			event_config_avoid_method(config, methods[i]);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

static void *watch_new(int fd, const char *method, short flags)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		abort();
	watch->base = base_of(method);
	watch->event = event_new(watch->base, fd, (short)(EV_READ | EV_PERSIST | flags), on_readable, watch);
	if (!watch->event || event_add(watch->event, NULL))
		abort();
	return watch;
}

static void *epoll_open(int fd)
{
	return watch_new(fd, "epoll", 0);
}

static void *edge_open(int fd)
{
	return watch_new(fd, "epoll", (short)EV_ET);
}

static void *poll_open(int fd)
{
	return watch_new(fd, "poll", 0);
}

static void *select_open(int fd)
{
	return watch_new(fd, "select", 0);
}

static int watch_wait(void *arg, int ms)
{
	struct timeval time = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	struct watch *watch = arg;

	watch->woken = 0;
	if (ms)
		event_base_loopexit(watch->base, &time);
	event_base_loop(watch->base, ms ? 0 : EVLOOP_NONBLOCK);
	return watch->woken;
}

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	event_free(watch->event);
	event_base_free(watch->base);
	free(watch);
}

const struct watch_ops watch_event[] = {
	{ "libevent-epoll", WATCH_LEVEL, epoll_open, watch_wait, watch_close },
	{ "libevent-epoll-edge", WATCH_EDGE, edge_open, watch_wait, watch_close },
	{ "libevent-poll", WATCH_LEVEL, poll_open, watch_wait, watch_close },
	{ "libevent-select", WATCH_LEVEL, select_open, watch_wait, watch_close },
	{ 0 },
};
