/* SPDX-License-Identifier: BSD-2-Clause */
/* One-shot timers of a loop. */
#pragma once

#include "base/clock.h"
#include "loop/loop.h"

/* Embedded in what it serves, zeroed before first use. */
struct rcm_timer {
	struct rcm_heap_node node;
	TAILQ_ENTRY(rcm_timer) entry;
	enum { RCM_TIMER_IDLE, RCM_TIMER_WAITING, RCM_TIMER_DUE } state;
	void (*fire)(struct rcm_timer *timer);
};

/* Starts it, or moves it, to fire at due (ns of rcm_clock_now(); the past: in the next turn). Timers that are due at
 * the same moment fire in the order they were started. */
void rcm_timer_start(struct rcm_loop *loop, struct rcm_timer *timer, uint64_t due,
		     void (*fire)(struct rcm_timer *));

/* Does nothing where it isn't running. */
void rcm_timer_stop(struct rcm_loop *loop, struct rcm_timer *timer);

/* Fires all that were due at now and started before the call; rcm_loop_turn() calls it. */
void rcm_timers_fire(struct rcm_loop *loop, uint64_t now);

/* Milliseconds until the first is due, rounded up, at most max (-1: no limit); -1 where there is none and no limit. */
int rcm_timers_wait_ms(const struct rcm_loop *loop, uint64_t now, int max);
