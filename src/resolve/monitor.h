/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices whose asynchronous events are followed, while something depends on their ports: each by a context of the
 * library's own, which is opened and closed by a worker, as that may take its time. All calls are on the loop's thread.
 */
#pragma once

#include "dns/workers.h"
#include "loop/timer.h"
#include "sa/sa.h"
#include "verbs/alerts.h"

struct rcm_monitor;
struct rcm_monitored;

struct rcm_monitor_ops {
	/* As rcm_sa_ports(). */
	int (*ports)(struct rcm_sa_port *ports, unsigned max);

	/* Whether more depends on ports than was said by rcm_monitor_want(). */
	bool (*needed)(struct rcm_monitor *monitor);

	/* Something happened to ports; all: an SM wants everything to be registered again. */
	void (*changed)(struct rcm_monitor *monitor, bool all);
};

struct rcm_monitor {
	struct rcm_loop *loop;			/* NULL: nothing is ever followed */
	const struct rcm_monitor_ops *ops;
	const struct rcm_alerts_ops *alerts;
	struct rcm_workers *workers;		/* NULL: there was no need yet */
	LIST_HEAD(, rcm_monitored) devices;
	unsigned count;
	uint64_t until;				/* ns; something depends on ports until then */
	struct rcm_timer look_timer;		/* which devices there are, and whether there is need still */
	bool all;				/* what is to be told of next, */
	uint64_t told_at;			/* ns; and when that was done last */
	struct rcm_timer tell_timer;
};

void rcm_monitor_init(struct rcm_monitor *monitor, struct rcm_loop *loop, const struct rcm_monitor_ops *ops,
		      const struct rcm_alerts_ops *alerts);

/* Something depends on ports, until then (ns), or as long as needed() says so. Can't fail: what can't be followed isn't
 * told of. */
void rcm_monitor_want(struct rcm_monitor *monitor, uint64_t until);

/* In the child of a fork, where all descriptors are closed: nothing is followed any more. */
void rcm_monitor_abandon(struct rcm_monitor *monitor);

/* Closes all, and waits for none of the workers; tests only. */
void rcm_monitor_done(struct rcm_monitor *monitor);
