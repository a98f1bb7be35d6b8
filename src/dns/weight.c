/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of SRV records. */
#include "dns/weight.h"

#include <stdlib.h>

#include "base/random.h"

struct rcm_dice rcm_dice_new(void)
{
	struct rcm_dice dice;

	rcm_random_fill(&dice.state, sizeof(dice.state));
	return dice;
}

/* SplitMix64. */
static uint32_t dice_next(struct rcm_dice *dice)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(z >> 32 ^ z);
}

uint32_t rcm_dice_roll(struct rcm_dice *dice, uint32_t most)
{
	uint64_t sides = (uint64_t)most + 1, whole = (UINT64_C(1) << 32) / sides * sides;
	uint32_t number;

	/* What is over would favour the low numbers. */
	do
		number = dice_next(dice);
	while (number >= whole);
	return (uint32_t)(number % sides);
}

static void weight_swap(struct rcm_weight *a, struct rcm_weight *b)
{
	struct rcm_weight c = *a;

	*a = *b;
	*b = c;
}

static int weight_compare(const void *a, const void *b)
{
	const struct rcm_weight *x = a, *y = b;

	return x->priority - y->priority;
}

/* "Any order, except that all those with weight 0 are placed at the beginning of the list." */
static void weight_arrange(struct rcm_weight *records, unsigned count, struct rcm_dice *dice)
{
	unsigned zeros = 0;

	for (unsigned i = count; i > 1; i--)
		weight_swap(&records[i - 1], &records[rcm_dice_roll(dice, i - 1)]);
	for (unsigned i = 0; i < count; i++)
		if (!records[i].weight)
			weight_swap(&records[i], &records[zeros++]);
}

/* Which of the arranged ones is the next: the first whose running sum isn't below a number from 0 to the sum of all. */
static unsigned weight_select(const struct rcm_weight *records, unsigned count, struct rcm_dice *dice)
{
	uint32_t sum = 0, number;
	unsigned selected = 0;

	for (unsigned i = 0; i < count; i++)
		sum += records[i].weight;
	number = rcm_dice_roll(dice, sum);
	sum = records[0].weight;
	while (sum < number)
		sum += records[++selected].weight;
	return selected;
}

/* Those of one priority. The others stay as they were arranged. */
static void weight_order_equals(struct rcm_weight *records, unsigned count, struct rcm_dice *dice)
{
	weight_arrange(records, count, dice);
	for (; count > 1; records++, count--) {
		struct rcm_weight *selected = records + weight_select(records, count, dice), next = *selected;

		for (; selected > records; selected--)
			*selected = selected[-1];
		*records = next;
	}
}

void rcm_weight_order(struct rcm_weight *records, unsigned count, struct rcm_dice *dice)
{
	unsigned first = 0, end;

	qsort(records, count, sizeof(*records), weight_compare);
	for (; first < count; first = end) {
		for (end = first + 1; end < count && records[end].priority == records[first].priority; end++)
			;
		weight_order_equals(records + first, end - first, dice);
	}
}
