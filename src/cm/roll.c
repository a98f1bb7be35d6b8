/* SPDX-License-Identifier: BSD-2-Clause */
/* All channels of the process. */
#include "cm/roll.h"

#include "base/fork.h"
#include "base/limits.h"
#include "base/lock.h"

static struct rcm_lock lock = RCM_LOCK_INIT;
static LIST_HEAD(, rcm_roll_entry) roll RCM_GUARDED_BY(lock);
static struct rcm_roll_entry *retired[RCM_RETIRED_MAX] RCM_GUARDED_BY(lock);
static unsigned retired_next RCM_GUARDED_BY(lock);

void rcm_roll_add(struct rcm_roll_entry *entry)
{
	rcm_lock_acquire(&lock);
	LIST_INSERT_HEAD(&roll, entry, link);
	rcm_lock_release(&lock);
}

void rcm_roll_retire(struct rcm_roll_entry *entry, struct rcm_roll_entry **ret_oldest)
{
	rcm_lock_acquire(&lock);
	LIST_REMOVE(entry, link);
	*ret_oldest = retired[retired_next];
	retired[retired_next] = entry;
	retired_next = (retired_next + 1) % RCM_RETIRED_MAX;
	rcm_lock_release(&lock);
}

void rcm_roll_visit(void (*visit)(struct rcm_roll_entry *entry))
{
	struct rcm_roll_entry *entry;

	rcm_lock_acquire(&lock);
	LIST_FOREACH(entry, &roll, link)
		visit(entry);
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void roll_watch_forks(void)
{
	rcm_fork_watch_lock(RCM_FORK_ROLL, &lock);
}
