/* SPDX-License-Identifier: BSD-2-Clause */
/* One who asks the engine and waits for the outcome, counting how often it comes. */
#pragma once

#include "resolve/resolve.h"

struct rcm_asker {
	struct rcm_request *request;
	struct rcm_outcome outcome;
	unsigned times;			/* completions */
	uint64_t at;			/* ns of the first */
	unsigned order;			/* how many completions of all askers came before it */
};

/* What most tests ask: a name of any family, with the default deadline. */
struct rcm_question rcm_question_name(const char *node);

/* Starts it; its return value. A second use of an asker drops the first outcome. */
int rcm_asker_start(struct rcm_asker *asker, const struct rcm_question *question);

/* Waits for the outcome, at most ten seconds; false where it doesn't come. */
bool rcm_asker_wait(struct rcm_asker *asker);

/* Both; returns the status, INT_MIN where nothing comes. */
int rcm_asker_ask(struct rcm_asker *asker, const struct rcm_question *question);

/* In the child of a fork: what was under way goes on. */
int rcm_asker_again(struct rcm_asker *asker);

/* In the child of a fork: those askers that wanted says no of have given up. */
void rcm_askers_drop(bool (*wanted)(const void *asker));

/* Completions so far, under the lock. */
unsigned rcm_asker_times(struct rcm_asker *asker);

/* Gives back request and answer. */
void rcm_asker_done(struct rcm_asker *asker);
