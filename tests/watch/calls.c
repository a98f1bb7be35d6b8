/* SPDX-License-Identifier: BSD-2-Clause */
/* poll, select and epoll in its modes. */
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "watch.h"

struct watch {
	int fd;			/* what is watched */
	int epfd, outer;	/* -1: none */
	uint32_t flags;
	bool spent;		/* EPOLLONESHOT: it fired */
};

static struct watch *watch_new(int fd)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (watch)
		*watch = (struct watch){ .fd = fd, .epfd = -1, .outer = -1 };
	return watch;
}

static void watch_close(void *arg)
{
	struct watch *watch = arg;

	if (watch->epfd >= 0)
		close(watch->epfd);
	if (watch->outer >= 0)
		close(watch->outer);
	free(watch);
}

static void *poll_open(int fd)
{
	return watch_new(fd);
}

static int poll_wait(void *arg, int ms)
{
	struct pollfd p = { .fd = ((struct watch *)arg)->fd, .events = POLLIN };

	return poll(&p, 1, ms);
}

static void *select_open(int fd)
{
	return fd < FD_SETSIZE ? watch_new(fd) : NULL;
}

static int select_wait(void *arg, int ms)
{
	struct timeval time = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	int fd = ((struct watch *)arg)->fd;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &time);
}

static int epoll_of(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	if (epfd >= 0 && epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event)) {
		close(epfd);
		return -1;
	}
	return epfd;
}

static void *epoll_open(int fd, uint32_t flags)
{
	struct watch *watch = watch_new(fd);

	if (!watch)
		return NULL;
	watch->flags = EPOLLIN | flags;
	watch->epfd = epoll_of(fd, watch->flags);
	if (watch->epfd >= 0)
		return watch;
	watch_close(watch);
	return NULL;
}

static int epoll_wait_for(void *arg, int ms)
{
	struct watch *watch = arg;
	struct epoll_event event = { .events = watch->flags };
	int n;

	if (watch->spent)
		epoll_ctl(watch->epfd, EPOLL_CTL_MOD, watch->fd, &event);
	n = epoll_wait(watch->outer >= 0 ? watch->outer : watch->epfd, &event, 1, ms);
	watch->spent = n == 1 && watch->flags & EPOLLONESHOT;
	return n;
}

static void *level_open(int fd)
{
	return epoll_open(fd, 0);
}

static void *edge_open(int fd)
{
	return epoll_open(fd, EPOLLET);
}

static void *once_open(int fd)
{
	return epoll_open(fd, EPOLLONESHOT);
}

static void *edge_once_open(int fd)
{
	return epoll_open(fd, EPOLLONESHOT | EPOLLET);
}

/* As runtimes register that learn of reading and writing at once: Go's, mio's. */
static void *both_ways_open(int fd)
{
	return epoll_open(fd, EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

static void *nest(int fd, uint32_t inner, uint32_t outer)
{
	struct watch *watch = epoll_open(fd, inner);

	if (!watch)
		return NULL;
	watch->outer = epoll_of(watch->epfd, EPOLLIN | outer);
	if (watch->outer >= 0)
		return watch;
	watch_close(watch);
	return NULL;
}

static void *nested_open(int fd)
{
	return nest(fd, 0, 0);
}

/* The outer one tells of an edge, the inner is looked at through it: so it has to be level. */
static void *nested_edge_open(int fd)
{
	return nest(fd, 0, EPOLLET);
}

const struct watch_ops watch_calls[] = {
	{ "poll", WATCH_LEVEL, poll_open, poll_wait, watch_close },
	{ "select", WATCH_LEVEL, select_open, select_wait, watch_close },
	{ "epoll", WATCH_LEVEL, level_open, epoll_wait_for, watch_close },
	{ "epoll-edge", WATCH_EDGE, edge_open, epoll_wait_for, watch_close },
	{ "epoll-oneshot", WATCH_LEVEL, once_open, epoll_wait_for, watch_close },
	{ "epoll-edge-oneshot", WATCH_LEVEL, edge_once_open, epoll_wait_for, watch_close },
	{ "epoll-both-ways-edge", WATCH_EDGE, both_ways_open, epoll_wait_for, watch_close },
	{ "epoll-nested", WATCH_LEVEL, nested_open, epoll_wait_for, watch_close },
	{ "epoll-nested-edge", WATCH_EDGE, nested_edge_open, epoll_wait_for, watch_close },
	{ 0 },
};
