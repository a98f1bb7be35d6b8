/* SPDX-License-Identifier: BSD-2-Clause */
/* The library beside a model of what has to follow each call; test_model.c says how it is used. */
#pragma once

#include <rdma/rai.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- A run ---- */

/* One sequence of steps, of which each is told by seed and number alone: what is left of it after others were taken out
 * does the same. */
struct run {
	uint64_t seed;
	unsigned steps;			/* numbered from 0 */
	const bool *out;		/* steps left out; NULL: none */
	bool verbose;
};

/* Where a run is, for whoever waits for it: in memory that both share. */
struct progress {
	unsigned step;
	bool failed;
	char why[400];
};

extern struct progress *progress;

/* Ends the run: what the model forbids has happened. */
_Noreturn void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define MODEL_EXPECT(condition, ...) do { if (!(condition)) model_fail(__VA_ARGS__); } while (0)

/* The same numbers for the same seed and step, everywhere. */
struct dice {
	uint64_t state;
};

struct dice dice_of(uint64_t seed, unsigned step);
unsigned dice_below(struct dice *dice, unsigned limit);

/* One thread, and what must follow is known exactly. */
void exact_run(const struct run *run);

/* Several threads, and what holds whatever they do. */
void threads_run(const struct run *run);

/* ---- The SA: what it answers is in the name that it is asked for ---- */

/*
 *   rec<N>     N records
 *   none       -ENOENT
 *   busy       -EBUSY
 *   never      no answer
 */
enum { MODEL_GIDS = 2 };		/* ports fe80::1 and fe80::2 */
unsigned model_sa_under_way(void);
