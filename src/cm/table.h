/* SPDX-License-Identifier: BSD-2-Clause */
/* From the uid in a kernel event to the id it is for: by slot and generation, never by pointer. */
#pragma once

#include <stdint.h>

struct rcm_id;

/*
 * All ids of the process are in it, from their making until their memory goes: the child of a fork goes through those
 * that it has of its parent, also what another thread was destroying.
 *
 * Enters an id, giving it a uid that no earlier entry had and that is never 0. Holds no reference: what frees the id
 * removes it first. An id may be entered more than once (a multicast membership has a uid of its own).
 * 0 or -ENOMEM. Any thread.
 */
int rcm_table_add(struct rcm_id *id, uint64_t *ret_uid);

/* The id of a uid with a reference for the caller, or NULL: it is gone, or dead. Any thread. */
struct rcm_id *rcm_table_find(uint64_t uid);

/* All ids, each once by its own uid, from *number 0 on: the next one, or NULL after the last. Nobody adds or removes
 * meanwhile. */
struct rcm_id *rcm_table_next(uint32_t *number);

/* After this no rcm_table_find() gives it. 0 and unknown ones: nothing. Any thread. */
void rcm_table_remove(uint64_t uid);
