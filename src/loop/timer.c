/* SPDX-License-Identifier: BSD-2-Clause */
/* One-shot timers of a loop. */
#include "loop/timer.h"

#include <limits.h>

#include "base/container.h"

void rcm_timer_start(struct rcm_loop *loop, struct rcm_timer *timer, uint64_t due,
		     void (*fire)(struct rcm_timer *))
{
	rcm_timer_stop(loop, timer);
	timer->fire = fire;
	timer->state = RCM_TIMER_WAITING;
	rcm_heap_push(&loop->timers, &timer->node, due);
}

void rcm_timer_stop(struct rcm_loop *loop, struct rcm_timer *timer)
{
	if (timer->state == RCM_TIMER_WAITING)
		rcm_heap_remove(&loop->timers, &timer->node);
	else if (timer->state == RCM_TIMER_DUE)
		TAILQ_REMOVE(&loop->due, timer, entry);
	timer->state = RCM_TIMER_IDLE;
}

/* Collected first: a timer that restarts itself in the past would otherwise keep all others from firing. */
void rcm_timers_fire(struct rcm_loop *loop, uint64_t now)
{
	struct rcm_heap_node *node;
	struct rcm_timer *timer;

	while ((node = rcm_heap_first(&loop->timers)) && node->key <= now) {
		timer = rcm_container(node, struct rcm_timer, node);
		rcm_heap_remove(&loop->timers, node);
		timer->state = RCM_TIMER_DUE;
		TAILQ_INSERT_TAIL(&loop->due, timer, entry);
	}
	while ((timer = TAILQ_FIRST(&loop->due))) {
		rcm_timer_stop(loop, timer);
		timer->fire(timer);
	}
}

int rcm_timers_wait_ms(const struct rcm_loop *loop, uint64_t now, int max)
{
	const struct rcm_heap_node *node = rcm_heap_first(&loop->timers);
	uint64_t ms;

	if (!node)
		return max;
	if (node->key <= now)
		return 0;
	ms = (node->key - now - 1) / RCM_NS_PER_MS + 1;
	if (ms > INT_MAX)
		ms = INT_MAX;
	return max >= 0 && (uint64_t)max < ms ? max : (int)ms;
}
