/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading /sys, in a directory that stands for it. */
#include "base/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_sysfs.h"
#include "test.h"

static const char *root;

static int setup(void **state)
{
	(void)state;
	root = rcm_fake_sysfs_new();
	rcm_sysfs_replace(root);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	return 0;
}

static void test_sysfs_line_is_the_first_without_its_end(void **state)
{
	char line[16];

	(void)state;
	rcm_fake_sysfs_add("class/a/7", "one\ntwo");
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "class/%s/%d", "a", 7), 0);
	assert_string_equal(line, "one");
	rcm_fake_sysfs_add("long", "0123456789abcdefgh");
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "long"), 0);
	assert_string_equal(line, "0123456789abcde");
}

static void test_sysfs_line_of_what_cannot_be_read_is_an_error(void **state)
{
	char line[16], name[600];

	(void)state;
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "nothing"), -ENOENT);
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "."), -EISDIR);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "%s", name), -ENAMETOOLONG);
	assert_false(rcm_sysfs_has("%s", name));
	/* With the folder's name it has room for 511. */
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 2 ? '/' : 'x';
	name[511 - strlen(root) - 1] = '\0';
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "%s", name), -ENOENT);
	name[511 - strlen(root) - 1] = 'x';
	name[511 - strlen(root)] = '\0';
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "%s", name), -ENAMETOOLONG);
}

static void test_sysfs_line_of_an_empty_file_is_empty(void **state)
{
	char line[16] = "x", path[256];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/empty", root);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	errno = EIO;
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "empty"), 0);
	assert_string_equal(line, "");
}

static void test_sysfs_has_what_is_there(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("here", "");
	assert_true(rcm_sysfs_has("here"));
	assert_false(rcm_sysfs_has("not here"));
}

static int count_until_three(const char *name, void *arg)
{
	unsigned *count = arg;

	assert_true(name[0] == 'e' && name[1] >= '1' && name[1] <= '4' && !name[2]);
	return ++*count == 3 ? 42 : 0;
}

static void test_sysfs_each_entry_is_told_until_enough(void **state)
{
	unsigned count = 0;

	(void)state;
	assert_int_equal(rcm_sysfs_each(count_until_three, &count, "class"), 0);
	rcm_fake_sysfs_add("class/e1", NULL);
	rcm_fake_sysfs_add("class/e2", NULL);
	assert_int_equal(rcm_sysfs_each(count_until_three, &count, "class"), 0);
	assert_int_equal(count, 2);
	rcm_fake_sysfs_add("class/e3", NULL);
	rcm_fake_sysfs_add("class/e4", "");
	count = 0;
	assert_int_equal(rcm_sysfs_each(count_until_three, &count, "class"), 42);
	assert_int_equal(count, 3);
	assert_int_equal(rcm_sysfs_each(count_until_three, &count, "class/e4"), -ENOTDIR);
}

/* Zero, too, is the number of a descriptor. */
static void test_sysfs_reads_leave_no_descriptor(void **state)
{
	int input = dup(STDIN_FILENO);
	char line[16];

	(void)state;
	rcm_fake_sysfs_add("here", "x");
	close(STDIN_FILENO);
	assert_int_equal(rcm_sysfs_line(line, sizeof(line), "here"), 0);
	assert_true(rcm_sysfs_has("here"));
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	if (input >= 0) {
		dup2(input, STDIN_FILENO);
		close(input);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_sysfs_line_is_the_first_without_its_end),
		T(test_sysfs_line_of_what_cannot_be_read_is_an_error),
		T(test_sysfs_line_of_an_empty_file_is_empty),
		T(test_sysfs_has_what_is_there),
		T(test_sysfs_each_entry_is_told_until_enough),
		T(test_sysfs_reads_leave_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
