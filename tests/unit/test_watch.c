/* SPDX-License-Identifier: BSD-2-Clause */
/* However files change, it is told at once. */
#include "dns/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char directory[] = "/tmp/rai-watch-XXXXXX", file[64], other[64], link_to[64], far_directory[64], far_file[64];
static struct rcm_watch *watch;

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/hosts", directory);
	snprintf(other, sizeof(other), "%s/hosts.new", directory);
	snprintf(link_to, sizeof(link_to), "%s/resolv.conf", directory);
	snprintf(far_directory, sizeof(far_directory), "%s/run", directory);
	snprintf(far_file, sizeof(far_file), "%s/run/stub", directory);
	mkdir(far_directory, 0755);
	write_file(file, "a");
	write_file(far_file, "a");
	assert_int_equal(symlink("run/stub", link_to), 0);
	assert_int_equal(rcm_watch_open(&watch), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_watch_put(watch);
	unlink(file);
	unlink(other);
	unlink(link_to);
	unlink(far_file);
	rmdir(far_directory);
	rmdir(directory);
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	return 0;
}

static void renew(void)
{
	const char *const paths[] = { file, link_to };

	/* What renewing itself brings is told, too, and is over with the next. */
	for (int i = 0; i < 3; i++)
		rcm_watch_renew(watch, paths, 2);
	assert_false(rcm_watch_has_news(watch));
}

static void test_watch_of_files_that_stay_as_they_are_has_no_news(void **state)
{
	(void)state;
	renew();
	assert_true(rcm_watch_can_tell(watch));
	assert_false(rcm_watch_has_news(watch));
}

static void test_watch_file_written_replaced_removed_and_made_is_told_at_once(void **state)
{
	(void)state;
	renew();
	write_file(file, "b");
	assert_true(rcm_watch_has_news(watch));
	assert_true(rcm_watch_has_news(watch));
	renew();
	write_file(other, "c");
	renew();
	assert_int_equal(rename(other, file), 0);
	assert_true(rcm_watch_has_news(watch));
	renew();
	write_file(file, "d");
	assert_true(rcm_watch_has_news(watch));
	renew();
	assert_int_equal(unlink(file), 0);
	assert_true(rcm_watch_has_news(watch));
	renew();
	write_file(file, "e");
	assert_true(rcm_watch_has_news(watch));
	renew();
	assert_int_equal(chmod(file, 0), 0);
	assert_true(rcm_watch_has_news(watch));
}

/* More than one read takes. */
static void test_watch_renewed_once_forgets_all_news(void **state)
{
	(void)state;
	renew();
	for (unsigned i = 0; i < 200; i++) {
		write_file(other, "c");
		assert_int_equal(unlink(other), 0);
	}
	rcm_watch_renew(watch, (const char *const[]){ file, link_to }, 2);
	assert_false(rcm_watch_has_news(watch));
}

/* As with a resolv.conf of systemd-resolved or of a DHCP client. */
static void test_watch_what_a_symbolic_link_leads_to_is_watched_as_well(void **state)
{
	(void)state;
	renew();
	write_file(far_file, "b");
	assert_true(rcm_watch_has_news(watch));
	renew();
	assert_int_equal(unlink(far_file), 0);
	assert_true(rcm_watch_has_news(watch));
	renew();
	write_file(far_file, "c");
	assert_true(rcm_watch_has_news(watch));
	renew();
	assert_int_equal(unlink(link_to), 0);
	assert_int_equal(symlink("hosts", link_to), 0);
	assert_true(rcm_watch_has_news(watch));
	renew();
	assert_int_equal(rename(far_directory, other), 0);
	assert_true(rcm_watch_has_news(watch));
	assert_int_equal(rename(other, far_directory), 0);
}

/* Each from its own directory, or from the root. */
static void test_watch_links_that_lead_to_links_are_watched_to_the_end(void **state)
{
	char end_directory[80], end[96], middle[96], absolute[96];

	(void)state;
	snprintf(end_directory, sizeof(end_directory), "%s/x", far_directory);
	snprintf(end, sizeof(end), "%s/y", end_directory);
	snprintf(middle, sizeof(middle), "%s/m", far_directory);
	snprintf(absolute, sizeof(absolute), "%s/a", far_directory);
	assert_int_equal(mkdir(end_directory, 0755), 0);
	assert_int_equal(symlink("x/y", middle), 0);
	assert_int_equal(symlink(middle, absolute), 0);
	for (unsigned i = 0; i < 2; i++) {
		unlink(link_to);
		assert_int_equal(symlink(i ? absolute : "run/m", link_to), 0);
		renew();
		write_file(end, "b");
		assert_true(rcm_watch_has_news(watch));
		renew();
		assert_int_equal(unlink(end), 0);
		assert_true(rcm_watch_has_news(watch));
	}
	unlink(absolute);
	unlink(middle);
	rmdir(end_directory);
}

/* Whoever can't be told must look: it is never said that all is as it was. */
static void test_watch_without_inotify_never_says_that_nothing_happened(void **state)
{
	struct rcm_watch *blind;
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_watch_open(&blind), 0);
	assert_true(rcm_watch_has_news(blind));
	rcm_watch_renew(blind, (const char *const[]){ file }, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(rcm_watch_can_tell(blind));
	assert_true(rcm_watch_has_news(blind));
	/* By the next time there may be one. */
	rcm_watch_renew(blind, (const char *const[]){ file }, 1);
	assert_true(rcm_watch_can_tell(blind));
	assert_false(rcm_watch_has_news(blind));
	rcm_watch_rest(blind);
	assert_false(rcm_watch_can_tell(blind));
	assert_true(rcm_watch_has_news(blind));
	rcm_watch_put(blind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_watch_of_files_that_stay_as_they_are_has_no_news),
		T(test_watch_file_written_replaced_removed_and_made_is_told_at_once),
		T(test_watch_renewed_once_forgets_all_news),
		T(test_watch_what_a_symbolic_link_leads_to_is_watched_as_well),
		T(test_watch_links_that_lead_to_links_are_watched_to_the_end),
		T(test_watch_without_inotify_never_says_that_nothing_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
