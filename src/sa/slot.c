/* SPDX-License-Identifier: BSD-2-Clause */
/* The MADs that the kernel has under way for a port. */
#include "sa/slot.h"

struct rcm_slot *rcm_slot_find(struct rcm_slots *slots, uint32_t tid)
{
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (slots->slot[i].tid == tid)
			return &slots->slot[i];
	return NULL;
}

struct rcm_slot *rcm_slot_find_free(struct rcm_slots *slots, unsigned agent)
{
	struct rcm_slot *slot = &slots->slot[(size_t)agent * RCM_SA_WINDOW];

	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		if (!slot[i].tid)
			return &slot[i];
	return NULL;
}

struct rcm_slot *rcm_slot_find_over(struct rcm_slots *slots, uint64_t now)
{
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (slots->slot[i].tid && slots->slot[i].until <= now)
			return &slots->slot[i];
	return NULL;
}

uint64_t rcm_slot_first_at(const struct rcm_slots *slots)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (slots->slot[i].tid && slots->slot[i].at < first)
			first = slots->slot[i].at;
	return first;
}

uint32_t rcm_slot_next_tid(struct rcm_slots *slots)
{
	do
		slots->last_tid++;
	while (!slots->last_tid || rcm_slot_find(slots, slots->last_tid));
	return slots->last_tid;
}

struct rcm_link_txn *rcm_slot_release(struct rcm_slots *slots, struct rcm_slot *slot)
{
	struct rcm_link_txn *txn = slot->txn;

	*slot = (struct rcm_slot){ 0 };
	slots->used--;
	return txn;
}

void rcm_slot_orphan(struct rcm_slots *slots, const struct rcm_link_txn *txn, uint64_t until)
{
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++) {
		struct rcm_slot *slot = &slots->slot[i];

		if (!slot->tid || slot->txn != txn)
			continue;
		slot->txn = NULL;
		slot->until = until < slot->until ? until : slot->until;
	}
}

uint64_t rcm_slot_first_until(const struct rcm_slots *slots)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (slots->slot[i].tid && slots->slot[i].until < first)
			first = slots->slot[i].until;
	return first;
}
