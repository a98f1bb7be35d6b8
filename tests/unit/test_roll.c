/* SPDX-License-Identifier: BSD-2-Clause */
/* All channels of the process, and those that were destroyed lately. */
#include "cm/roll.h"

#include "base/limits.h"
#include "test.h"

static unsigned visited;

static void visit(struct rcm_roll_entry *entry)
{
	(void)entry;
	visited++;
}

static unsigned visits(void)
{
	visited = 0;
	rcm_roll_visit(visit);
	return visited;
}

/* Each as long as the next RCM_RETIRED_MAX. */
static void test_roll_keeps_the_retired_for_a_while(void **state)
{
	enum { ENTRIES = 3 * RCM_RETIRED_MAX };
	static struct rcm_roll_entry entries[ENTRIES];
	struct rcm_roll_entry *oldest;

	(void)state;
	for (unsigned i = 0; i < ENTRIES; i++)
		rcm_roll_add(&entries[i]);
	assert_int_equal(visits(), ENTRIES);
	for (unsigned i = 0; i < ENTRIES; i++) {
		oldest = &entries[i];
		rcm_roll_retire(&entries[i], &oldest);
		assert_ptr_equal(oldest, i < RCM_RETIRED_MAX ? NULL : &entries[i - RCM_RETIRED_MAX]);
		assert_int_equal(visits(), ENTRIES - i - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roll_keeps_the_retired_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
