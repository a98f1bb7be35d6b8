/* SPDX-License-Identifier: BSD-2-Clause */
/* Which descriptors are the library's own, and what was opened by each number. */
#include "base/fds.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fork.h"
#include "base/lock.h"

enum { FIRST = 64 };

/* What the kernel has by a number. Those of eventfd(2), epoll(7) and inotify(7) all look the same, and have no type. */
struct fds_own {
	bool own, typed;
	dev_t dev;
	ino_t ino;
};

static struct rcm_lock lock = RCM_LOCK_INIT;
static struct fds_own *owns RCM_GUARDED_BY(lock);
static unsigned count RCM_GUARDED_BY(lock);
static atomic_uint doubts;

static struct fds_own fds_look_at(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return (struct fds_own){ .own = false };
	return (struct fds_own){ .own = true, .typed = st.st_mode & S_IFMT, .dev = st.st_dev, .ino = st.st_ino };
}

static bool fds_is_same(const struct fds_own *a, const struct fds_own *b)
{
	return a->typed == b->typed && a->dev == b->dev && a->ino == b->ino;
}

static int fds_grow_locked(unsigned fd) RCM_REQUIRES(lock)
{
	unsigned more = count ? count : FIRST;
	struct fds_own *grown;

	rcm_lock_assert_held(&lock);
	while (more <= fd)
		more *= 2;
	if (more == count)
		return 0;
	grown = realloc(owns, more * sizeof(*owns));
	if (!grown)
		return -ENOMEM;
	memset(grown + count, 0, (more - count) * sizeof(*owns));
	owns = grown;
	count = more;
	return 0;
}

int rcm_fds_take(int fd)
{
	struct fds_own own = fds_look_at(fd);
	int ret;

	own.own = true;
	rcm_lock_acquire(&lock);
	ret = fds_grow_locked((unsigned)fd);
	if (!ret)
		owns[fd] = own;
	rcm_lock_release(&lock);
	return ret;
}

int rcm_fds_add(int fd)
{
	int ret;

	if (fd < 0)
		return rcm_errno();
	ret = rcm_fds_take(fd);
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

/* A socket, since each has an inode of its own, whose number doesn't come again. */
int rcm_fds_open_ready(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 && !rcm_is_want(rcm_errno()))
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return rcm_fds_add(fd);
}

bool rcm_fds_is_same(int fd)
{
	struct fds_own now = fds_look_at(fd);
	bool same;

	rcm_lock_acquire(&lock);
	same = fd >= 0 && (unsigned)fd < count && fds_is_same(&owns[fd], &now);
	rcm_lock_release(&lock);
	return same;
}

bool rcm_fds_forget(int fd)
{
	bool is_own;

	if (fd < 0)
		return false;
	rcm_lock_acquire(&lock);
	is_own = (unsigned)fd < count && owns[fd].own;
	if (is_own)
		owns[fd].own = false;
	rcm_lock_release(&lock);
	return is_own;
}

void rcm_fds_close(int fd)
{
	if (rcm_fds_forget(fd))
		close(fd);
}

void rcm_fds_doubt(void)
{
	atomic_fetch_add(&doubts, 1);
	rcm_lock_acquire(&lock);
	for (unsigned fd = 0; fd < count; fd++) {
		struct fds_own now = owns[fd].own ? fds_look_at((int)fd) : (struct fds_own){ 0 };

		owns[fd].own = now.own && now.typed && fds_is_same(&owns[fd], &now);
	}
	rcm_lock_release(&lock);
}

unsigned rcm_fds_doubts(void)
{
	return atomic_load_explicit(&doubts, memory_order_relaxed);
}

static void fds_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&lock);
}

static void fds_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&lock);
}

/* By the numbers that are still the library's: a program may have closed all, and opened others, before the fork. */
static void fds_fork_child(void) RCM_UNCHECKED
{
	for (unsigned fd = 0; fd < count; fd++) {
		struct fds_own now = owns[fd].own ? fds_look_at((int)fd) : (struct fds_own){ 0 };

		if (now.own && fds_is_same(&owns[fd], &now))
			close((int)fd);
		owns[fd].own = false;
	}
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void fds_watch_forks(void)
{
	static const struct rcm_fork fork = { fds_fork_prepare, fds_fork_parent, fds_fork_child };

	rcm_fork_watch(RCM_FORK_FDS, &fork);
}
