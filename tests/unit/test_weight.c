/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of SRV records: against RFC 2782 worked through number by number, and against chance. */
#include "dns/weight.h"

#include <stdbool.h>

#include "test.h"

enum { MOST = 4, ORDERS = 256, DRAWS = 240000 };

/* How likely each order is, by its digits in base 4. */
static double likely[ORDERS];

static unsigned order_code(const unsigned *order, unsigned count)
{
	unsigned code = 0;

	for (unsigned i = 0; i < count; i++)
		code = code * MOST + order[i];
	return code;
}

/* The steps of the RFC from an arrangement on: each number from 0 to the sum once. */
static void model_select(const uint16_t *weights, const unsigned *list, unsigned count, unsigned *order,
			 unsigned chosen, double chance)
{
	unsigned sum = 0, running, next[MOST];

	if (!count) {
		likely[order_code(order, chosen)] += chance;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		sum += weights[list[i]];
	for (unsigned number = 0; number <= sum; number++) {
		unsigned i = 0, n = 0;

		for (running = weights[list[0]]; running < number; running += weights[list[++i]])
			;
		for (unsigned j = 0; j < count; j++)
			if (j != i)
				next[n++] = list[j];
		order[chosen] = list[i];
		model_select(weights, next, n, order, chosen + 1, chance / (sum + 1));
	}
}

/* Each arrangement as likely as any other, those without weight in front. */
static void model_arrange(const uint16_t *weights, unsigned count, unsigned *list, unsigned done, double chance)
{
	unsigned order[MOST], arranged[MOST], n = 0;

	if (done < count) {
		for (unsigned i = 0; i < count; i++) {
			bool there = false;

			for (unsigned j = 0; j < done; j++)
				there |= list[j] == i;
			list[done] = i;
			if (!there)
				model_arrange(weights, count, list, done + 1, chance / (count - done));
		}
		return;
	}
	for (int zero = 1; zero >= 0; zero--)
		for (unsigned i = 0; i < count; i++)
			if ((weights[list[i]] == 0) == zero)
				arranged[n++] = list[i];
	model_select(weights, arranged, count, order, 0, chance);
}

static void compare(const uint16_t *weights, unsigned count)
{
	struct rcm_dice dice = { 1 };
	struct rcm_weight records[MOST];
	unsigned list[MOST], seen[ORDERS] = { 0 };
	double chi = 0, all = 0;
	int free_ones = -1;

	memset(likely, 0, sizeof(likely));
	model_arrange(weights, count, list, 0, 1);
	for (int n = 0; n < DRAWS; n++) {
		for (unsigned i = 0; i < count; i++)
			records[i] = (struct rcm_weight){ .priority = 7, .weight = weights[i], .index = i };
		rcm_weight_order(records, count, &dice);
		for (unsigned i = 0; i < count; i++)
			list[i] = records[i].index;
		seen[order_code(list, count)]++;
	}
	for (int i = 0; i < ORDERS; i++) {
		double expected = likely[i] * DRAWS;

		all += likely[i];
		if (likely[i] == 0) {
			assert_int_equal(seen[i], 0);
			continue;
		}
		free_ones++;
		chi += (seen[i] - expected) * (seen[i] - expected) / expected;
	}
	assert_true(all > 0.999999 && all < 1.000001);
	/* Six standard deviations; the seed is fixed. */
	free_ones = free_ones ? free_ones : 1;
	if (chi > free_ones && (chi - free_ones) * (chi - free_ones) > 72.0 * free_ones)
		fail_msg("chi square %.1f of %d", chi, free_ones);
}

static void test_weight_orders_are_as_likely_as_the_rfc_makes_them(void **state)
{
	static const uint16_t rows[][MOST] = {
		{ 1, 1, 1, 1 }, { 0, 0, 0, 0 }, { 0, 1, 2, 3 }, { 0, 0, 1, 9 }, { 4, 3, 2, 1 }, { 10, 0, 0, 0 }, { 6, 2, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned count = 1; count <= MOST; count++)
			compare(rows[i], count);
}

/* The shares of a large set are those of the weights. */
static void test_weight_first_of_many_is_in_proportion(void **state)
{
	struct rcm_dice dice = { 2 };
	struct rcm_weight records[3];
	unsigned first[3] = { 0 };

	(void)state;
	for (int n = 0; n < 100000; n++) {
		for (unsigned i = 0; i < 3; i++)
			records[i] = (struct rcm_weight){ .weight = (uint16_t)(10000 << i), .index = i };
		rcm_weight_order(records, 3, &dice);
		first[records[0].index]++;
	}
	assert_uint_in_range(first[0], 13900, 14700);
	assert_uint_in_range(first[1], 27900, 29300);
	assert_uint_in_range(first[2], 56200, 58100);
}

static void test_weight_priorities_go_before_weights(void **state)
{
	struct rcm_weight records[256];
	struct rcm_dice dice = { 3 };
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 0; i < 256; i++)
		records[i] = (struct rcm_weight){ (uint16_t)(65535 - i % 5), UINT16_MAX, i };
	rcm_weight_order(records, 256, &dice);
	for (unsigned i = 0; i < 256; i++) {
		assert_true(!i || records[i - 1].priority <= records[i].priority);
		sum += records[i].index;
	}
	assert_int_equal(sum, 255 * 256 / 2);
	rcm_weight_order(records, 0, &dice);
}

static void test_dice_reach_both_ends_and_no_further(void **state)
{
	struct rcm_dice dice = { 4 }, other = rcm_dice_new(), another = rcm_dice_new();
	unsigned seen[3] = { 0 };

	(void)state;
	for (int i = 0; i < 3000; i++)
		seen[rcm_dice_roll(&dice, 2)]++;
	for (int i = 0; i < 3; i++)
		assert_uint_in_range(seen[i], 850, 1150);
	assert_int_equal(rcm_dice_roll(&dice, 0), 0);
	rcm_dice_roll(&dice, UINT32_MAX);
	assert_true(other.state != another.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weight_orders_are_as_likely_as_the_rfc_makes_them),
		cmocka_unit_test(test_weight_first_of_many_is_in_proportion),
		cmocka_unit_test(test_weight_priorities_go_before_weights),
		cmocka_unit_test(test_dice_reach_both_ends_and_no_further),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
