/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes a loop from another thread. */
#include "loop/wake.h"

#include "base/container.h"
#include "base/fds.h"

/* The descriptor is always ready. Putting it into the loop's epoll anew as one that is told of once has it told of. A
 * write would go into whichever file has the number; so would this change somebody's epoll, were the number not proven
 * first to be the wake's: then the loop's is the one that has it, or the kernel says so. */
#define QUIET RCM_EDGE
#define RUNG (RCM_WRITABLE | RCM_EDGE)

static void wake_served(struct rcm_source *source, uint32_t events)
{
	struct rcm_wake *wake = rcm_container(source, struct rcm_wake, source);

	(void)events;
	/* Cleared before fn looks at what was posted: a ring from here on is a new one. */
	atomic_store(&wake->rung, false);
	wake->fn(wake);
}

int rcm_wake_init(struct rcm_loop *loop, struct rcm_wake *wake, void (*fn)(struct rcm_wake *))
{
	int fd = rcm_fds_open_ready(), ret;

	if (fd < 0)
		return fd;
	wake->fn = fn;
	atomic_init(&wake->rung, false);
	ret = rcm_source_add(loop, &wake->source, fd, QUIET, wake_served);
	if (ret)
		rcm_fds_close(fd);
	return ret;
}

void rcm_wake_done(struct rcm_wake *wake)
{
	rcm_source_remove(&wake->source);
	rcm_fds_close(wake->source.fd);
}

void rcm_wake_abandon(struct rcm_wake *wake)
{
	rcm_fds_close(wake->source.fd);
}

bool rcm_wake_ring(struct rcm_wake *wake)
{
	if (atomic_exchange(&wake->rung, true))
		return true;
	if (rcm_fds_is_same(wake->source.fd) && !rcm_source_arm(&wake->source, RUNG))
		return true;
	atomic_store(&wake->rung, false);
	return false;
}
