/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes a loop from another thread, through a descriptor that is never written to. */
#pragma once

#include <stdatomic.h>

#include "loop/loop.h"

struct rcm_wake {
	struct rcm_source source;
	atomic_bool rung;
	void (*fn)(struct rcm_wake *wake);
};

/* 0 or -errno; fn runs on the loop's thread, once for any number of rings before it. */
int rcm_wake_init(struct rcm_loop *loop, struct rcm_wake *wake, void (*fn)(struct rcm_wake *));
void rcm_wake_done(struct rcm_wake *wake);

/* The same in the child of a fork, leaving alone the loop that the parent shares. */
void rcm_wake_abandon(struct rcm_wake *wake);

/* Any thread; no system call where the loop has not yet served an earlier ring. False: the program has closed the
 * loop's descriptors, or the wake's; whatever has their numbers now is left as it was. */
bool rcm_wake_ring(struct rcm_wake *wake);
