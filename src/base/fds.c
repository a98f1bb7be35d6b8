/* SPDX-License-Identifier: BSD-2-Clause */
/* Which descriptors are the library's own: a bit for each number. */
#include "base/fds.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fork.h"
#include "base/lock.h"

enum { BITS = 64, FIRST = 1024 };

static struct rcm_lock lock = RCM_LOCK_INIT;
static uint64_t *own RCM_GUARDED_BY(lock);
static unsigned words RCM_GUARDED_BY(lock);

static int fds_grow_locked(unsigned word) RCM_REQUIRES(lock)
{
	unsigned more = words ? words : FIRST / BITS;
	uint64_t *grown;

	rcm_lock_assert_held(&lock);
	while (more <= word)
		more *= 2;
	if (more == words)
		return 0;
	grown = realloc(own, more * sizeof(*own));
	if (!grown)
		return -ENOMEM;
	memset(grown + words, 0, (more - words) * sizeof(*own));
	own = grown;
	words = more;
	return 0;
}

int rcm_fds_take(int fd)
{
	unsigned word = (unsigned)fd / BITS;
	int ret;

	rcm_lock_acquire(&lock);
	ret = fds_grow_locked(word);
	if (!ret)
		own[word] |= UINT64_C(1) << (unsigned)fd % BITS;
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

bool rcm_fds_forget(int fd)
{
	uint64_t bit = UINT64_C(1) << (unsigned)fd % BITS;
	unsigned word = (unsigned)fd / BITS;
	bool is_own;

	if (fd < 0)
		return false;
	rcm_lock_acquire(&lock);
	is_own = word < words && own[word] & bit;
	if (is_own)
		own[word] &= ~bit;
	rcm_lock_release(&lock);
	return is_own;
}

void rcm_fds_close(int fd)
{
	if (rcm_fds_forget(fd))
		close(fd);
}

static void fds_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&lock);
}

static void fds_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&lock);
}

/* By the numbers that are still the library's. */
static void fds_fork_child(void) RCM_UNCHECKED
{
	for (unsigned word = 0; word < words; word++)
		for (; own[word]; own[word] &= own[word] - 1)
			close((int)(word * BITS) + __builtin_ctzll(own[word]));
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void fds_watch_forks(void)
{
	static const struct rcm_fork fork = { fds_fork_prepare, fds_fork_parent, fds_fork_child };

	rcm_fork_watch(RCM_FORK_FDS, &fork);
}
