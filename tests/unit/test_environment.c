/* SPDX-License-Identifier: BSD-2-Clause */
/* The copy of what the environment says of names. */
#include "dns/environment.h"

#include <errno.h>
#include <stdlib.h>

#include "test.h"

static unsigned copies, failing;			/* the copy that fails; 0: none does */

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
	return ++copies == failing ? NULL : __real_strdup(text);
}

static void set(const char *domains, const char *options, const char *aliases)
{
	const char *const names[] = { "LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES" };
	const char *const values[] = { domains, options, aliases };

	for (int i = 0; i < 3; i++) {
		if (values[i])
			setenv(names[i], values[i], 1);
		else
			unsetenv(names[i]);
	}
}

static void test_environment_is_as_it_was_when_it_was_taken(void **state)
{
	const struct rcm_environment *environment = rcm_environment_get();

	(void)state;
	assert_null(environment->domains);
	assert_null(environment->options);
	assert_false(environment->aliases);
	set("a.example b.example", "ndots:2", "");
	assert_null(environment->domains);
	assert_int_equal(rcm_environment_take(), 0);
	assert_ptr_equal(rcm_environment_get(), environment);
	assert_string_equal(environment->domains, "a.example b.example");
	assert_string_equal(environment->options, "ndots:2");
	assert_true(environment->aliases);
	set("c.example", NULL, NULL);
	assert_string_equal(environment->domains, "a.example b.example");
	assert_int_equal(rcm_environment_take(), 0);
	assert_string_equal(environment->domains, "c.example");
	assert_null(environment->options);
	assert_false(environment->aliases);
}

static void test_environment_that_there_is_no_memory_for_is_what_it_was(void **state)
{
	(void)state;
	set("a.example", "ndots:2", NULL);
	assert_int_equal(rcm_environment_take(), 0);
	set("b.example", "ndots:3", "/aliases");
	for (failing = 1; failing <= 2; failing++) {
		copies = 0;
		assert_int_equal(rcm_environment_take(), -ENOMEM);
		assert_string_equal(rcm_environment_get()->domains, "a.example");
		assert_string_equal(rcm_environment_get()->options, "ndots:2");
		assert_false(rcm_environment_get()->aliases);
	}
	failing = 0;
	set(NULL, NULL, NULL);
	assert_int_equal(rcm_environment_take(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment_is_as_it_was_when_it_was_taken),
		cmocka_unit_test(test_environment_that_there_is_no_memory_for_is_what_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
