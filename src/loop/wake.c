/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes a loop from another thread. */
#include "loop/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/container.h"
#include "base/fds.h"

/* The loop is told of each write once, so that none has to be read; so often nobody writes that the count ends. */
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
	int fd = rcm_fds_add(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), ret;

	if (fd < 0)
		return fd;
	wake->fn = fn;
	atomic_init(&wake->rung, false);
	ret = rcm_source_add(loop, &wake->source, fd, RCM_READABLE | RCM_EDGE, wake_served);
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

void rcm_wake_ring(struct rcm_wake *wake)
{
	if (!atomic_exchange(&wake->rung, true))
		(void)!write(wake->source.fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}
