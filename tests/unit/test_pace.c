/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an SA takes, as it was seen to and as it says. */
#include "sa/pace.h"

#include "base/clock.h"
#include "test.h"

static void test_pace_begins_with_nothing_known_and_a_chance_of_its_own(void **state)
{
	struct rcm_pace one, other;

	(void)state;
	memset(&one, 0xff, sizeof(one));
	rcm_pace_init(&one);
	rcm_pace_init(&other);
	assert_true(!one.seen && !one.says && !one.asked);
	assert_true(one.random & 1);
	assert_true(one.random != other.random);
}

/* What took longer counts at once, what took less by an eighth of the difference. */
static void test_pace_follows_a_slow_answer_at_once_and_fast_ones_by_and_by(void **state)
{
	static const struct { uint64_t took, seen; } notes[] = {
		{ 800, 800 }, { 1600, 1600 }, { 1600, 1600 }, { 800, 1500 }, { 1500, 1500 }, { 0, 1313 }, { 1314, 1314 },
	};
	struct rcm_pace pace = { 0 };

	(void)state;
	for (unsigned i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		rcm_pace_note(&pace, notes[i].took);
		assert_int_equal(pace.seen, notes[i].seen);
	}
}

static void test_pace_believes_an_sa_up_to_4_s_until_it_is_another(void **state)
{
	struct rcm_pace pace = { .asked = true, .seen = 1, .random = 5 };

	(void)state;
	rcm_pace_said(&pace, 4 * RCM_NS_PER_S - 1);
	assert_true(pace.says == 4 * RCM_NS_PER_S - 1);
	rcm_pace_said(&pace, 4 * RCM_NS_PER_S + 1);
	assert_true(pace.says == 4 * RCM_NS_PER_S);
	rcm_pace_forget(&pace);
	assert_true(!pace.seen && !pace.says && !pace.asked);
	assert_int_equal(pace.random, 5);
}

/* The first numbers of xorshift64 with 13, 7 and 17 from 1, by hand. */
static void test_pace_draws_a_number_that_no_step_before_had(void **state)
{
	struct rcm_pace pace = { .random = 1 };

	(void)state;
	assert_true(rcm_pace_random(&pace) == UINT64_C(0x40822041));
	assert_true(rcm_pace_random(&pace) == UINT64_C(0x100041060c011441));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pace_begins_with_nothing_known_and_a_chance_of_its_own),
		cmocka_unit_test(test_pace_follows_a_slow_answer_at_once_and_fast_ones_by_and_by),
		cmocka_unit_test(test_pace_believes_an_sa_up_to_4_s_until_it_is_another),
		cmocka_unit_test(test_pace_draws_a_number_that_no_step_before_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
