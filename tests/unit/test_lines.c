/* SPDX-License-Identifier: BSD-2-Clause */
/* Files read line by line. */
#include "dns/lines.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/tell.h"
#include "fake_malloc.h"
#include "test.h"

/* Where files may be large, the C library has it under another name. */
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
static int open_errno;

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	errno = open_errno;
	return open_errno ? NULL : __real_fopen64(path, mode);
}

static int join(char *line, void *arg)
{
	if (!strcmp(line, "stop"))
		return -ECANCELED;
	strcat(strcat(arg, "|"), line);
	return 0;
}

static void write_file(char path[], const char *text)
{
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_lines_are_given_one_by_one_until_one_says_no(void **state)
{
	char path[] = "/tmp/rai-lines-XXXXXX", text[64] = "";

	(void)state;
	write_file(path, "a\n\nb c");
	assert_int_equal(rcm_lines_each(path, join, text), 0);
	assert_string_equal(text, "|a||b c");
	unlink(path);
	strcpy(path, "/tmp/rai-lines-XXXXXX");
	write_file(path, "a\nstop\nb\n");
	text[0] = '\0';
	assert_int_equal(rcm_lines_each(path, join, text), -ECANCELED);
	assert_string_equal(text, "|a");
	unlink(path);
}

static void test_lines_of_what_is_no_file_are_none(void **state)
{
	char text[64] = "";

	(void)state;
	assert_int_equal(rcm_lines_each("/tmp/rai-there-is-no-such-file", join, text), 0);
	assert_int_equal(rcm_lines_each("/tmp", join, text), 0);
	assert_string_equal(text, "");
}

/* One that is there for nobody counts as missing, as to glibc; what may be over in a moment is no reason to forget it. */
static void test_lines_of_a_file_that_can_not_be_opened_are_none_or_an_error(void **state)
{
	static const struct { int error, ret; } all[] = {
		{ ENOENT, 0 }, { EACCES, 0 }, { ENOTDIR, 0 }, { ELOOP, 0 },
		{ EMFILE, -EMFILE }, { ENFILE, -ENFILE }, { ENOMEM, -ENOMEM },
	};
	char text[64] = "";

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		open_errno = all[i].error;
		assert_int_equal(rcm_lines_each("/etc/passwd", join, text), all[i].ret);
	}
	open_errno = 0;
	assert_string_equal(text, "");
}

/* C8: what could not be read is no end of the file. */
static void take_step(const void *watcher, const struct rcm_tell_step *step)
{
	snprintf(*(char (*)[128])(uintptr_t)watcher, 128, "%s", step->text);
}

/* Else nobody knows why a name of the hosts file isn't found. */
static void test_lines_of_a_file_that_may_not_be_read_are_none_and_it_is_told(void **state)
{
	char told[128] = "", text[64] = "";

	(void)state;
	assert_int_equal(rcm_tell_watch(take_step, told), 0);
	open_errno = ENOENT;
	assert_int_equal(rcm_lines_each("/etc/passwd", join, text), 0);
	assert_string_equal(told, "");
	open_errno = EACCES;
	assert_int_equal(rcm_lines_each("/etc/passwd", join, text), 0);
	open_errno = 0;
	rcm_tell_watch(take_step, NULL);
	assert_string_equal(text, "");
	assert_string_equal(told, "/etc/passwd can't be read, and counts as empty: Permission denied");
}

static void test_lines_that_can_not_be_read_for_now_are_an_error(void **state)
{
	struct rlimit before, none;
	char text[64] = "";

	(void)state;
	/* Memory of another process: reading it fails with EIO. */
	assert_int_equal(rcm_lines_each("/proc/self/mem", join, text), -EIO);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_lines_each("/etc/passwd", join, text), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_lines_without_memory_are_an_error(void **state)
{
	char text[64] = "";

	(void)state;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_lines_each("/etc/passwd", join, text), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_string_equal(text, "");
}

static void test_lines_of_a_file_without_an_end_are_too_many(void **state)
{
	char path[] = "/tmp/rai-lines-XXXXXX", text[64] = "";

	(void)state;
	assert_int_equal(rcm_lines_each("/dev/zero", join, text), -EFBIG);
	write_file(path, "a\nb\n");
	assert_int_equal(rcm_lines_within(path, 3, join, text), -EFBIG);
	assert_string_equal(text, "");
	assert_int_equal(rcm_lines_within(path, 4, join, text), 0);
	assert_string_equal(text, "|a|b");
	unlink(path);
}

static int count(char *line, void *arg)
{
	*(size_t *)arg += strlen(line) + 1;
	return 0;
}

static void test_lines_of_a_configuration_file_are_read_up_to_its_limit(void **state)
{
	static char text[RCM_CONF_BYTES_MAX + 2];
	char path[] = "/tmp/rai-lines-XXXXXX";
	size_t bytes = 0;

	(void)state;
	memset(text, '\n', RCM_CONF_BYTES_MAX);
	write_file(path, text);
	assert_int_equal(rcm_lines_each(path, count, &bytes), 0);
	assert_int_equal(bytes, RCM_CONF_BYTES_MAX);
	unlink(path);
	strcpy(path, "/tmp/rai-lines-XXXXXX");
	text[RCM_CONF_BYTES_MAX] = '\n';
	write_file(path, text);
	assert_int_equal(rcm_lines_each(path, count, &bytes), -EFBIG);
	assert_int_equal(bytes, RCM_CONF_BYTES_MAX);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_given_one_by_one_until_one_says_no),
		cmocka_unit_test(test_lines_of_what_is_no_file_are_none),
		cmocka_unit_test(test_lines_of_a_file_that_can_not_be_opened_are_none_or_an_error),
		cmocka_unit_test(test_lines_of_a_file_that_may_not_be_read_are_none_and_it_is_told),
		cmocka_unit_test(test_lines_that_can_not_be_read_for_now_are_an_error),
		cmocka_unit_test(test_lines_without_memory_are_an_error),
		cmocka_unit_test(test_lines_of_a_file_without_an_end_are_too_many),
		cmocka_unit_test(test_lines_of_a_configuration_file_are_read_up_to_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
