/* SPDX-License-Identifier: BSD-2-Clause */
/* From the uid in a kernel event to what it is for: by slot and generation, never by pointer. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* What the table knows of an id, which has it as a part. */
struct rcm_entry {
	atomic_uint refs;
	uint64_t uid;				/* its own, from rcm_table_enter(); constant from then on */
};

/*
 * All ids of the process are in it, from their making until their memory goes: the child of a fork goes through those
 * that it has of its parent, also what another thread was destroying.
 *
 * Enters an id, or gives it a further uid (a multicast membership has one of its own): one that nothing had before and
 * that is never 0. Holds no reference: what frees the id removes all its uids first. 0 or -ENOMEM. Any thread.
 */
int rcm_table_enter(struct rcm_entry *entry);
int rcm_table_add(struct rcm_entry *entry, uint64_t *ret_uid);

/* What a uid is for, with a reference for the caller, dead or not; NULL: it is gone, or about to go. Any thread. */
struct rcm_entry *rcm_table_find(uint64_t uid);

/* All ids, each once by its own uid, from *number 0 on: the next one, or NULL after the last. Nobody adds or removes
 * meanwhile. */
struct rcm_entry *rcm_table_next(uint32_t *number);

/* After this no rcm_table_find() gives it. 0 and unknown ones: nothing. Any thread. */
void rcm_table_remove(uint64_t uid);
