/* SPDX-License-Identifier: BSD-2-Clause */
/* Pollers of a channel's descriptor, one instance of an ops table each, and what every one of them has to see. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * LEVEL: wakes exactly while an event is due. EDGE: once for what makes the queue non-empty, and has to be read until
 * EAGAIN. PAST: as LEVEL, but what it says may have been true only since it was asked.
 */
struct watch_ops {
	const char *name;		/* NULL: end of a table */
	enum { WATCH_LEVEL, WATCH_EDGE, WATCH_PAST } kind;
	void *(*open)(int fd);		/* watches fd for reading. NULL: this machine can't */
	int (*wait)(void *watch, int ms);	/* 1: woken; 0: not within ms; -1: it failed */
	void (*close)(void *watch);
};

/* Tables: the kernel's own calls, and each library that was there at build time. */
extern const struct watch_ops watch_calls[], watch_uring[], watch_uv[], watch_event[], watch_ev[], watch_asio[];

/* Where the events come from. */
struct watch_world {
	unsigned rounds;		/* of each case; 0: many */
	/* An id on channel for which the kernel has an event, or will have; the case destroys it. NULL: no kernel. */
	struct rdma_cm_id *(*kernel)(struct rdma_event_channel *channel);
	/* Makes the kernel have an event that the library keeps to itself. NULL: can't. */
	void (*swallowed)(struct rdma_event_channel *channel);
};

/* Runs every case with every poller, or with those named in the arguments; a line each. The exit status. */
int watch_main(const struct watch_world *world, int argc, char **argv);

#ifdef __cplusplus
}
#endif
