/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an SA takes for an answer, as it was seen to and as it says. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rcm_pace {
	uint64_t seen;			/* ns; of late */
	uint64_t says;			/* ns; that it may take */
	bool asked;			/* what it says */
	uint64_t random;		/* the last number drawn */
};

void rcm_pace_init(struct rcm_pace *pace);

/* An answer took so long: more counts at once, less bit by bit. */
void rcm_pace_note(struct rcm_pace *pace, uint64_t took);

/* It says so: believed up to 4 s. */
void rcm_pace_said(struct rcm_pace *pace, uint64_t says);

/* It is another SA now. */
void rcm_pace_forget(struct rcm_pace *pace);

/* For jitter. */
uint64_t rcm_pace_random(struct rcm_pace *pace);
