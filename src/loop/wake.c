/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes a loop from another thread. */
#include "loop/wake.h"

#include <sys/eventfd.h>

#include "base/container.h"
#include "base/fds.h"

/* The eventfd is always up. Putting it into the loop's epoll anew as one that is told of once has it told of, and of a
 * number that isn't the loop's, or the wake's, any more the kernel says so, where a write would go into somebody's
 * file. */
#define QUIET RCM_EDGE
#define RUNG (RCM_READABLE | RCM_EDGE)

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
	int fd = rcm_fds_add(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)), ret;

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
	return atomic_exchange(&wake->rung, true) || !rcm_source_arm(&wake->source, RUNG);
}
