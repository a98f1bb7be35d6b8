/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash against its authors' numbers. */
#include "base/siphash.h"

#include "test.h"

/* SipHash-2-4 of the octets 0, 1, 2 and so on, as many as the row says, with the key 0 to 15. */
static const uint64_t vectors[] = {
	0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7,
	0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0,
	0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
	0xa129ca6149be45e5,
};

static void test_siphash_is_that_of_its_authors(void **state)
{
	uint8_t octets[sizeof(vectors) / sizeof(*vectors)];

	(void)state;
	for (uint8_t i = 0; i < sizeof(octets); i++)
		octets[i] = i;
	for (size_t len = 0; len < sizeof(octets); len++)
		assert_true(rcm_siphash(octets, 2, 4, octets, len) == vectors[len]);
}

static void test_siphash_of_other_rounds_is_another(void **state)
{
	static const uint8_t key[16];

	(void)state;
	for (unsigned word = 1; word < 3; word++)
		for (unsigned end = 2; end < 5; end++) {
			assert_true(rcm_siphash(key, word, end, "abcdefgh", 8) != rcm_siphash(key, word + 1, end, "abcdefgh", 8));
			assert_true(rcm_siphash(key, word, end, "abcdefgh", 8) != rcm_siphash(key, word, end + 1, "abcdefgh", 8));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash_is_that_of_its_authors),
		cmocka_unit_test(test_siphash_of_other_rounds_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
