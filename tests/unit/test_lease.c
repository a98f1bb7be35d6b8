/* SPDX-License-Identifier: BSD-2-Clause */
/* When leases are renewed, and what failed is tried again. */
#include "publish/lease.h"

#include "base/clock.h"
#include "test.h"

static void test_lease_is_renewed_within_the_last_tenth_of_its_third(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (uint64_t chance = 0; chance < 1000000; chance++) {
		uint64_t at = rcm_lease_renewal(120, chance * 7919 * 1000);

		least = at < least ? at : least;
		most = at > most ? at : most;
	}
	assert_int_equal(most, 40 * RCM_NS_PER_S);
	assert_true(least >= 36 * RCM_NS_PER_S);
	assert_true(least < 37 * RCM_NS_PER_S);
}

static void test_lease_of_a_second_is_renewed_in_time(void **state)
{
	(void)state;
	assert_true(rcm_lease_renewal(1, UINT64_MAX) >= 300 * RCM_NS_PER_MS);
	assert_true(rcm_lease_renewal(1, 0) <= 334 * RCM_NS_PER_MS);
}

static void test_lease_patience_is_a_third_from_a_second_to_the_usual_deadline(void **state)
{
	(void)state;
	assert_int_equal(rcm_lease_patience(1), RCM_NS_PER_S);
	assert_int_equal(rcm_lease_patience(6), 2 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_patience(120), 4 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_patience(86400), 4 * RCM_NS_PER_S);
}

static void test_lease_pause_doubles_up_to_a_third(void **state)
{
	(void)state;
	assert_int_equal(rcm_lease_pause(120, 0, 0), RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(120, 1, 0), RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(120, 2, 0), 2 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(120, 6, 0), 32 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(120, 7, 0), 40 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(120, UINT32_MAX, 0), 40 * RCM_NS_PER_S);
	assert_int_equal(rcm_lease_pause(86400, UINT32_MAX, 0), 28800 * RCM_NS_PER_S);
}

static void test_lease_pause_of_a_short_lease_leaves_time_for_several(void **state)
{
	(void)state;
	assert_int_equal(rcm_lease_pause(3, 1, 0), 250 * RCM_NS_PER_MS);
	assert_int_equal(rcm_lease_pause(3, 2, 0), 500 * RCM_NS_PER_MS);
	assert_int_equal(rcm_lease_pause(3, 9, 0), RCM_NS_PER_S);
}

static void test_lease_pause_leaves_out_a_quarter_at_most(void **state)
{
	(void)state;
	for (uint64_t chance = 0; chance < 100000; chance++)
		assert_uint_in_range(rcm_lease_pause(120, 1, chance * 104729 * 1000), 750 * RCM_NS_PER_MS, RCM_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lease_is_renewed_within_the_last_tenth_of_its_third),
		cmocka_unit_test(test_lease_of_a_second_is_renewed_in_time),
		cmocka_unit_test(test_lease_patience_is_a_third_from_a_second_to_the_usual_deadline),
		cmocka_unit_test(test_lease_pause_doubles_up_to_a_third),
		cmocka_unit_test(test_lease_pause_of_a_short_lease_leaves_time_for_several),
		cmocka_unit_test(test_lease_pause_leaves_out_a_quarter_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
