/* SPDX-License-Identifier: BSD-2-Clause */
/* libuv. */
#include <stdlib.h>
#include <uv.h>

#include "watch.h"

struct watch {
	uv_loop_t loop;
	uv_poll_t poll;
	uv_timer_t timer;
	int woken;
};

static void on_readable(uv_poll_t *handle, int status, int events)
{
	struct watch *watch = handle->data;

	watch->woken = status || !(events & UV_READABLE) ? -1 : 1;
	uv_stop(&watch->loop);
}

static void on_time(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

static void *watch_open(int fd)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch || uv_loop_init(&watch->loop) || uv_poll_init(&watch->loop, &watch->poll, fd) ||
	    uv_timer_init(&watch->loop, &watch->timer))
		abort();
	watch->poll.data = watch;
	uv_poll_start(&watch->poll, UV_READABLE, on_readable);
	return watch;
}

static int watch_wait(void *arg, int ms)
{
	struct watch *watch = arg;

	watch->woken = 0;
	if (!ms) {
		uv_run(&watch->loop, UV_RUN_NOWAIT);
		return watch->woken;
	}
	uv_timer_start(&watch->timer, on_time, (uint64_t)ms, 0);
	uv_run(&watch->loop, UV_RUN_DEFAULT);
	uv_timer_stop(&watch->timer);
	return watch->woken;
}

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	uv_close((uv_handle_t *)&watch->poll, NULL);
	uv_close((uv_handle_t *)&watch->timer, NULL);
	uv_run(&watch->loop, UV_RUN_DEFAULT);
	uv_loop_close(&watch->loop);
	free(watch);
}

const struct watch_ops watch_uv[] = {
	{ "libuv", WATCH_LEVEL, watch_open, watch_wait, watch_close },
	{ 0 },
};
