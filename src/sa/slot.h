/* SPDX-License-Identifier: BSD-2-Clause */
/* The MADs that the kernel has under way for a port, by transaction id and by agent. Without I/O. */
#pragma once

#include "base/limits.h"
#include "sa/umad.h"

struct rcm_link_txn;

/* A MAD under way. It outlives its transaction: a cancelled one still takes its place in the kernel. */
struct rcm_slot {
	uint32_t tid;			/* 0: free */
	struct rcm_link_txn *txn;	/* NULL: nobody waits for it any more */
	uint64_t at;			/* ns; when it was sent */
	uint64_t until;			/* ns; from then on it takes no place any more, whatever the kernel has */
};

/* Each agent has its own, as the kernel may count by agent. */
enum { RCM_SA_SLOTS = RCM_UMAD_AGENTS * RCM_SA_WINDOW };

struct rcm_slots {
	struct rcm_slot slot[RCM_SA_SLOTS];	/* one agent's after the other's */
	unsigned used;
	uint32_t last_tid;
};

/* NULL: there is none. */
struct rcm_slot *rcm_slot_find(struct rcm_slots *slots, uint32_t tid);
struct rcm_slot *rcm_slot_find_free(struct rcm_slots *slots, unsigned agent);

/* Any that takes no place any more at that time; UINT64_MAX: any at all. */
struct rcm_slot *rcm_slot_find_over(struct rcm_slots *slots, uint64_t now);

/* One that no slot has; never 0, which a free one has, and which some SAs ignore. */
uint32_t rcm_slot_next_tid(struct rcm_slots *slots);

/* Its place is free again; returns whose it was. */
struct rcm_link_txn *rcm_slot_release(struct rcm_slots *slots, struct rcm_slot *slot);

/* Nobody waits for the transaction's any more: they take a place until then at most. */
void rcm_slot_orphan(struct rcm_slots *slots, const struct rcm_link_txn *txn, uint64_t until);

/* When the oldest of them was sent; UINT64_MAX: there is none. */
uint64_t rcm_slot_first_at(const struct rcm_slots *slots);

/* When the first of them takes no place any more; UINT64_MAX: there is none. */
uint64_t rcm_slot_first_until(const struct rcm_slots *slots);
