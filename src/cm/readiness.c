/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: the kernel's descriptor, and a switch for events of the library's own. */
#include "cm/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

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

static int due_open(struct rcm_readiness *readiness, int kernel_fd)
{
	int fd;

	readiness->witness = rcm_file_look_at(kernel_fd);
	readiness->witness_fd = kernel_fd;
	if (readiness->witness.typed) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		return fd < 0 ? rcm_errno() : fd;
	}
	fd = rcm_file_open_ready();
	readiness->witness = rcm_file_look_at(fd);
	readiness->witness_fd = fd;
	return fd;
}

int rcm_readiness_open(struct rcm_readiness *readiness, int kernel_fd, int *ret_fd)
{
	struct rcm_readiness opened = { .doubts = rcm_fds_doubts() };
	int ret = 0, fd = epoll_create1(EPOLL_CLOEXEC);

	opened.due_fd = fd < 0 ? rcm_errno() : due_open(&opened, kernel_fd);
	if (opened.due_fd < 0)
		ret = opened.due_fd;
	if (!ret)
		ret = readiness_watch(fd, opened.due_fd, readiness_mark(readiness), 0);
	if (!ret && kernel_fd >= 0)
		ret = readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
	if (!ret) {
		if (opened.witness_fd == kernel_fd)
			opened.claim = rcm_fds_claim(kernel_fd);
		*readiness = opened;
		*ret_fd = fd;
		return 0;
	}
	readiness_close_fd(opened.due_fd);
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

/* Changes nothing where it is: EEXIST comes before all else. An epoll descriptor of the program's by that number has
 * what it isn't asked for a moment, and no event of it. */
static bool readiness_has(int fd, int watched)
{
	int saved = errno, ret = readiness_watch(fd, watched, 0, 0);

	if (!ret)
		epoll_ctl(fd, EPOLL_CTL_DEL, watched, NULL);
	errno = saved;
	return ret == -EEXIST;
}

/* Nobody else has the witness' file in an epoll of theirs. Where nobody can tell what the witness is, two numbers that
 * belong together as ours do are taken for ours: a reader who isn't woken is the likelier harm. */
static enum rcm_file_is readiness_look(const struct rcm_readiness *readiness, int fd)
{
	enum rcm_file_is is;

	is = rcm_file_compare(readiness->witness_fd, &readiness->witness);
	if (is == RCM_FILE_OTHER || !rcm_fds_is_claimed(readiness->witness_fd, readiness->claim))
		return RCM_FILE_OTHER;
	if (!readiness_has(fd, readiness->witness_fd) || !readiness_has(fd, readiness->due_fd))
		return RCM_FILE_OTHER;
	return is;
}

static bool due_is_proven(const struct rcm_readiness *readiness)
{
	return readiness->witness_fd == readiness->due_fd &&
	       rcm_file_compare(readiness->due_fd, &readiness->witness) == RCM_FILE_SAME;
}

/* due_fd by itself may be there still: the program closed the other alone. An eventfd may be the program's as well. */
static void readiness_lose(struct rcm_readiness *readiness)
{
	if (due_is_proven(readiness))
		readiness_close_fd(readiness->due_fd);
	*readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
}

bool rcm_readiness_knows(const struct rcm_readiness *readiness, int fd)
{
	return readiness_look(readiness, fd) != RCM_FILE_OTHER;
}

bool rcm_readiness_close(struct rcm_readiness *readiness, int fd)
{
	bool known = rcm_readiness_knows(readiness, fd);

	if (!known) {
		readiness_lose(readiness);
		return false;
	}
	readiness_close_fd(readiness->due_fd);
	*readiness = (struct rcm_readiness)RCM_READINESS_CLOSED;
	return true;
}

/* Each epoll_ctl(2) by numbers that are the program's by now would be one of an event loop of its own. What nobody can
 * tell is asked again. */
static bool readiness_is_lost(struct rcm_readiness *readiness, int fd)
{
	unsigned doubts = rcm_fds_doubts();
	enum rcm_file_is is;

	if (readiness->due_fd < 0)
		return true;
	if (readiness->doubts == doubts)
		return false;
	is = readiness_look(readiness, fd);
	if (is == RCM_FILE_SAME)
		readiness->doubts = doubts;
	if (is == RCM_FILE_OTHER)
		readiness_lose(readiness);
	return is == RCM_FILE_OTHER;
}

void rcm_readiness_doubt(struct rcm_readiness *readiness)
{
	readiness->doubts = rcm_fds_doubts() - 1;
}

/* Waked anew, whoever watches: due_fd is up, and not on epoll's list of what may be ready (see below), so that
 * EPOLL_CTL_MOD puts it there and wakes. EPOLLONESHOT: what takes it from there disarms it, too. */
void rcm_readiness_show(struct rcm_readiness *readiness, int fd)
{
	struct epoll_event e = { .events = EPOLLOUT | EPOLLONESHOT, .data.u64 = readiness_mark(readiness) };

	if (readiness->shown || readiness_is_lost(readiness, fd))
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
void rcm_readiness_look_again(struct rcm_readiness *readiness, int fd, int kernel_fd)
{
	if (!readiness_is_lost(readiness, fd) && !epoll_ctl(fd, EPOLL_CTL_DEL, kernel_fd, NULL))
		readiness_watch(fd, kernel_fd, KERNEL, EPOLLIN);
}

bool rcm_readiness_is_over(int fd, int kernel_fd)
{
	return readiness_has(fd, kernel_fd);
}

int rcm_readiness_renew(struct rcm_readiness *readiness, int kernel_fd, int *fd)
{
	const struct rcm_readiness old = *readiness;
	bool known = rcm_readiness_knows(&old, *fd);
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
	readiness_close_fd(own);
	if (known)
		readiness_close_fd(old.due_fd);
	return 0;
}
