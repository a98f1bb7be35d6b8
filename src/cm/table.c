/* SPDX-License-Identifier: BSD-2-Clause */
/* From a uid to what it is for: an array of slots; a uid is the slot's generation above its number. */
#include "cm/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/lock.h"

struct slot {
	struct rcm_entry *entry;	/* NULL: free */
	uint32_t generation;		/* of the present or next entry; starts at 1, so no uid is 0 */
	uint32_t next_free;		/* number + 1 of the next free slot, 0: none */
};

static struct rcm_lock lock = RCM_LOCK_INIT;
static struct slot *slots RCM_GUARDED_BY(lock);
static uint32_t slot_count RCM_GUARDED_BY(lock);
static uint32_t first_free RCM_GUARDED_BY(lock);

static int grow_locked(void) RCM_REQUIRES(lock)
{
	uint32_t count = slot_count ? 2 * slot_count : 64;
	struct slot *bigger;

	rcm_lock_assert_held(&lock);
	bigger = reallocarray(slots, count, sizeof(*slots));
	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = slot_count; i < count; i++)
		bigger[i] = (struct slot){
			.generation = 1,
			.next_free = i + 1 < count ? i + 2 : 0,
		};
	first_free = slot_count + 1;
	slots = bigger;
	slot_count = count;
	return 0;
}

static struct slot *slot_of_locked(uint64_t uid) RCM_REQUIRES(lock)
{
	uint32_t number = (uint32_t)uid;
	struct slot *slot = number < slot_count ? &slots[number] : NULL;

	rcm_lock_assert_held(&lock);
	return slot && slot->entry && slot->generation == uid >> 32 ? slot : NULL;
}

int rcm_table_add(struct rcm_entry *entry, uint64_t *ret_uid)
{
	struct slot *slot;
	int ret = 0;

	rcm_lock_acquire(&lock);
	if (!first_free)
		ret = grow_locked();
	if (!ret) {
		slot = &slots[first_free - 1];
		*ret_uid = (uint64_t)slot->generation << 32 | (first_free - 1);
		first_free = slot->next_free;
		slot->entry = entry;
	}
	rcm_lock_release(&lock);
	return ret;
}

int rcm_table_enter(struct rcm_entry *entry)
{
	return rcm_table_add(entry, &entry->uid);
}

/* False: its memory is about to go. */
static bool entry_ref(struct rcm_entry *entry)
{
	unsigned refs = atomic_load(&entry->refs);

	while (refs && !atomic_compare_exchange_weak(&entry->refs, &refs, refs + 1))
		;
	return refs;
}

struct rcm_entry *rcm_table_find(uint64_t uid)
{
	struct rcm_entry *entry = NULL;
	struct slot *slot;

	rcm_lock_acquire(&lock);
	slot = slot_of_locked(uid);
	if (slot && entry_ref(slot->entry))
		entry = slot->entry;
	rcm_lock_release(&lock);
	return entry;
}

void rcm_table_remove(uint64_t uid)
{
	struct slot *slot;

	rcm_lock_acquire(&lock);
	slot = slot_of_locked(uid);
	if (slot) {
		slot->entry = NULL;
		slot->next_free = first_free;
		/* A slot whose generations are used up is never used again: 2^32 later a uid must not come twice. */
		if (++slot->generation)
			first_free = (uint32_t)uid + 1;
	}
	rcm_lock_release(&lock);
}

struct rcm_entry *rcm_table_next(uint32_t *number)
{
	struct rcm_entry *entry = NULL;

	rcm_lock_acquire(&lock);
	while (!entry && *number < slot_count) {
		struct slot *slot = &slots[(*number)++];

		/* A membership isn't its id's own entry. */
		if (slot->entry && slot->entry->uid == ((uint64_t)slot->generation << 32 | (*number - 1)))
			entry = slot->entry;
	}
	rcm_lock_release(&lock);
	return entry;
}

__attribute__((constructor)) static void table_watch_forks(void)
{
	rcm_fork_watch_lock(RCM_FORK_IDS, &lock);
}
