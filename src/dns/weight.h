/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the targets of SRV records are tried (RFC 2782, "Priority" and "Weight"). Pure, but for the seed. */
#pragma once

#include <stdint.h>

/* Numbers for one order. Nobody gains by guessing them. */
struct rcm_dice {
	uint64_t state;
};

/* By chance. */
struct rcm_dice rcm_dice_new(void);

/* A number from 0 to most, each as likely as any other. */
uint32_t rcm_dice_roll(struct rcm_dice *dice, uint32_t most);

struct rcm_weight {
	uint16_t priority, weight;
	unsigned index;			/* which record it is; the caller's */
};

/*
 * Puts records in the order in which they are to be tried: the least priority first; those of one priority by chance,
 * in proportion to their weights, by the steps of RFC 2782. "Any order" in these is one of chance, too, so that records
 * without weights share what comes.
 */
void rcm_weight_order(struct rcm_weight *records, unsigned count, struct rcm_dice *dice);
