/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths to the records that were found: what is asked for them, and how much of it at a time. */
#pragma once

#include "resolve/engine.h"
#include "resolve/found.h"

struct rcm_paths {
	struct rcm_sa_client client;
	uint8_t traffic_class;
	uint64_t deadline;			/* ns; 0: none */
	void (*changed)(struct rcm_paths *paths);	/* one under way was answered; may free it all */
	struct rcm_found_batch *unasked;	/* where the next record is to be asked for; NULL: none */
	unsigned unasked_at;
	unsigned asking;			/* under way */
};

/* Asks for the paths to the records of a batch, the last of their list; each is told to its record. */
void rcm_paths_ask(struct rcm_paths *paths, struct rcm_found_batch *batch);

/* Ends all questions for records of the list. */
void rcm_paths_cancel(struct rcm_paths *paths, struct rcm_found_list *list);
