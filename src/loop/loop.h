/* SPDX-License-Identifier: BSD-2-Clause */
/* A small epoll loop: descriptor sources and timers, owned and turned by one thread. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/heap.h"

struct rcm_loop;
struct rcm_timer;

/* What a source waits for and is told; the values of EPOLLIN, EPOLLOUT, EPOLLERR and EPOLLHUP, which loop.c asserts. */
enum { RCM_READABLE = 0x1, RCM_WRITABLE = 0x4, RCM_BROKEN = 0x8, RCM_HANGUP = 0x10 };

/* With RCM_READABLE: told once each time that there is more to read, whether it is read or not; with RCM_WRITABLE the
 * same. EPOLLET's value. */
#define RCM_EDGE (UINT32_C(1) << 31)

/* Embedded in what it serves; ready() finds its owner with rcm_container(). */
struct rcm_source {
	int fd;
	uint32_t events;
	void (*ready)(struct rcm_source *source, uint32_t events);
	struct rcm_loop *loop;		/* NULL: not in a loop */
};

struct rcm_loop {
	atomic_int epfd;		/* -1: given up, and so is whatever is in it */
	const struct rcm_source *witness;	/* always in it, with a descriptor that is told from any other, which
						 * proves that epfd is its own still; NULL: none */
	struct rcm_heap timers;
	TAILQ_HEAD(, rcm_timer) due;	/* collected, not yet fired */
	uint64_t now;			/* ns; taken once a turn, after the wait */
	struct rcm_source **batch;	/* sources still to be served in this turn */
	unsigned batched;

	/* Called, where set, right before and right after the wait: the owner lets go of what others want meanwhile. */
	void (*before_wait)(struct rcm_loop *loop);
	void (*after_wait)(struct rcm_loop *loop);

	/* Called, where set, by a thread that has something for the loop and finds its descriptors closed: who sleeps
	 * in the wait may do so for ever. No lock held. */
	void (*lost)(struct rcm_loop *loop);
};

/* 0 or -errno, also where this process may not wait by it. */
int rcm_loop_init(struct rcm_loop *loop);

/* False: the program has closed the loop's descriptors, or the witness's. Any thread. */
bool rcm_loop_is_own(const struct rcm_loop *loop);

/* Sources and timers still in it are forgotten, not touched. */
void rcm_loop_done(struct rcm_loop *loop);

/*
 * Waits until a source is ready, a timer is due, or max_wait_ms (-1: no limit) has gone by; then serves the ready
 * sources and after them the timers due at that moment. A timer started meanwhile waits for the next turn, so that
 * one that restarts itself can't hold the loop. Returns 0; or -errno, and nothing was served: epoll itself failed, or
 * the program has closed the loop's descriptors, and their numbers may be the program's own by now (-EBADF).
 */
int rcm_loop_turn(struct rcm_loop *loop, int max_wait_ms);

/* Adds a source for events; 0 or -errno. ready() may add, change and remove any source, itself too. */
int rcm_source_add(struct rcm_loop *loop, struct rcm_source *source, int fd, uint32_t events,
		   void (*ready)(struct rcm_source *, uint32_t));
int rcm_source_change(struct rcm_source *source, uint32_t events);

/* Has a source that is up told of once more, with RCM_EDGE in events. 0; -errno: the program has closed the loop's
 * descriptor, or the source's. Any thread. */
int rcm_source_arm(struct rcm_source *source, uint32_t events);

/* Takes it out (before its descriptor is closed); it isn't called any more. Does nothing where it isn't in. */
void rcm_source_remove(struct rcm_source *source);
