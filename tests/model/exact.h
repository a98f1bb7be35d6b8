/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of one thread's calls: what is due on which channel, and what each resolution may still come to. */
#pragma once

#include <rdma/rai.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"

enum { SLOTS = 12, CHANNELS = 3, HOLDS = 3, UNACKED_MAX = 8, QUEUE_MAX = 20000 };

/* Where a resolution is. */
enum when {
	WHEN_NONE,			/* none is outstanding */
	WHEN_HELD,			/* nothing comes by itself */
	WHEN_SOON,			/* it comes, at the latest before the answer to a name that is asked for now */
	WHEN_LATER,			/* it comes */
	WHEN_DUE,			/* it has come, before or after other events */
	WHEN_LISTED,			/* it has its place in the queue */
};

/* What may come of it. */
enum { OUTCOME_FOUND = 1, OUTCOME_ERROR = 2, OUTCOME_CANCELLED = 4, OUTCOME_TIMEOUT = 8 };

struct slot {
	struct rdma_cm_id *id;		/* NULL: none */
	unsigned number, channel;
	uint32_t handle;		/* in the fake kernel */
	bool bound;
	uint32_t deadline_ms;
	enum when when;
	unsigned outcomes;
	int error;			/* OUTCOME_ERROR */
	unsigned count;			/* OUTCOME_FOUND: so many results */
	int hold;			/* the name that it waits for; -1: none */
	unsigned found;			/* results to be handed over; 0: none */
	const char *service;		/* what it asked for */
	uint64_t written, read;		/* user events */
	unsigned sent, got;		/* events of the kernel's */
};

/* An event whose place in the queue is known. */
struct item {
	struct slot *slot;
	bool user;			/* else the end of its resolution */
};

struct line {
	struct rdma_event_channel *pub;
	int edge;			/* an epoll that looks at edges */
	bool woken;			/* by it, since nothing was due */
	struct item queue[QUEUE_MAX];
	unsigned length;
};

struct unacked {
	struct rdma_cm_event *event, copy;
	struct slot *slot;
};

struct exact {
	struct slot slots[SLOTS];
	struct line lines[CHANNELS];
	struct unacked unacked[UNACKED_MAX];
	unsigned unacked_count, fences;
	bool kernel;			/* there is one */
	bool forked;
	bool verbose;
};

extern struct exact exact;

/* ---- The model ---- */

struct slot *exact_slot(struct dice *dice);	/* any that has an id; NULL: none has */
void exact_list(struct slot *slot, bool user);	/* an event has its place at the end */
void exact_unlist(struct slot *slot);		/* none of its events is in a queue any more */
void exact_move(struct slot *slot, unsigned to);

/* All that comes soon has come. */
void exact_fence(void);

/* Takes an event, if one is there: true. All that it says has to be what the model says. */
bool exact_take(unsigned channel, bool keep);
void exact_ack(unsigned which);
void exact_ack_all_of(const struct slot *slot);

void exact_open_channel(unsigned channel);
void exact_watch(unsigned channel);		/* edges, anew */
void exact_close_channel(unsigned channel);

/* Every channel is readable exactly where something is due. */
void exact_check(void);

/* ---- The steps ---- */

void exact_step(struct dice *dice);

/* What a step did, with -v. */
void exact_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
