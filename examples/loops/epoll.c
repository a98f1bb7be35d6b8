/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in a loop of epoll, edge-triggered. usage: epoll NAME... */
#include <err.h>
#include <rdma/rdma_cma.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "names.h"

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = names_channel();
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.ptr = channel };
	int fd = epoll_create1(EPOLL_CLOEXEC), left;

	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, channel->fd, &event))
		err(3, "epoll");
	left = names_start(channel, argc - 1, argv + 1);
	while (left) {
		if (epoll_wait(fd, &event, 1, -1) < 0)
			err(3, "epoll_wait");
		left = names_take(event.data.ptr);
	}
	close(fd);
	rdma_destroy_event_channel(channel);
	return 0;
}
