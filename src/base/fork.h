/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fork of a process whose threads are in the library.
 *
 * The child is one thread, and what another held at the fork is held there for ever. So a fork first takes every lock
 * that isn't part of an id, a channel or a request. The handlers are registered when the library is loaded: those that
 * the application registers later run while none of our locks is held, and may call us.
 */
#pragma once

#include "base/lock.h"

/* How many forks, each of its parent's process, have led to this process. Changes while a child is one thread. */
extern unsigned rcm_fork_generation;

/* In this order a fork takes them, and gives them back in the reverse one: docs/locking.md. */
enum rcm_fork_place {
	RCM_FORK_ADOPT, RCM_FORK_ENGINE, RCM_FORK_STRANDED, RCM_FORK_ROLL, RCM_FORK_IDS, RCM_FORK_ROUSE,
	RCM_FORK_DEVICES, RCM_FORK_LISTING, RCM_FORK_FDS,
	RCM_FORK_PLACES,
};

/* What is to happen at a fork: before it, then in the parent, and in the child. */
struct rcm_fork {
	void (*prepare)(void);
	void (*parent)(void);
	void (*child)(void);
};

/* For a constructor, once a place. What is given has to stay. */
void rcm_fork_watch(enum rcm_fork_place place, const struct rcm_fork *fork);

/* The same for nothing but a lock. */
void rcm_fork_watch_lock(enum rcm_fork_place place, struct rcm_lock *lock);
