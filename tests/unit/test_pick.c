/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hosts lines we speak. */
#include "dns/pick.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dns/environment.h"
#include "test.h"

static char nsswitch[] = "/tmp/rai-nsswitch-XXXXXX", gai[] = "/tmp/rai-gai-XXXXXX", host[] = "/tmp/rai-host-XXXXXX";
static const struct rcm_pick_files files = { .nsswitch = nsswitch, .gai = gai, .host = host };

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_files(void **state)
{
	char *paths[] = { nsswitch, gai, host };

	(void)state;
	for (int i = 0; i < 3; i++)
		close(mkstemp(paths[i]));
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(nsswitch);
	unlink(gai);
	unlink(host);
	return 0;
}

static struct rcm_pick read_pick(const struct rcm_pick_files *from)
{
	struct rcm_pick pick;

	assert_int_equal(rcm_pick_read(from, &pick), 0);
	return pick;
}

static struct rcm_pick read_line(const char *line)
{
	write_file(nsswitch, line);
	write_file(gai, "# nothing\n\n");
	write_file(host, "");
	return read_pick(&files);
}

static void test_pick_files_and_dns_in_either_order_or_alone_are_ours(void **state)
{
	static const struct {
		const char *line;
		enum rcm_pick_step steps[2];
	} rows[] = {
		{ "hosts: files dns\n", { RCM_PICK_FILES, RCM_PICK_DNS } },
		{ "hosts: dns files\n", { RCM_PICK_DNS, RCM_PICK_FILES } },
		{ "hosts: files\n", { RCM_PICK_FILES, RCM_PICK_END } },
		{ "hosts: dns\n", { RCM_PICK_DNS, RCM_PICK_END } },
		{ "hosts:\n", { RCM_PICK_END, RCM_PICK_END } },
		{ "passwd: nis\n# hosts: nis\n  hosts:\tfiles\tdns", { RCM_PICK_FILES, RCM_PICK_DNS } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_pick pick = read_line(rows[i].line);

		assert_false(pick.system);
		assert_memory_equal(pick.steps, rows[i].steps, sizeof(pick.steps));
	}
}

static void test_pick_anything_else_is_the_system_s(void **state)
{
	static const char *const lines[] = {
		"hosts: files mdns4_minimal [NOTFOUND=return] dns\n", "hosts: files myhostname dns\n",
		"hosts: files [NOTFOUND=return] dns\n", "hosts: files dns myhostname\n", "",
		"hosts: files files\n", "hosts: FILES dns\n", "hosts: files dns # comment\n", "hostsx: files\n",
		"hosts: files\nhosts: dns\n", "hosts files dns\n", "hosts: files dns dns\n", "hosts: dns files files\n",
		"hosts: files dns files\n", "host: files dns\n", "hos: files\n", "hosts: nis\n", "hosts: dns dns\n",
		"hosts; files dns\n", "xhosts: files\n", "hosts x: files\n", "hosts: files\nhosts:\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!read_line(lines[i]).system)
			fail_msg("\"%s\"", lines[i]);
}

static void test_pick_more_lines_in_gai_conf_than_we_keep_are_the_system_s(void **state)
{
	FILE *file;

	(void)state;
	assert_false(read_line("hosts: dns\n").system);
	file = fopen(gai, "w");
	assert_non_null(file);
	/* One place is for what matches everything. */
	for (int i = 1; i < RCM_POLICY_ROWS; i++)
		fprintf(file, "label 2001:db8:%x::/48 %d\n", i, i);
	fflush(file);
	assert_false(read_pick(&files).system);
	fprintf(file, "label 2001:db8::/48 0\n");
	fclose(file);
	assert_true(read_pick(&files).system);
}

static void test_pick_host_conf_multi_is_read(void **state)
{
	static const struct {
		const char *text;
		bool multi;
	} rows[] = {
		{ "", false }, { "order hosts,bind\nmulti on\n", true }, { "multi off\n", false }, { "multi\n", false },
		{ "multi on", true }, { "\tMulti  ON more\n\n", true }, { "order on\n", false }, { "multi on\norder off\n", true },
		{ "multi on\nmulti off\n", false }, { "multi on\n\nmulti\n", true }, { "multi one\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_false(read_line("hosts: dns\n").multi);
		write_file(host, rows[i].text);
		if (read_pick(&files).multi != rows[i].multi)
			fail_msg("\"%s\"", rows[i].text);
	}
}

static void test_pick_with_hostaliases_is_the_system_s_once_the_environment_is_copied(void **state)
{
	(void)state;
	setenv("HOSTALIASES", "/nonexistent", 1);
	assert_false(read_line("hosts: files dns\n").system);
	assert_int_equal(rcm_environment_take(), 0);
	assert_true(read_line("hosts: files dns\n").system);
	unsetenv("HOSTALIASES");
	assert_int_equal(rcm_environment_take(), 0);
	assert_false(read_line("hosts: files dns\n").system);
}

static void test_pick_without_files_is_the_system_s(void **state)
{
	static const struct rcm_pick_files none = { .nsswitch = "/nonexistent/a", .gai = "/nonexistent/b",
						    .host = "/nonexistent/c" };

	(void)state;
	assert_true(read_pick(&none).system);
}

/* Not the same as files that aren't there. */
static void test_pick_without_descriptors_is_an_error_and_changes_nothing(void **state)
{
	struct rcm_pick pick = { .hosts_line = true };
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_pick_read(&files, &pick), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(pick.hosts_line);
}

static void test_pick_of_a_file_that_breaks_off_is_an_error_and_changes_nothing(void **state)
{
	static const char broken[] = "/proc/self/mem";
	struct rcm_pick pick = { .hosts_line = true };

	(void)state;
	read_line("hosts: dns\n");
	for (int i = 0; i < 3; i++) {
		const struct rcm_pick_files some = { .nsswitch = i == 0 ? broken : nsswitch, .gai = i == 1 ? broken : gai,
						     .host = i == 2 ? broken : host };

		assert_int_equal(rcm_pick_read(&some, &pick), -EIO);
		assert_true(pick.hosts_line);
		assert_int_equal(pick.policy.labels.count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pick_files_and_dns_in_either_order_or_alone_are_ours),
		cmocka_unit_test(test_pick_anything_else_is_the_system_s),
		cmocka_unit_test(test_pick_more_lines_in_gai_conf_than_we_keep_are_the_system_s),
		cmocka_unit_test(test_pick_host_conf_multi_is_read),
		cmocka_unit_test(test_pick_with_hostaliases_is_the_system_s_once_the_environment_is_copied),
		cmocka_unit_test(test_pick_without_files_is_the_system_s),
		cmocka_unit_test(test_pick_without_descriptors_is_an_error_and_changes_nothing),
		cmocka_unit_test(test_pick_of_a_file_that_breaks_off_is_an_error_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
