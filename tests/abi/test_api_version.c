/* SPDX-License-Identifier: BSD-2-Clause */
/* The version at build time and at run time. */
#include "api.h"

#include <dlfcn.h>
#include <stdio.h>

static void test_version_of_the_library_is_the_header_s(void **state)
{
	(void)state;
	assert_string_equal(rai_version(), RAI_VERSION);
	assert_true(strverscmp(rai_version(), "0.1.0") > 0);
}

static void test_version_number_has_a_byte_for_each_part_of_the_text(void **state)
{
	unsigned int major, minor, patch;
	char rest;

	(void)state;
	assert_int_equal(sscanf(RAI_VERSION, "%u.%u.%u%c", &major, &minor, &patch, &rest), 3);
	assert_int_equal(RAI_VERSION_NUMBER, major << 16 | minor << 8 | patch);
}

/* How a program that runs on either library finds out: rai-porting(7). */
static void test_version_function_is_found_by_dlsym(void **state)
{
	const char *(*version)(void);

	(void)state;
	version = (const char *(*)(void))dlsym(RTLD_DEFAULT, "rai_version");
	assert_non_null(version);
	assert_string_equal(version(), RAI_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_of_the_library_is_the_header_s),
		cmocka_unit_test(test_version_number_has_a_byte_for_each_part_of_the_text),
		cmocka_unit_test(test_version_function_is_found_by_dlsym),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
