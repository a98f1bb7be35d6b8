/* SPDX-License-Identifier: BSD-2-Clause */
/* How many questions ended how, and how long they took: a line that says how far it is, and a summary. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_LATENCIES_MAX = 1 << 24 };	/* further ones count, but not in the percentiles */

struct cli_tally {
	const char *what;	/* "name" */
	int64_t began_us, shown_us;
	uint64_t found, missing, silent, failed;
	double share;		/* of all, that has been asked; 0: nobody knows */
	uint32_t *latencies;	/* us */
	size_t count, room;
	bool shown;
};

void cli_tally_begin(struct cli_tally *tally, const char *what);
void cli_tally_done(struct cli_tally *tally);

/* status: 0 or -errno. */
void cli_tally_add(struct cli_tally *tally, int status, int64_t took_us);

/* How many there are. */
uint64_t cli_tally_all(const struct cli_tally *tally);

/* The line on stderr, where that is a terminal, ten times a second at most; and away with it. */
void cli_tally_show(struct cli_tally *tally);
void cli_tally_wipe(struct cli_tally *tally);

/* "5000 names in 1.9 s (2630/s): 4990 found, 7 not found, 3 timed out, 0 failed", and the percentiles. */
void cli_tally_print(struct cli_tally *tally, FILE *out);

/* Puts what they took in order. */
void cli_tally_sort(struct cli_tally *tally);

/* Of count values in order the one that share of them don't exceed. */
uint32_t cli_percentile(const uint32_t *values, size_t count, double share);
