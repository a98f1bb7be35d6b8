/* SPDX-License-Identifier: BSD-2-Clause */
/* io_uring: a poll request for each wake-up, and one for all. */
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>

#include "watch.h"

struct watch {
	struct io_uring ring;
	int fd;
	bool multishot, armed;
};

static int watch_arm(struct watch *watch)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&watch->ring);

	if (watch->multishot)
		io_uring_prep_poll_multishot(sqe, watch->fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, watch->fd, POLLIN);
	watch->armed = io_uring_submit(&watch->ring) == 1;
	return watch->armed ? 0 : -1;
}

static struct watch *watch_new(int fd, bool multishot)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->fd = fd;
	watch->multishot = multishot;
	if (!io_uring_queue_init(8, &watch->ring, 0)) {
		if (!multishot || !watch_arm(watch))
			return watch;
		io_uring_queue_exit(&watch->ring);
	}
	free(watch);
	return NULL;
}

static void *once_open(int fd)
{
	return watch_new(fd, false);
}

static void *multishot_open(int fd)
{
	return watch_new(fd, true);
}

static int watch_wait(void *arg, int ms)
{
	struct __kernel_timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000LL };
	struct watch *watch = arg;
	struct io_uring_cqe *cqe;
	int ret;

	if (!watch->armed && watch_arm(watch))
		return -1;
	do
		ret = io_uring_wait_cqe_timeout(&watch->ring, &cqe, &time);
	while (ret == -EINTR);
	if (ret == -ETIME || ret == -EAGAIN)
		return 0;
	if (ret)
		return -1;
	ret = cqe->res & POLLIN ? 1 : -1;
	watch->armed = cqe->flags & IORING_CQE_F_MORE;
	io_uring_cqe_seen(&watch->ring, cqe);
	return ret;
}

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	io_uring_queue_exit(&watch->ring);
	free(watch);
}

const struct watch_ops watch_uring[] = {
	{ "io_uring", WATCH_PAST, once_open, watch_wait, watch_close },
	{ "io_uring-multishot", WATCH_EDGE, multishot_open, watch_wait, watch_close },
	{ 0 },
};
