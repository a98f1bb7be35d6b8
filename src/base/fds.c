/* SPDX-License-Identifier: BSD-2-Clause */
/* Which descriptors are the library's own, and what was opened by each number. */
#include "base/fds.h"

#include <errno.h>
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

struct fds_own {
	bool own;
	unsigned claim;			/* of what the library opened last by that number; 0: none */
	struct rcm_file file;
};

static struct rcm_lock lock = RCM_LOCK_INIT;
static struct fds_own *owns RCM_GUARDED_BY(lock);
static unsigned count RCM_GUARDED_BY(lock);
static atomic_uint doubts, claims;

struct rcm_file rcm_file_look_at(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return (struct rcm_file){ .open = false };
	return (struct rcm_file){ .open = true, .typed = st.st_mode & S_IFMT, .dev = st.st_dev, .ino = st.st_ino };
}

static bool file_is_same(const struct rcm_file *a, const struct rcm_file *b)
{
	return a->typed == b->typed && a->dev == b->dev && a->ino == b->ino;
}

enum rcm_file_is rcm_file_compare(int fd, const struct rcm_file *was)
{
	struct rcm_file now = rcm_file_look_at(fd);

	if (!now.open)
		return errno == EBADF ? RCM_FILE_OTHER : RCM_FILE_MAYBE;
	if (!was->open)
		return RCM_FILE_MAYBE;
	if (!file_is_same(was, &now))
		return RCM_FILE_OTHER;
	return now.typed ? RCM_FILE_SAME : RCM_FILE_MAYBE;
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

static int fds_note(int fd, const struct fds_own *own)
{
	int ret;

	rcm_lock_acquire(&lock);
	ret = fds_grow_locked((unsigned)fd);
	if (!ret)
		owns[fd] = *own;
	rcm_lock_release(&lock);
	return ret;
}

int rcm_fds_take(int fd)
{
	const struct fds_own own = { .own = true, .file = rcm_file_look_at(fd) };

	return fds_note(fd, &own);
}

unsigned rcm_fds_claim(int fd)
{
	struct fds_own own = { .own = false };

	do
		own.claim = atomic_fetch_add_explicit(&claims, 1, memory_order_relaxed) + 1;
	while (!own.claim);
	return fds_note(fd, &own) ? 0 : own.claim;
}

bool rcm_fds_is_claimed(int fd, unsigned claim)
{
	bool claimed;

	if (!claim)
		return true;
	rcm_lock_acquire(&lock);
	claimed = fd >= 0 && (unsigned)fd < count && owns[fd].claim == claim;
	rcm_lock_release(&lock);
	return claimed;
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
static int ready_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 && !rcm_is_want(rcm_errno()))
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fd;
}

int rcm_fds_open_ready(void)
{
	return rcm_fds_add(ready_open());
}

int rcm_file_open_ready(void)
{
	int fd = ready_open();

	return fd < 0 ? rcm_errno() : fd;
}

bool rcm_fds_is_same(int fd)
{
	struct rcm_file now = rcm_file_look_at(fd);
	bool same;

	rcm_lock_acquire(&lock);
	same = fd >= 0 && (unsigned)fd < count && file_is_same(&owns[fd].file, &now);
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
		struct rcm_file now = owns[fd].own ? rcm_file_look_at((int)fd) : (struct rcm_file){ 0 };

		owns[fd].own = now.open && now.typed && file_is_same(&owns[fd].file, &now);
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

/* Whether one that is told from any other isn't what it was: then the program has closed descriptors that weren't its
 * own, though nobody has found that yet. */
static bool fds_any_is_lost(void) RCM_UNCHECKED
{
	struct rcm_file now;

	for (unsigned fd = 0; fd < count; fd++) {
		if (!owns[fd].own || !owns[fd].file.typed)
			continue;
		now = rcm_file_look_at((int)fd);
		if (!now.open || !file_is_same(&owns[fd].file, &now))
			return true;
	}
	return false;
}

/* By the numbers that are still the library's: a program may have closed all, and opened others, before the fork. */
static void fds_fork_child(void) RCM_UNCHECKED
{
	bool any_is_lost = fds_any_is_lost();

	for (unsigned fd = 0; fd < count; fd++) {
		struct rcm_file now = owns[fd].own ? rcm_file_look_at((int)fd) : (struct rcm_file){ 0 };

		if (now.open && file_is_same(&owns[fd].file, &now) && (now.typed || !any_is_lost))
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
