/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SA with a database of its own, for what is published: it answers when the test lets it, on a loop whose time the
 * test moves. Records run out as their leases say.
 */
#pragma once

#include "sa/sa.h"

enum rcm_model_mood {
	RCM_MODEL_ANSWERS,
	RCM_MODEL_SILENT,		/* questions end at their deadlines, -ETIMEDOUT */
	RCM_MODEL_REFUSES,		/* what is to be set, -EIO */
	RCM_MODEL_BUSY,			/* -EBUSY */
	RCM_MODEL_DOWN,			/* nothing can be asked: -ENETDOWN */
};

struct rcm_model_record {
	struct rcm_sa_service_record record;
	uint8_t key[16];
	uint64_t until;
};

extern const struct rcm_sa_ops rcm_model_sa;

/* As at the start: empty, answering. */
void rcm_model_sa_reset(struct rcm_loop *loop);

void rcm_model_sa_mood(enum rcm_model_mood mood);

/* Answers what is asked by now; returns how many. */
unsigned rcm_model_sa_serve(void);

/* Time goes by, up to so many ns from now: timers fire and questions are answered, each at its time. */
void rcm_model_sa_run(uint64_t ns);

/* The record of that service id, first found; NULL: none. */
struct rcm_model_record *rcm_model_sa_find(uint64_t id);

/* How many there are, and forgets all, as an SM without a database does. */
unsigned rcm_model_sa_count(void);
void rcm_model_sa_forget(void);

/* Puts a record there as another host would, in the place of any that it replaces. */
void rcm_model_sa_put(const struct rcm_sa_service_record *record, const uint8_t key[16]);

/* So far: Sets, Deletes, Gets; the most that was ever asked at once. */
extern unsigned rcm_model_sets, rcm_model_deletes, rcm_model_gets, rcm_model_most;

/* What is asked and not answered. */
unsigned rcm_model_sa_pending(void);
