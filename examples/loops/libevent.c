/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in a loop of libevent. usage: libevent NAME... */
#include <err.h>
#include <event2/event.h>
#include <rdma/rdma_cma.h>

#include "names.h"

struct loop {
	struct event_base *base;
	struct event *readable;
	struct rdma_event_channel *channel;
};

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct loop *loop = arg;

	(void)fd;
	(void)what;
	if (!names_take(loop->channel))
		event_base_loopbreak(loop->base);
}

int main(int argc, char **argv)
{
	struct loop loop = { .base = event_base_new(), .channel = names_channel() };

	if (!loop.base)
		errx(3, "no event base");
	loop.readable = event_new(loop.base, loop.channel->fd, EV_READ | EV_PERSIST, on_readable, &loop);
	if (!loop.readable || event_add(loop.readable, NULL))
		errx(3, "no event");
	if (names_start(loop.channel, argc - 1, argv + 1))
		event_base_dispatch(loop.base);
	event_free(loop.readable);
	event_base_free(loop.base);
	rdma_destroy_event_channel(loop.channel);	/* after the loop has let go of its descriptor */
	return 0;
}
