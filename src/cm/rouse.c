/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a channel. */
#include "cm/rouse.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/fork.h"
#include "base/lock.h"

static struct rcm_lock lock = RCM_LOCK_INIT;
static int rouse_fd RCM_GUARDED_BY(lock) = -1;

int rcm_rouse_fd(void)
{
	int fd;

	rcm_lock_acquire(&lock);
	if (rouse_fd < 0)
		rouse_fd = rcm_fds_add(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
	fd = rouse_fd < 0 ? -1 : rouse_fd;
	rcm_lock_release(&lock);
	return fd;
}

void rcm_rouse_begin(void)
{
	int fd = rcm_rouse_fd();

	if (fd >= 0)
		eventfd_write(fd, 1);
}

void rcm_rouse_end(void)
{
	int fd = rcm_rouse_fd();
	eventfd_t one;

	if (fd >= 0)
		eventfd_read(fd, &one);
}

static void rouse_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&lock);
}

static void rouse_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&lock);
}

/* The parent's is closed by then, and nobody waits in the child. */
static void rouse_fork_child(void) RCM_UNCHECKED
{
	rouse_fd = -1;
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void rouse_watch_forks(void)
{
	static const struct rcm_fork fork = {
		.prepare = rouse_fork_prepare, .parent = rouse_fork_parent, .child = rouse_fork_child,
	};

	rcm_fork_watch(RCM_FORK_ROUSE, &fork);
}
