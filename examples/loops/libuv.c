/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in a loop of libuv. usage: libuv NAME... */
#include <err.h>
#include <rdma/rdma_cma.h>
#include <uv.h>

#include "names.h"

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)events;
	if (status)
		errx(3, "libuv: %s", uv_strerror(status));
	if (!names_take(poll->data))
		uv_close((uv_handle_t *)poll, NULL);	/* nothing is left in the loop, so it ends */
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = names_channel();
	uv_loop_t *loop = uv_default_loop();
	uv_poll_t poll = { .data = channel };

	if (names_start(channel, argc - 1, argv + 1)) {
		uv_poll_init(loop, &poll, channel->fd);
		uv_poll_start(&poll, UV_READABLE, on_readable);
	}
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
	rdma_destroy_event_channel(channel);	/* after the loop has let go of its descriptor */
	return 0;
}
