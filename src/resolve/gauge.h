/* SPDX-License-Identifier: BSD-2-Clause */
/* The counters of this process for others: a socket in XDG_RUNTIME_DIR, or /run/user/UID, if RAI_STATS asks for it. */
#pragma once

#include <rdma/rai.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "loop/timer.h"

typedef void rcm_gauge_fn(void *arg, struct rai_stats *ret_stats);

struct rcm_gauge {
	struct rcm_source source;	/* fd of one that isn't open: meaningless */
	struct rcm_timer timer;		/* until it accepts again */
	rcm_gauge_fn *show;
	void *arg;
	atomic_bool over;		/* the process ends: no name is to be left any more */
	_Atomic(uint64_t) pid;		/* whose socket it is, or is about to be; 0: nobody's */
	struct rcm_lock making;		/* held while the name is made, and while it is removed at the process's end */
	int wanted;			/* 0: not; 1; -errno, why it can't be had */
	char directory[108];		/* where, */
	char path[108];			/* and its name; both as sun_path */
};

/* "DIRECTORY/rai-PID.stats", for a buffer of at least sun_path's size: false where it is too long. Any thread. */
bool rcm_gauge_path(const char *directory, uint64_t pid, char *path, size_t size);

/* What the environment says of it. Before the loop's thread is started: that one may not look, as the program's may be
 * changing its environment by then. */
void rcm_gauge_want(struct rcm_gauge *gauge);

/*
 * Opens it where it is wanted and the directory is this user's alone; else, or where it can't be had, nothing happens,
 * which RAI_LOG tells. Each who connects and is this user, or root, is sent a few lines at once, and the connection is
 * closed: nobody is waited for. What processes have left there that are no more goes. The loop's thread.
 */
void rcm_gauge_open(struct rcm_gauge *gauge, struct rcm_loop *loop, rcm_gauge_fn *show, void *arg);

/* At the end of the process: removes its name, where it is this process's, and what others have left meanwhile. */
void rcm_gauge_remove(struct rcm_gauge *gauge);

/* In the child of a fork: it is the parent's. */
void rcm_gauge_abandon(struct rcm_gauge *gauge);
