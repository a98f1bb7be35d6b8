/* SPDX-License-Identifier: BSD-2-Clause */
/* All channels of the process: the child of a fork has to go through those that it has of its parent. */
#pragma once

#include <sys/queue.h>

struct rcm_roll_entry {
	LIST_ENTRY(rcm_roll_entry) link;
};

/* Whole before the one, and until after the other. Any thread. *ret_oldest is the one that is to be freed now, or NULL:
 * entry itself is kept while RCM_RETIRED_MAX others are retired after it. */
void rcm_roll_add(struct rcm_roll_entry *entry);
void rcm_roll_retire(struct rcm_roll_entry *entry, struct rcm_roll_entry **ret_oldest);

/* Calls visit for each, under the roll's lock: it neither adds nor removes. */
void rcm_roll_visit(void (*visit)(struct rcm_roll_entry *entry));
