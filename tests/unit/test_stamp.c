/* SPDX-License-Identifier: BSD-2-Clause */
/* F37: however a file changes, it shows. */
#include "base/stamp.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static char path[] = "/tmp/rai-stamp-XXXXXX", other[] = "/tmp/rai-stamp-XXXXXX";

static void write_file(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Looks until it is no longer young: bounded, since one look in 20 ms is enough. */
static void settle(struct rcm_stamp *stamp)
{
	for (int i = 0; i < 1000 && rcm_stamp_changed(stamp, path); i++)
		usleep(1000);
}

static void test_stamp_of_an_old_file_is_the_same_again(void **state)
{
	struct rcm_stamp stamp = { 0 };

	(void)state;
	assert_true(rcm_stamp_changed(&stamp, "/usr"));
	assert_false(rcm_stamp_changed(&stamp, "/usr"));
}

/* A file system may be without one or the other of them. */
static void test_stamp_differs_by_each_thing_that_is_remembered(void **state)
{
	struct rcm_stamp stamp = { 0 }, other_stamp;
	struct stat st;

	(void)state;
	assert_true(rcm_stamp_changed(&stamp, "/usr"));
	assert_int_equal(stat("/usr", &st), 0);
	assert_true(stamp.dev == st.st_dev && stamp.ino == st.st_ino && stamp.size == st.st_size);
	for (unsigned i = 0; i < 9; i++) {
		other_stamp = stamp;
		other_stamp.dev += i == 0;
		other_stamp.ino += i == 1;
		other_stamp.size += i == 2;
		other_stamp.mtime.tv_sec += i == 3;
		other_stamp.mtime.tv_nsec += i == 4;
		other_stamp.ctime.tv_sec += i == 5;
		other_stamp.ctime.tv_nsec += i == 6;
		other_stamp.looked = i != 7;
		assert_int_equal(rcm_stamp_changed(&other_stamp, "/usr"), i < 8);
		assert_false(rcm_stamp_changed(&other_stamp, "/usr"));
	}
}

static void test_stamp_rewritten_renamed_removed_and_made_again_shows(void **state)
{
	struct rcm_stamp stamp = { 0 };

	(void)state;
	close(mkstemp(path));
	close(mkstemp(other));
	settle(&stamp);
	assert_false(rcm_stamp_changed(&stamp, path));
	write_file(path, "a");
	assert_true(rcm_stamp_changed(&stamp, path));
	/* Same size, and maybe in the same step of the clock. */
	write_file(path, "b");
	assert_true(rcm_stamp_changed(&stamp, path));
	settle(&stamp);
	assert_int_equal(rename(other, path), 0);
	assert_true(rcm_stamp_changed(&stamp, path));
	settle(&stamp);
	assert_int_equal(unlink(path), 0);
	assert_true(rcm_stamp_changed(&stamp, path));
	assert_false(rcm_stamp_changed(&stamp, path));
	write_file(path, "");
	assert_true(rcm_stamp_changed(&stamp, path));
	unlink(path);
}

/* ---- Clocks that are not what they should be ---- */

static time_t clock_ahead;
static bool whole_seconds;
static struct timespec set_now, set_changed;	/* where tv_sec of the latter isn't 0 */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);

	if (set_changed.tv_sec)
		*now = set_now;
	if (clock == CLOCK_REALTIME_COARSE)
		now->tv_sec += clock_ahead;
	return ret;
}

static void change_times(struct stat *st)
{
	if (set_changed.tv_sec)
		st->st_ctim = st->st_mtim = set_changed;
	if (whole_seconds)
		st->st_ctim.tv_nsec = st->st_mtim.tv_nsec = 0;
}

/* By whichever name the C library has it for files of any size. */
#define WRAP(name) \
	int __real_##name(const char *restrict file, struct stat *restrict st); \
	int __wrap_##name(const char *restrict file, struct stat *restrict st); \
	int __wrap_##name(const char *restrict file, struct stat *restrict st) \
	{ \
		int ret = __real_##name(file, st); \
\
		change_times(st); \
		return ret; \
	}

WRAP(stat)
WRAP(stat64)

/* A host without a clock of its own, until the network has told it the time. */
static void test_stamp_of_a_file_from_the_future_is_the_same_again(void **state)
{
	struct rcm_stamp stamp = { 0 };

	(void)state;
	write_file(path, "a");
	clock_ahead = -3600;
	assert_true(rcm_stamp_changed(&stamp, path));
	assert_false(rcm_stamp_changed(&stamp, path));
	clock_ahead = 0;
	unlink(path);
}

static void test_stamp_where_times_are_whole_seconds_shows_two_changes_in_one(void **state)
{
	struct rcm_stamp stamp = { 0 };

	(void)state;
	whole_seconds = true;
	write_file(path, "a");
	assert_true(rcm_stamp_changed(&stamp, path));
	usleep(30000);		/* longer than a step of clocks with fractions */
	write_file(path, "b");
	assert_true(rcm_stamp_changed(&stamp, path));
	clock_ahead = 3;
	assert_true(rcm_stamp_changed(&stamp, path));
	assert_false(rcm_stamp_changed(&stamp, path));
	clock_ahead = 0;
	whole_seconds = false;
	unlink(path);
}

/* Whether a file that changed then may have changed once more since, so many ms later. */
static bool is_young_after(long changed_ns, long ms)
{
	struct rcm_stamp stamp = { 0 };
	int64_t now_ms = 100000 + changed_ns / 1000000 + ms;
	bool is;

	set_changed = (struct timespec){ 100, changed_ns };
	set_now = (struct timespec){ now_ms / 1000, now_ms % 1000 * 1000000 };
	assert_true(rcm_stamp_changed(&stamp, "/usr"));
	is = rcm_stamp_changed(&stamp, "/usr");
	set_changed = (struct timespec){ 0 };
	return is;
}

static void test_stamp_is_young_for_a_step_of_its_clock_either_way(void **state)
{
	(void)state;
	for (long sign = -1; sign <= 1; sign += 2) {
		assert_true(is_young_after(500000000, sign * 19));
		assert_false(is_young_after(500000000, sign * 20));
		assert_true(is_young_after(0, sign * 1999));
		assert_false(is_young_after(0, sign * 2000));
	}
	/* Over a second's end. */
	assert_true(is_young_after(990000000, 19));
	assert_false(is_young_after(990000000, 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamp_of_an_old_file_is_the_same_again),
		cmocka_unit_test(test_stamp_differs_by_each_thing_that_is_remembered),
		cmocka_unit_test(test_stamp_rewritten_renamed_removed_and_made_again_shows),
		cmocka_unit_test(test_stamp_of_a_file_from_the_future_is_the_same_again),
		cmocka_unit_test(test_stamp_where_times_are_whole_seconds_shows_two_changes_in_one),
		cmocka_unit_test(test_stamp_is_young_for_a_step_of_its_clock_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
