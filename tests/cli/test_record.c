/* SPDX-License-Identifier: BSD-2-Clause */
/* Service records in words: columns that fit, names that are cut or tamed, and JSON that has all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "record.h"

static struct cli_record record_of(const char *name)
{
	struct cli_record record = {
		.record = { .id = 0x10, .gid = { 0xfe, 0x80, [15] = 5 }, .pkey = 0xffff, .lease_s = 120, .data = { 1, 2 } },
	};

	snprintf(record.record.name, sizeof(record.record.name), "%s", name);
	return record;
}

static char *line_of(const struct cli_record *record, int screen, int taken)
{
	struct cli_record_widths widths;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cli_record_widths(record, 1, screen, taken, &widths);
	cli_record_print(out, &widths, &record->record);
	fclose(out);
	return text;
}

static void assert_line(const struct cli_record *record, int screen, int taken, const char *line)
{
	char *text = line_of(record, screen, taken);

	assert_string_equal(text, line);
	free(text);
}

static void test_record_without_a_screen_is_whole(void **state)
{
	struct cli_record record = record_of("storage");

	(void)state;
	assert_line(&record, 0, 0, "storage  0x0000000000000010  fe80::5  0xffff  120 s  0102");
}

static void test_record_that_does_not_fit_loses_its_data_then_the_end_of_its_name(void **state)
{
	struct cli_record record = record_of("a-name-of-25-characters-x");

	(void)state;
	assert_line(&record, 80, 0, "a-name-of-25-characters-x  0x0000000000000010  fe80::5  0xffff  120 s  0102");
	assert_line(&record, 74, 0, "a-name-of-25-characters-x  0x0000000000000010  fe80::5  0xffff  120 s");
	assert_line(&record, 60, 0, "a-name-of-25-...  0x0000000000000010  fe80::5  0xffff  120 s");
	assert_line(&record, 80, 20, "a-name-of-25-...  0x0000000000000010  fe80::5  0xffff  120 s");
	assert_line(&record, 20, 0, "a-nam...  0x0000000000000010  fe80::5  0xffff  120 s");
}

/* Two bytes a letter. */
static void test_record_name_in_utf8_is_as_wide_as_its_letters(void **state)
{
	struct cli_record record = record_of("äöüäöüäöüäöü");

	(void)state;
	assert_line(&record, 54, 0, "äöüäöüä...  0x0000000000000010  fe80::5  0xffff  120 s");
	assert_line(&record, 61, 0, "äöüäöüäöüäöü  0x0000000000000010  fe80::5  0xffff  120 s");
}

static void test_record_name_that_is_no_text_is_tamed_and_whole_in_json(void **state)
{
	struct cli_record record = record_of("\033[2J\xff");
	char buf[CLI_RECORD_WORDS];
	const char *hex;
	json_t *json;

	(void)state;
	assert_string_equal(cli_record_name(&record.record, buf), "?[2J?");
	json = cli_record_json(&record.record, NULL);
	assert_true(json_is_null(json_object_get(json, "name")));
	assert_int_equal(json_unpack(json, "{s:s}", "name_hex", &hex), 0);
	assert_string_equal(hex, "1b5b324aff");
	json_decref(json);
}

static void test_record_without_name_pkey_end_or_data_has_dashes_and_words(void **state)
{
	struct cli_record record = record_of("");

	(void)state;
	record.record.pkey = 0;
	record.record.lease_s = UINT32_MAX;
	memset(record.record.data, 0, sizeof(record.record.data));
	assert_line(&record, 0, 0, "-     0x0000000000000010  fe80::5  -       for ever  -");
}

static void test_json_of_a_record_has_64_bits_and_all_data(void **state)
{
	struct cli_record record = record_of("storage");
	const char *name, *id, *gid, *data, *port;
	int pkey, lease;
	json_t *json;

	(void)state;
	record.record.id = 0xffffffffffffff01;
	json = cli_record_json(&record.record, "a/1");
	assert_int_equal(json_unpack(json, "{s:s, s:s, s:s, s:i, s:i, s:s, s:s}", "name", &name, "service_id", &id, "gid",
				     &gid, "pkey", &pkey, "lease_s", &lease, "data", &data, "port", &port), 0);
	assert_string_equal(name, "storage");
	assert_string_equal(id, "0xffffffffffffff01");
	assert_string_equal(gid, "fe80::5");
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(lease, 120);
	assert_int_equal(strlen(data), 128);
	assert_memory_equal(data, "010200", 6);
	assert_string_equal(port, "a/1");
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_without_a_screen_is_whole),
		cmocka_unit_test(test_record_that_does_not_fit_loses_its_data_then_the_end_of_its_name),
		cmocka_unit_test(test_record_name_in_utf8_is_as_wide_as_its_letters),
		cmocka_unit_test(test_record_name_that_is_no_text_is_tamed_and_whole_in_json),
		cmocka_unit_test(test_record_without_name_pkey_end_or_data_has_dashes_and_words),
		cmocka_unit_test(test_json_of_a_record_has_64_bits_and_all_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
