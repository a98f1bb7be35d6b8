/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths to the records that were found: what is asked for them, and how much of it at a time. A few are asked for one
 * by one. For many that differ in their host alone one question is asked, for the paths to all hosts there are, and
 * then singly for what wasn't in its answer.
 */
#pragma once

#include "resolve/engine.h"
#include "resolve/found.h"

struct rcm_paths_table;

struct rcm_paths {
	struct rcm_sa_client client;
	uint8_t traffic_class;
	uint64_t deadline;			/* ns; 0: none */
	void (*changed)(struct rcm_paths *paths);	/* one under way was answered; may free it all */
	unsigned *hosts;			/* the engine's: how many paths the last table had; 0: not known */
	struct rcm_found_batch *first;		/* of all that were ever to be asked for */
	struct rcm_found_batch *unasked;	/* where the next record is to be asked for; NULL: none */
	unsigned unasked_at;
	unsigned asking;			/* under way */
	LIST_HEAD(, rcm_paths_table) tables;	/* of those: for many */
};

/* Asks for the paths to the records of a batch, the last of their list; each is told to its record. */
void rcm_paths_ask(struct rcm_paths *paths, struct rcm_found_batch *batch);

/* Ends all questions for records of the list. */
void rcm_paths_cancel(struct rcm_paths *paths, struct rcm_found_list *list);

/* Frees what questions were asked where their back end is gone. */
void rcm_paths_free(struct rcm_paths *paths);
