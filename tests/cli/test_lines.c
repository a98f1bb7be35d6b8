/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines as they come, and how many took how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "tally.h"

static struct cli_lines lines;
static int ends[2];

static int open_pipe(void **state)
{
	char path[32];

	(void)state;
	if (pipe(ends) < 0)
		return -1;
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	return cli_lines_open(&lines, path);
}

static int close_pipe(void **state)
{
	(void)state;
	cli_lines_close(&lines);
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return 0;
}

static void come(const char *text)
{
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
}

static void no_more(void)
{
	close(ends[1]);
	ends[1] = -1;
}

static void next_is(const char *want, unsigned number)
{
	char *line = NULL;

	assert_int_equal(cli_lines_next(&lines, &line), 1);
	assert_string_equal(line, want);
	assert_int_equal(lines.number, number);
}

static void test_lines_in_pieces_are_given_when_they_end(void **state)
{
	char *line;

	(void)state;
	assert_int_equal(cli_lines_next(&lines, &line), 0);
	come("one\ntw");
	next_is("one", 1);
	assert_int_equal(cli_lines_next(&lines, &line), 0);
	come("o\n\nlast");
	next_is("two", 2);
	next_is("", 3);
	assert_int_equal(cli_lines_next(&lines, &line), 0);
	no_more();
	next_is("last", 4);
	assert_int_equal(cli_lines_next(&lines, &line), -EPIPE);
	assert_int_equal(cli_lines_next(&lines, &line), -EPIPE);
}

static void test_line_too_long_is_gone_by_once(void **state)
{
	char text[3 * CLI_LINE_MAX], *line;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	come(text);
	assert_int_equal(cli_lines_next(&lines, &line), -EMSGSIZE);
	come(text);
	come("\nnext\n");
	no_more();
	next_is("next", 2);
	assert_int_equal(cli_lines_next(&lines, &line), -EPIPE);
}

static void test_line_with_a_nul_is_gone_by(void **state)
{
	static const char text[] = "one\0two\nnext\n";
	char *line;

	(void)state;
	assert_int_equal(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(cli_lines_next(&lines, &line), -EILSEQ);
	next_is("next", 2);
}

static void test_line_of_the_longest_length_is_taken(void **state)
{
	char text[CLI_LINE_MAX + 2];

	(void)state;
	memset(text, 'x', CLI_LINE_MAX);
	strcpy(text + CLI_LINE_MAX, "\n");
	come(text);
	text[CLI_LINE_MAX] = 0;
	next_is(text, 1);
}

static void test_many_lines_are_all_given(void **state)
{
	char *line, want[16];
	unsigned given = 0;

	(void)state;
	for (unsigned i = 0; i < 50000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u\n", i);
		come(text);
		if (i % 5000 != 4999)
			continue;
		while (cli_lines_next(&lines, &line) == 1) {
			snprintf(want, sizeof(want), "%u", given++);
			assert_string_equal(line, want);
		}
	}
	assert_int_equal(given, 50000);
}

static void test_percentile_is_the_value_that_so_many_do_not_exceed(void **state)
{
	const uint32_t values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

	(void)state;
	assert_int_equal(cli_percentile(values, 0, 0.5), 0);
	assert_int_equal(cli_percentile(values, 1, 0.99), 1);
	assert_int_equal(cli_percentile(values, 10, 0.5), 5);
	assert_int_equal(cli_percentile(values, 10, 0.9), 9);
	assert_int_equal(cli_percentile(values, 10, 0.99), 10);
	assert_int_equal(cli_percentile(values, 10, 0), 1);
}

static void test_tally_counts_by_status_and_sorts_what_it_took(void **state)
{
	struct cli_tally tally;
	char *said = NULL;
	size_t size;
	FILE *out;

	(void)state;
	cli_tally_begin(&tally, "name");
	for (int i = 2000; i > 0; i--)
		cli_tally_add(&tally, i % 2 ? 0 : -ENOENT, i * 1000);
	cli_tally_add(&tally, -ENODATA, 1);
	cli_tally_add(&tally, -ETIMEDOUT, 1);
	cli_tally_add(&tally, -EIO, 5000000000);
	out = open_memstream(&said, &size);
	cli_tally_print(&tally, out);
	fclose(out);
	assert_non_null(strstr(said, "2003 names in "));
	assert_non_null(strstr(said, ": 1000 found, 1001 not found, 1 timed out, 1 failed\n"));
	assert_non_null(strstr(said, "50 % 1000.000, 90 % 1801.000, 99 % 1981.000, longest 4294967.295\n"));
	free(said);
	cli_tally_done(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_in_pieces_are_given_when_they_end, open_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(test_line_too_long_is_gone_by_once, open_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(test_line_with_a_nul_is_gone_by, open_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(test_line_of_the_longest_length_is_taken, open_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(test_many_lines_are_all_given, open_pipe, close_pipe),
		cmocka_unit_test(test_percentile_is_the_value_that_so_many_do_not_exceed),
		cmocka_unit_test(test_tally_counts_by_status_and_sorts_what_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
