/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a bare descriptor. */
#include "cm/rouse.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/fork.h"
#include "base/lock.h"

static struct rcm_lock lock = RCM_LOCK_INIT;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int rouse_fd = -1;		/* these two change under lock */
static atomic_uint changes;
static unsigned rousing RCM_GUARDED_BY(lock);

void rcm_rouse_look(struct rcm_rouse *rouse)
{
	rouse->changes = atomic_load(&changes);
}

static void rouse_open(void)
{
	int fd, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rcm_lock_acquire(&lock);
	if (rouse_fd < 0) {
		fd = rcm_fds_add(eventfd(rousing ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
		atomic_store(&rouse_fd, fd < 0 ? -1 : fd);
	}
	rcm_lock_release(&lock);
	pthread_setcancelstate(cancel, NULL);
}

int rcm_rouse_fd(void)
{
	if (atomic_load(&rouse_fd) < 0)
		rouse_open();
	return atomic_load(&rouse_fd);
}

/* Not by polling on: the descriptor stays readable until those that are meant are gone, and a thread of a higher
 * priority would leave them no processor. */
void rcm_rouse_await_change(const struct rcm_rouse *rouse)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rcm_lock_acquire(&lock);
	while (rousing && changes == rouse->changes)
		rcm_lock_wait(&lock, &changed);
	rcm_lock_release(&lock);
	pthread_setcancelstate(cancel, NULL);
}

static void rouse_count(int by)
{
	eventfd_t value;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rcm_lock_acquire(&lock);
	rousing += (unsigned)by;
	changes++;
	if (rouse_fd >= 0 && rousing)
		eventfd_write(rouse_fd, 1);
	else if (rouse_fd >= 0)
		eventfd_read(rouse_fd, &value);
	pthread_cond_broadcast(&changed);
	rcm_lock_release(&lock);
	pthread_setcancelstate(cancel, NULL);
}

void rcm_rouse_begin(void)
{
	rouse_count(1);
}

void rcm_rouse_end(void)
{
	rouse_count(-1);
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
	rousing = 0;
	pthread_cond_init(&changed, NULL);
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void rouse_watch_forks(void)
{
	static const struct rcm_fork fork = {
		.prepare = rouse_fork_prepare, .parent = rouse_fork_parent, .child = rouse_fork_child,
	};

	rcm_fork_watch(RCM_FORK_ROUSE, &fork);
}
