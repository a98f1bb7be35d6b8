/* SPDX-License-Identifier: BSD-2-Clause */
/* The fork of a process whose threads are in the library: the one place that registers handlers. */
#include "base/fork.h"

#include <pthread.h>
#include <stddef.h>

unsigned rcm_fork_generation;

static struct {
	const struct rcm_fork *fork;
	struct rcm_lock *lock;
} places[RCM_FORK_PLACES];

void rcm_fork_watch(enum rcm_fork_place place, const struct rcm_fork *fork)
{
	places[place].fork = fork;
}

void rcm_fork_watch_lock(enum rcm_fork_place place, struct rcm_lock *lock)
{
	places[place].lock = lock;
}

static void fork_prepare(void) RCM_UNCHECKED
{
	for (int i = 0; i < RCM_FORK_PLACES; i++) {
		if (places[i].fork)
			places[i].fork->prepare();
		if (places[i].lock)
			rcm_lock_acquire(places[i].lock);
	}
}

static void fork_parent(void) RCM_UNCHECKED
{
	for (int i = RCM_FORK_PLACES - 1; i >= 0; i--) {
		if (places[i].lock)
			rcm_lock_release(places[i].lock);
		if (places[i].fork)
			places[i].fork->parent();
	}
}

/* The one thread that is here is the one that took them. Whoever waits for them isn't here, and is woken in vain. */
static void fork_child(void) RCM_UNCHECKED
{
	rcm_fork_generation++;
	for (int i = RCM_FORK_PLACES - 1; i >= 0; i--) {
		if (places[i].lock)
			rcm_lock_release(places[i].lock);
		if (places[i].fork)
			places[i].fork->child();
	}
}

__attribute__((constructor)) static void fork_register(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}
