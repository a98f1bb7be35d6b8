/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines for people, where the environment asks for them. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "logged.h"
#include "test.h"

/* "rai: error: " and so many characters fill a line. */
enum { LINE = 511, ROOM = LINE - 1 - 12 };

static char path[] = "/tmp/rai-log-XXXXXX";

static void log_each(void)
{
	rcm_error("one %d", 1);
	rcm_info("two");
	rcm_trace("three");
}

static void test_log_has_the_lines_of_the_level_and_of_those_above(void **state)
{
	static const struct { const char *level, *text; } rows[] = {
		{ NULL, "" }, { "", "" }, { "off", "" }, { "ERROR", "" }, { "errors", "" }, { "1", "" },
		{ "error", "rai: error: one 1\n" },
		{ "info", "rai: error: one 1\nrai: info: two\n" },
		{ "trace", "rai: error: one 1\nrai: info: two\nrai: trace: three\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(logged_by(log_each, rows[i].level, NULL), rows[i].text);
}

/* Whoever set it wrongly would wait for lines. */
static void test_log_whose_file_can_not_be_one_says_so_once_where_it_would_else_be(void **state)
{
	char file[300], line[400];

	(void)state;
	assert_string_equal(logged_by(log_each, "trace", "log"),
			    "rai: error: RAI_LOG_FILE log: neither an absolute path nor \"journal\"\n");
	assert_string_equal(logged_by(log_each, "error", "/no/such/log"),
			    "rai: error: RAI_LOG_FILE /no/such/log: No such file or directory\n");
	assert_string_equal(logged_by(log_each, NULL, "log"), "");
	memset(file, 'f', sizeof(file));
	file[sizeof(file) - 1] = '\0';
	snprintf(line, sizeof(line), "rai: error: RAI_LOG_FILE %.256s: neither an absolute path nor \"journal\"\n", file);
	assert_string_equal(logged_by(log_each, "error", file), line);
}

/* The program may change its environment. */
static void log_before_and_after_a_change(void)
{
	rcm_error("before");
	memset(getenv("RAI_LOG_FILE"), 'x', 5);
	setenv("RAI_LOG", "off", 1);
	rcm_error("after");
}

static void test_log_is_for_the_first_line_where_it_is_for_all(void **state)
{
	char text[1024] = "";
	int fd = mkstemp(path);

	(void)state;
	assert_string_equal(logged_by(log_before_and_after_a_change, "error", path), "");
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "rai: error: before\n"));
	assert_non_null(strstr(text, "rai: error: after\n"));
	close(fd);
	unlink(path);
}

static char long_text[1024];

static void log_long_text(void)
{
	rcm_error("%s", long_text);
}

static void test_log_line_that_is_too_long_is_cut_and_ends(void **state)
{
	static const int lens[] = { 0, 1, ROOM - 1, ROOM, ROOM + 1, ROOM + 2, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		int whole = lens[i] < ROOM ? lens[i] : ROOM;
		char line[1024];

		memset(long_text, 'x', sizeof(long_text));
		long_text[lens[i]] = '\0';
		snprintf(line, sizeof(line), "rai: error: %.*s\n", whole, long_text);
		assert_string_equal(logged_by(log_long_text, "error", NULL), line);
	}
}

static void test_log_line_is_one_whatever_is_told(void **state)
{
	(void)state;
	strcpy(long_text, "a\nrai: error: b\x01\x1f\x7f \t~\x80\xff");
	assert_string_equal(logged_by(log_long_text, "error", NULL), "rai: error: a?rai: error: b??? ?~\x80\xff\n");
}

static void log_and_look_at_errno(void)
{
	for (int i = 77; i < 79; i++) {
		errno = i;
		rcm_error("%d", i);
		if (errno != i)
			_exit(8);
	}
}

static void test_log_keeps_errno(void **state)
{
	(void)state;
	assert_string_equal(logged_by(log_and_look_at_errno, "error", "/no/such/log"),
			    "rai: error: RAI_LOG_FILE /no/such/log: No such file or directory\n");
	assert_string_equal(logged_by(log_and_look_at_errno, "error", NULL), "rai: error: 77\nrai: error: 78\n");
}

/* The first line is what reads the environment. */
static void log_when_cancelled(void)
{
	int before;

	pthread_cancel(pthread_self());
	rcm_error("one");
	rcm_error("two");
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	rcm_error(before == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
}

static void test_log_is_no_cancellation_point(void **state)
{
	(void)state;
	assert_string_equal(logged_by(log_when_cancelled, "error", NULL),
			    "rai: error: one\nrai: error: two\nrai: error: enabled\n");
	assert_string_equal(logged_by(log_when_cancelled, "error", "/no/such/log"),
			    "rai: error: RAI_LOG_FILE /no/such/log: No such file or directory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_has_the_lines_of_the_level_and_of_those_above),
		cmocka_unit_test(test_log_whose_file_can_not_be_one_says_so_once_where_it_would_else_be),
		cmocka_unit_test(test_log_is_for_the_first_line_where_it_is_for_all),
		cmocka_unit_test(test_log_line_that_is_too_long_is_cut_and_ends),
		cmocka_unit_test(test_log_line_is_one_whatever_is_told),
		cmocka_unit_test(test_log_keeps_errno),
		cmocka_unit_test(test_log_is_no_cancellation_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
