/* SPDX-License-Identifier: BSD-2-Clause */
/* What rai_get_stats() shows. */
#include "resolve/stats.h"

#include "test.h"

static struct rcm_stats stats;

static int set_up(void **state)
{
	(void)state;
	memset(&stats, 0, sizeof(stats));
	return 0;
}

static void count(enum rcm_count which, unsigned times)
{
	while (times--)
		rcm_stats_count(&stats, which);
}

static void count_ends(unsigned started, unsigned resolved, unsigned failed, unsigned cancelled)
{
	count(RCM_COUNT_STARTED, started);
	count(RCM_COUNT_RESOLVED, resolved);
	count(RCM_COUNT_FAILED, failed);
	count(RCM_COUNT_CANCELLED, cancelled);
}

static struct rai_stats shown(void)
{
	struct rai_stats s;

	rcm_stats_show(&stats, 12, &s);
	return s;
}

static void test_stats_each_count_is_shown_as_itself(void **state)
{
	struct rai_stats s;

	(void)state;
	count_ends(40, 1, 2, 3);
	count(RCM_COUNT_KEPT_HITS, 5);
	count(RCM_COUNT_SHARED, 6);
	count(RCM_COUNT_LOOKUPS, 7);
	count(RCM_COUNT_TIMEOUTS, 8);
	stats.in_flight = 9;
	stats.sa_queries = 10;
	stats.sa_retries = 11;
	s = shown();
	assert_int_equal(s.started, 40);
	assert_int_equal(s.resolved, 1);
	assert_int_equal(s.failed, 2);
	assert_int_equal(s.cancelled, 3);
	assert_int_equal(s.outstanding, 40 - 1 - 2 - 3);
	assert_int_equal(s.kept_hits, 5);
	assert_int_equal(s.shared, 6);
	assert_int_equal(s.lookups, 7);
	assert_int_equal(s.timeouts, 8);
	assert_int_equal(s.in_flight, 9);
	assert_int_equal(s.sa_queries, 10);
	assert_int_equal(s.sa_retries, 11);
	assert_int_equal(s.kept, 12);
}

/* Another thread's start may not be seen yet. */
static void test_stats_outstanding_is_never_below_none(void **state)
{
	(void)state;
	count_ends(1, 1, 1, 0);
	assert_int_equal(shown().outstanding, 0);
}

static void test_stats_in_a_child_count_what_does_not_rest_as_cancelled(void **state)
{
	static const struct { unsigned started, resolved, failed, cancelled, resting, then; } rows[] = {
		{ 10, 1, 2, 3, 0, 7 }, { 10, 1, 2, 3, 1, 6 }, { 10, 1, 2, 3, 4, 3 }, { 10, 1, 2, 3, 5, 3 }, { 0, 0, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		set_up(state);
		count_ends(rows[i].started, rows[i].resolved, rows[i].failed, rows[i].cancelled);
		stats.in_flight = 9;
		rcm_stats_rest(&stats, rows[i].resting);
		assert_int_equal(shown().cancelled, rows[i].then);
		assert_int_equal(shown().in_flight, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_stats_each_count_is_shown_as_itself, set_up),
		cmocka_unit_test_setup(test_stats_outstanding_is_never_below_none, set_up),
		cmocka_unit_test_setup(test_stats_in_a_child_count_what_does_not_rest_as_cancelled, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
