/* SPDX-License-Identifier: BSD-2-Clause */
/* The hash of keys that others choose. */
#include "base/hash.h"

#include "test.h"

static void test_hash_of_keys_that_differ_anywhere_differs(void **state)
{
	static const char *const keys[] = { "", "a", "b", "aa", "host-1.example", "host-2.example", "Host-1.example" };
	enum { N = sizeof(keys) / sizeof(*keys) };

	(void)state;
	for (int i = 0; i < N; i++) {
		assert_int_equal(rcm_hash(keys[i], strlen(keys[i])), rcm_hash(keys[i], strlen(keys[i])));
		for (int j = 0; j < i; j++)
			assert_int_not_equal(rcm_hash(keys[i], strlen(keys[i])), rcm_hash(keys[j], strlen(keys[j])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_of_keys_that_differ_anywhere_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
