/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: the kernel's descriptor, and a switch for events of the library's own. */
#include "cm/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fds.h"

/* Which of the two descriptors it was. Our own has a mark that no other epoll descriptor in this process has. */
enum { KERNEL = 1 };

static uint64_t readiness_mark(const struct rcm_readiness *readiness)
{
	return (uintptr_t)readiness;
}

static int readiness_watch(int fd, int watched, uint64_t which, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = which };

	return epoll_ctl(fd, EPOLL_CTL_ADD, watched, &e) ? rcm_errno() : 0;
}

/* close(2) is a cancellation point, and locks may be held here. */
static void readiness_close_fd(int fd)
{
	int cancel;

	if (fd < 0)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	close(fd);
	pthread_setcancelstate(cancel, NULL);
}

int rcm_readiness_open(struct rcm_readiness *readiness, int kernel_fd, int *ret_fd)
{
	int due_fd = -1, ret = 0, fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd >= 0)
		due_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (due_fd < 0)
		ret = rcm_errno();
	if (!ret)
		ret = readiness_watch(fd, due_fd, readiness_mark(readiness), 0);
	if (!ret && kernel_fd >= 0)
		ret = readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
	if (!ret) {
		*readiness = (struct rcm_readiness){ .due_fd = due_fd, .doubts = rcm_fds_doubts() };
		*ret_fd = fd;
		return 0;
	}
	readiness_close_fd(due_fd);
	readiness_close_fd(fd);
	return ret;
}

int rcm_readiness_cover(struct rcm_readiness *readiness, int fd, atomic_int *kernel_fd)
{
	int flags = fcntl(fd, F_GETFL), moved = fcntl(fd, F_DUPFD_CLOEXEC, 0), covering, ret;

	if (flags < 0 || moved < 0)
		return rcm_errno();
	ret = rcm_readiness_open(readiness, moved, &covering);
	if (ret) {
		readiness_close_fd(moved);
		return ret;
	}
	fcntl(covering, F_SETFL, flags & O_NONBLOCK);
	fcntl(moved, F_SETFL, O_NONBLOCK);
	/* Who gives the kernel a command meanwhile, to what isn't its number any more, looks here again. */
	atomic_store(kernel_fd, moved);
	dup3(covering, fd, O_CLOEXEC);
	readiness_close_fd(covering);
	return 0;
}

void rcm_readiness_close(struct rcm_readiness *readiness)
{
	readiness_close_fd(readiness->due_fd);
	*readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
}

/* Whether the kernel has such a line about a descriptor; otherwise, where it doesn't tell: no /proc, no descriptor. */
static bool fdinfo_has(int fd, bool (*is_it)(const char *line, const struct rcm_readiness *readiness),
		       const struct rcm_readiness *readiness, bool otherwise)
{
	char path[sizeof("/proc/self/fdinfo/") + 10], line[256];
	bool has = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return otherwise;
	while (!has && fgets(line, sizeof(line), file))
		has = is_it(line, readiness);
	fclose(file);
	return has;
}

static bool is_watch_of_due(const char *line, const struct rcm_readiness *readiness)
{
	unsigned long long data;
	unsigned events;
	int fd;

	return sscanf(line, "tfd: %d events: %x data: %llx", &fd, &events, &data) == 3 &&
	       fd == readiness->due_fd && data == readiness_mark(readiness);
}

/* Each epoll_ctl(2) by numbers that are the program's by now would be one of an event loop of its own. */
static bool readiness_is_lost(struct rcm_readiness *readiness, int fd)
{
	unsigned doubts = rcm_fds_doubts();
	bool there;
	int cancel;

	if (readiness->doubts == doubts)
		return false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* Of a number that is closed now the program may have a file later, and nobody doubts then. */
	there = fcntl(fd, F_GETFD) >= 0 && fdinfo_has(fd, is_watch_of_due, readiness, true);
	pthread_setcancelstate(cancel, NULL);
	readiness->doubts = doubts;
	if (!there)
		*readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
	return !there;
}

/* Waked anew, whoever watches: due_fd is up, and not on epoll's list of what may be ready (see below), so that
 * EPOLL_CTL_MOD puts it there and wakes. EPOLLONESHOT: what takes it from there disarms it, too. */
void rcm_readiness_show(struct rcm_readiness *readiness, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = readiness_mark(readiness) };

	if (readiness->shown || readiness->due_fd < 0 || readiness_is_lost(readiness, fd))
		return;
	readiness->shown = true;
	if (epoll_ctl(fd, EPOLL_CTL_MOD, readiness->due_fd, &e) && errno == ENOENT)
		epoll_ctl(fd, EPOLL_CTL_ADD, readiness->due_fd, &e);
}

/*
 * EPOLL_CTL_MOD would leave due_fd on the list, and the next one that arms it would then wake nobody who looks at edges
 * alone. Taking it by epoll_wait(2) disarms and unlinks it in one call, which also tells of the kernel's descriptor.
 * Whether there is something to take, epoll_wait(2) looks at without a lock, and may miss it while another thread
 * polls: then it is taken out and put in again, which is exact, and rare.
 */
bool rcm_readiness_hide(struct rcm_readiness *readiness, int fd)
{
	bool taken = false, kernel = false;
	struct epoll_event ready[2];
	long n;

	if (!readiness->shown || readiness_is_lost(readiness, fd))
		return false;
	readiness->shown = false;
	/* Not epoll_wait(2) by its own name, which is a cancellation point. */
	n = syscall(SYS_epoll_pwait, fd, ready, 2, 0, NULL, 0);
	for (long i = 0; i < n; i++) {
		taken = taken || ready[i].data.u64 == readiness_mark(readiness);
		kernel = kernel || ready[i].data.u64 == KERNEL;
	}
	if (!taken) {
		epoll_ctl(fd, EPOLL_CTL_DEL, readiness->due_fd, NULL);
		readiness_watch(fd, readiness->due_fd, readiness_mark(readiness), 0);
	}
	return kernel;
}

/* As one that is new to epoll: of one that is on its list of what may be ready it would not wake. */
void rcm_readiness_look_again(int fd, int kernel_fd)
{
	epoll_ctl(fd, EPOLL_CTL_DEL, kernel_fd, NULL);
	readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
}

/* ---- In the child of a fork ---- */

static bool is_eventfd_that_is_up(const char *line, const struct rcm_readiness *readiness)
{
	unsigned long long count;

	(void)readiness;
	return sscanf(line, "eventfd-count: %llx", &count) == 1 && count == 1;
}

bool rcm_readiness_knows(const struct rcm_readiness *readiness, int fd)
{
	return fd >= 0 && readiness->due_fd >= 0 && fdinfo_has(fd, is_watch_of_due, readiness, false);
}

int rcm_readiness_renew(struct rcm_readiness *readiness, int kernel_fd, int *fd)
{
	const struct rcm_readiness old = *readiness;
	int flags, own, ret;

	ret = rcm_readiness_open(readiness, kernel_fd, &own);
	if (ret || *fd < 0) {
		*fd = ret ? *fd : own;
		return ret;
	}
	flags = fcntl(*fd, F_GETFL);
	fcntl(own, F_SETFL, flags & O_NONBLOCK);
	while (dup3(own, *fd, O_CLOEXEC) < 0 && errno == EBUSY)
		;
	close(own);
	if (fdinfo_has(old.due_fd, is_eventfd_that_is_up, &old, false))
		close(old.due_fd);
	return 0;
}
