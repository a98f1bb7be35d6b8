/* SPDX-License-Identifier: BSD-2-Clause */
/* The hash of keys that others choose. */
#include "base/hash.h"

#include "base/random.h"
#include "base/siphash.h"
#include "test.h"

enum { CHANCE = 0x5a };
static unsigned fills;

void __wrap_rcm_random_fill(void *to, size_t len);

void __wrap_rcm_random_fill(void *to, size_t len)
{
	fills++;
	memset(to, CHANCE, len);
}

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

/* Of this process alone: nobody can choose keys that fall into one bucket. */
static void test_hash_is_siphash_with_a_key_of_chance(void **state)
{
	uint8_t key[16];

	(void)state;
	assert_int_equal(fills, 1);
	memset(key, CHANCE, sizeof(key));
	assert_int_equal(rcm_hash("abcdefghi", 9), (unsigned)rcm_siphash(key, 1, 3, "abcdefghi", 9));
	assert_int_equal(fills, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_of_keys_that_differ_anywhere_differs),
		cmocka_unit_test(test_hash_is_siphash_with_a_key_of_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
