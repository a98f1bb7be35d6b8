/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in a loop of io_uring, by one poll request for all that comes. usage: io_uring NAME... */
#include <err.h>
#include <liburing.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <string.h>

#include "names.h"

static void ask(struct io_uring *ring, struct rdma_event_channel *channel)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_poll_multishot(sqe, channel->fd, POLLIN);
	io_uring_sqe_set_data(sqe, channel);
	io_uring_submit(ring);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = names_channel();
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int left, ret;
	bool over;

	ret = io_uring_queue_init(8, &ring, 0);
	if (ret)
		errx(3, "io_uring: %s", strerror(-ret));
	ask(&ring, channel);
	left = names_start(channel, argc - 1, argv + 1);
	while (left) {
		ret = io_uring_wait_cqe(&ring, &cqe);
		if (ret || cqe->res < 0)
			errx(3, "io_uring: %s", strerror(ret ? -ret : -cqe->res));
		over = !(cqe->flags & IORING_CQE_F_MORE);	/* the kernel may end a request that was for all */
		io_uring_cqe_seen(&ring, cqe);
		if (over)
			ask(&ring, channel);
		left = names_take(channel);
	}
	io_uring_queue_exit(&ring);
	rdma_destroy_event_channel(channel);
	return 0;
}
