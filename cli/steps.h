/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of a resolution as rai_watch_steps(3) tells them, taken down to be drawn as a tree. */
#pragma once

#include <jansson.h>
#include <rdma/rai.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_STEPS_MAX = 4096 };	/* further ones are counted alone */

struct cli_steps;

/* Watches from now on, once in a process. NULL and errno where it can't. */
struct cli_steps *cli_steps_watch(void);

/* Nobody is told any more. */
void cli_steps_end(void);

/* The tree without its root and its last branch, times from the beginning; width as cli_print_wrapped() has it. */
void cli_steps_print(struct cli_steps *steps, FILE *out, int width);

/* An array; each has time_us, kind and text, and server, ttl_s and kept_s where it has them; empty of NULL. */
json_t *cli_steps_json(struct cli_steps *steps);

/* Gives object the members ttl_s and kept_s, null where there was none, and servers, an array of those that were asked
 * in this order: how often, how many answers had records, the errno of the last that had none, and the records' TTL.
 * NULL: nothing was asked. */
void cli_steps_sum(struct cli_steps *steps, json_t *object);

/* A branch of the tree: depth 0 or 1; last: none follows at its depth, under: the same of the one that it is below. */
void cli_branch_print(FILE *out, int width, unsigned depth, bool under_last, bool last, const char *text);
