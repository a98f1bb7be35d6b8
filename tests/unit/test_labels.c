/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as labels: read, printed, and walked in messages. */
#include "dns/labels.h"

#include <string.h>

#include "test.h"

static void test_labels_of_name_are_made_or_none(void **state)
{
	static const char *const bad[] = { "", "a..b", "..", ".a", "a.b..",
		"0123456789012345678901234567890123456789012345678901234567890123.test" };
	char longest[300] = "";
	uint8_t labels[RCM_LABELS_MAX];

	(void)state;
	assert_int_equal(rcm_labels_read("a.test", labels), 8);
	assert_memory_equal(labels, "\1a\4test", 8);
	assert_int_equal(rcm_labels_read("a.test.", labels), 8);
	assert_int_equal(rcm_labels_read(".", labels), 1);
	assert_int_equal(labels[0], 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(rcm_labels_read(bad[i], labels), 0);
	for (int i = 0; i < 126; i++)
		strcat(longest, "a.");
	strcat(longest, "b");
	assert_int_equal(rcm_labels_read(longest, labels), 255);
	strcat(longest, "b");
	assert_int_equal(rcm_labels_read(longest, labels), 0);
}

/* In a message, behind what a pointer leads to. */
static void test_labels_in_message_are_walked_by_pointers_that_go_back(void **state)
{
	static const uint8_t bytes[] = "\4TEST\0\1a\xc0\0\xff\xc0\x0b";
	uint8_t labels[RCM_LABELS_MAX];
	char text[NS_MAXDNAME];

	(void)state;
	assert_int_equal(rcm_labels_skip(bytes, 12, 6), 10);
	assert_int_equal(rcm_labels_skip_known(bytes, 12, 6), 10);
	assert_true(rcm_labels_are(bytes, 12, 6, (const uint8_t *)"\1A\4test"));
	assert_false(rcm_labels_are(bytes, 12, 6, (const uint8_t *)"\1b\4test"));
	assert_true(rcm_labels_copy(bytes, 12, 6, labels));
	assert_memory_equal(labels, "\1a\4TEST", 8);
	rcm_labels_print(labels, text);
	assert_string_equal(text, "a.TEST");
	assert_int_equal(rcm_labels_skip(bytes, 13, 11), 0);
}

/* All ways to read a name say alike how long it may be, and where it ends. Nothing stands behind the message. */
static void test_labels_in_message_may_be_far_apart_and_of_255_octets_in_all(void **state)
{
	enum { FAR = 300, LEN = FAR + 2 };
	/* Three labels of 63 octets, and one of so many. */
	static const struct { uint8_t last; bool is_name; } rows[] = { { 61, true }, { 62, false } };
	uint8_t *bytes = malloc(LEN), labels[RCM_LABELS_MAX];

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t at = 6;

		memset(bytes, 'x', LEN);
		for (int j = 0; j < 3; j++, at += 64)
			bytes[at] = 63;
		bytes[at] = rows[i].last;
		bytes[at + 1 + rows[i].last] = 0;
		bytes[FAR] = 0xc0;
		bytes[FAR + 1] = 6;
		assert_int_equal(rcm_labels_skip(bytes, LEN, FAR), rows[i].is_name ? LEN : 0);
		assert_int_equal(rcm_labels_copy(bytes, LEN, FAR, labels), rows[i].is_name);
		if (rows[i].is_name)
			assert_int_equal(rcm_labels_size(labels), RCM_LABELS_MAX);
	}
	/* A pointer to behind the first 255 octets, and one that is cut in two. */
	memset(bytes, 0, LEN);
	memcpy(bytes + 290, "\1a\1b", 5);
	bytes[FAR] = 0xc0 | 290 >> 8;
	bytes[FAR + 1] = 290 & 0xff;
	assert_int_equal(rcm_labels_skip(bytes, LEN, FAR), LEN);
	assert_true(rcm_labels_copy(bytes, LEN, FAR, labels));
	assert_memory_equal(labels, "\1a\1b", 5);
	assert_true(rcm_labels_are(bytes, LEN, FAR, (const uint8_t *)"\1A\1b"));
	bytes[LEN - 1] = 0xc0;
	assert_int_equal(rcm_labels_skip(bytes, LEN, LEN - 1), 0);
	bytes[LEN - 1] = 1;
	assert_int_equal(rcm_labels_skip(bytes, LEN, LEN - 1), 0);
	assert_int_equal(rcm_labels_skip(bytes, LEN, LEN), 0);
	assert_int_equal(rcm_labels_skip_known(bytes, LEN, LEN), 0);
	free(bytes);
}

/* Also where letters are the same, octet for octet. */
static void test_labels_in_message_are_those_by_one_pointer_that_goes_back_and_no_other(void **state)
{
	static const uint8_t bytes[] = "\1a\4test\0\xc0\0\xc0\x0c\1a\4test\0\xc0\x08", a_test[] = "\1a\4test";

	(void)state;
	assert_int_equal(rcm_labels_size(a_test), 8);
	assert_true(rcm_labels_are(bytes, 22, 0, a_test));
	assert_true(rcm_labels_are(bytes, 22, 8, a_test));
	assert_true(rcm_labels_are(bytes, 22, 12, a_test));
	assert_true(rcm_labels_are(bytes, 22, 20, a_test));	/* by another */
	assert_false(rcm_labels_are(bytes, 22, 10, a_test));	/* forth */
	assert_false(rcm_labels_are(bytes, 7, 0, a_test));
	assert_false(rcm_labels_are(bytes, 9, 8, a_test));
	assert_false(rcm_labels_are(bytes, 22, 22, a_test));
}

static void test_labels_printed_have_a_backslash_before_what_is_special(void **state)
{
	char text[NS_MAXDNAME];

	(void)state;
	rcm_labels_print((const uint8_t *)"\4a.b;\1\\", text);
	assert_string_equal(text, "a\\.b\\;.\\\\");
	for (unsigned octet = 1; octet <= 0xff; octet++) {
		const uint8_t label[] = { 1, (uint8_t)octet, 0 };
		const bool special = octet <= ' ' || octet > '~' || strchr("\\.;\"()@$", (int)octet);

		rcm_labels_print(label, text);
		assert_int_equal(strlen(text), special ? 2 : 1);
		assert_int_equal((uint8_t)text[special], octet);
		assert_true(!special || *text == '\\');
	}
}

/* The longest name there is, of octets that take two characters each. */
static void test_labels_printed_fit_whatever_is_in_them(void **state)
{
	uint8_t labels[NS_MAXCDNAME];
	char text[NS_MAXDNAME];

	(void)state;
	memset(labels, '.', sizeof(labels));
	labels[0] = labels[64] = labels[128] = 63;
	labels[192] = 61;
	labels[254] = 0;
	rcm_labels_print(labels, text);
	assert_int_equal(strlen(text), 2 * (3 * 63 + 61) + 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_of_name_are_made_or_none),
		cmocka_unit_test(test_labels_in_message_are_walked_by_pointers_that_go_back),
		cmocka_unit_test(test_labels_in_message_may_be_far_apart_and_of_255_octets_in_all),
		cmocka_unit_test(test_labels_in_message_are_those_by_one_pointer_that_goes_back_and_no_other),
		cmocka_unit_test(test_labels_printed_have_a_backslash_before_what_is_special),
		cmocka_unit_test(test_labels_printed_fit_whatever_is_in_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
