/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: the kernel's descriptor, and a switch for events of the library's own. */
#include "cm/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"

/* Which of the two descriptors it was. */
enum { OWN, KERNEL };

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
		ret = readiness_watch(fd, due_fd, OWN, 0);
	if (!ret && kernel_fd >= 0)
		ret = readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
	if (!ret) {
		*readiness = (struct rcm_readiness){ .due_fd = due_fd };
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

/* Waked anew, whoever watches: due_fd is up, and not on epoll's list of what may be ready (see below), so that
 * EPOLL_CTL_MOD puts it there and wakes. EPOLLONESHOT: what takes it from there disarms it, too. */
void rcm_readiness_show(struct rcm_readiness *readiness, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = OWN };

	if (readiness->shown || readiness->due_fd < 0)
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
	int n, cancel;

	if (!readiness->shown)
		return false;
	readiness->shown = false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	n = epoll_wait(fd, ready, 2, 0);
	pthread_setcancelstate(cancel, NULL);
	for (int i = 0; i < n; i++) {
		taken = taken || ready[i].data.u64 == OWN;
		kernel = kernel || ready[i].data.u64 == KERNEL;
	}
	if (!taken) {
		epoll_ctl(fd, EPOLL_CTL_DEL, readiness->due_fd, NULL);
		readiness_watch(fd, readiness->due_fd, OWN, 0);
	}
	return kernel;
}

/* As one that is new to epoll: of one that is on its list of what may be ready it would not wake. */
void rcm_readiness_look_again(int fd, int kernel_fd)
{
	epoll_ctl(fd, EPOLL_CTL_DEL, kernel_fd, NULL);
	readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
}
