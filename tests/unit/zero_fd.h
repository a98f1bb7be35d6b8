/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptor 0 for one that the library makes, as in a daemon that has closed its standard input; and no sockets. For a
 * program linked with --wrap=epoll_create1,--wrap=eventfd,--wrap=socket.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static bool no_sockets;				/* can be made, as where a filter of system calls allows none */
static unsigned zero_fd_nth;
static int zero_fd_input;

int __wrap_epoll_create1(int flags);
int __real_epoll_create1(int flags);
int __wrap_eventfd(unsigned count, int flags);
int __real_eventfd(unsigned count, int flags);
int __wrap_socket(int domain, int type, int protocol);
int __real_socket(int domain, int type, int protocol);

/* The nth from now on, of those that can be made, is 0. */
static inline void zero_fd_begin(unsigned nth)
{
	zero_fd_nth = nth;
	zero_fd_input = fcntl(0, F_DUPFD_CLOEXEC, 0);
}

/* What it was before. True where one was 0. */
static inline bool zero_fd_end(void)
{
	bool came = !zero_fd_nth;

	zero_fd_nth = 0;
	dup2(zero_fd_input, 0);
	close(zero_fd_input);
	return came;
}

static int zero_fd_of(int fd)
{
	if (fd < 0 || !zero_fd_nth || --zero_fd_nth)
		return fd;
	dup3(fd, 0, O_CLOEXEC);
	close(fd);
	return 0;
}

int __wrap_epoll_create1(int flags)
{
	return zero_fd_of(__real_epoll_create1(flags));
}

int __wrap_eventfd(unsigned count, int flags)
{
	return zero_fd_of(__real_eventfd(count, flags));
}

int __wrap_socket(int domain, int type, int protocol)
{
	if (no_sockets)
		errno = EACCES;
	return no_sockets ? -1 : zero_fd_of(__real_socket(domain, type, protocol));
}
