/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's files: read by a thread of their own, and nobody waits for a dead disk. A FIFO is one: who opens it waits. */
#include "dns/etc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "fake_clock.h"
#include "test.h"

static char directory[] = "/tmp/rai-etc-XXXXXX", nsswitch[64], hosts[64], services[64], absent[64], made[64];
static struct rcm_etc_files files;
static struct rcm_loop loop;
static struct rcm_etc *etc;
static struct rcm_hosts *found;
static unsigned changes, names_changes, settlings;
static int settle_status;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(made, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(rename(made, path), 0);
}

static void changed(void *arg, struct rcm_etc_news *news)
{
	(void)arg;
	changes++;
	names_changes += news->names_changed;
	rcm_resolv_put(news->resolv);
	if (!news->hosts)
		return;
	rcm_hosts_free(found);
	found = news->hosts;
}

static void settled(void *arg, int status)
{
	(void)arg;
	settlings++;
	settle_status = status;
}

static const struct rcm_etc_ops ops = { .changed = changed, .settled = settled };

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/rai-etc-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(nsswitch, sizeof(nsswitch), "%s/nsswitch.conf", directory);
	snprintf(hosts, sizeof(hosts), "%s/hosts", directory);
	snprintf(services, sizeof(services), "%s/services", directory);
	snprintf(absent, sizeof(absent), "%s/absent", directory);
	snprintf(made, sizeof(made), "%s/made", directory);
	write_file(nsswitch, "hosts: files dns\n");
	write_file(hosts, "192.0.2.1 one\n");
	write_file(services, "");
	files = (struct rcm_etc_files){
		.pick = { .nsswitch = nsswitch, .gai = absent, .host = absent },
		.resolv = absent, .hosts = hosts, .services = services,
	};
	changes = names_changes = settlings = 0;
	/* However long a look takes here: none is given up. */
	rcm_fake_clock_use(rcm_clock_now());
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_etc_open(&loop, &files, &ops, NULL, &etc), 0);
	return 0;
}

/* Also one that comes back late: it reads the names of files, which the next test changes. */
static bool is_somebody_reading(void)
{
	DIR *dir = opendir("/proc/self/task");
	char path[300], name[32] = "";
	struct dirent *entry;
	bool is = false;
	FILE *file;

	assert_non_null(dir);
	while (!is && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		is = file && fgets(name, sizeof(name), file) && !strcmp(name, "rai-files\n");
		if (file)
			fclose(file);
	}
	closedir(dir);
	return is;
}

static bool is_inotify_open(void)
{
	char path[64], target[64] = "";
	bool is = false;

	for (int fd = 0; fd < 64 && !is; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		is = readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "anon_inode:inotify");
		memset(target, 0, sizeof(target));
	}
	return is;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_etc_close(etc);
	while (is_somebody_reading())
		sched_yield();
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	rcm_hosts_free(found);
	found = NULL;
	unlink(nsswitch);
	unlink(hosts);
	unlink(services);
	rmdir(directory);
	return 0;
}

/* As a name does: asks, and waits where it is told to. */
static int settle(void)
{
	unsigned before = settlings;
	int ret = rcm_etc_settle(etc);

	if (ret)
		return ret < 0 ? ret : 0;
	while (settlings == before)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	return settle_status;
}

static bool has(const char *name)
{
	union rcm_dns_address *addresses;
	const char *canonname;
	int count = rcm_hosts_find(found, name, AF_INET, &addresses, &canonname);

	if (count)
		free(addresses);
	return count;
}

static void test_etc_is_read_before_the_first_name_goes_on(void **state)
{
	(void)state;
	assert_false(rcm_etc_is_settled(etc));
	assert_int_equal(settle(), 0);
	assert_true(has("one"));
	assert_int_equal(changes, 1);
}

static void test_etc_that_stays_as_it_is_needs_no_look(void **state)
{
	(void)state;
	assert_int_equal(settle(), 0);
	/* Files just made are read once more. */
	usleep(30000);
	write_file(services, "");
	assert_int_equal(settle(), 0);
	assert_true(rcm_etc_is_settled(etc));
	assert_int_equal(rcm_etc_settle(etc), 1);
}

static void test_f37_etc_changed_before_a_name_is_asked_is_seen_by_it(void **state)
{
	char name[16], line[64];

	(void)state;
	assert_int_equal(settle(), 0);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		snprintf(line, sizeof(line), "192.0.2.1 %s\n", name);
		write_file(hosts, line);
		assert_false(rcm_etc_is_settled(etc));
		assert_int_equal(settle(), 0);
		assert_true(has(name));
	}
}

static void test_etc_of_services_alone_changes_no_name(void **state)
{
	unsigned before;

	(void)state;
	assert_int_equal(settle(), 0);
	usleep(30000);
	write_file(services, "x 1/tcp\n");
	assert_int_equal(settle(), 0);
	before = names_changes;
	write_file(services, "x 2/tcp\n");
	assert_int_equal(settle(), 0);
	assert_int_equal(names_changes, before);
}

/* Makes whoever opens a file wait, and lets them go on with nothing read. */
static void block(const char *path)
{
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static void unblock(const char *path)
{
	int fd;

	/* Once its reader is there. */
	do
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	while (fd < 0 && errno == ENXIO);
	assert_true(fd >= 0);
	close(fd);
}

static void test_etc_on_a_dead_disk_delays_one_name_briefly_and_the_next_not_at_all(void **state)
{
	unsigned before;

	(void)state;
	assert_int_equal(settle(), 0);
	block(hosts);
	before = settlings;
	assert_int_equal(rcm_etc_settle(etc), 0);
	rcm_fake_clock_advance(RCM_LOOK_WAIT_MS * RCM_NS_PER_MS - 1);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(settlings, before);
	rcm_fake_clock_advance(1);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(settlings, before + 1);
	assert_int_equal(settle_status, 0);
	assert_true(has("one"));
	for (int i = 0; i < 10; i++)
		assert_int_equal(rcm_etc_settle(etc), 1);
	assert_true(rcm_etc_is_settled(etc));
	/* The disk is back. */
	unblock(hosts);
	unlink(hosts);
	write_file(hosts, "192.0.2.2 two\n");
	while (!found || !has("two")) {
		assert_int_equal(rcm_loop_turn(&loop, 10), 0);
		settle();
	}
	assert_false(has("one"));
}

static void test_etc_never_read_is_waited_for_and_closing_waits_for_nobody(void **state)
{
	(void)state;
	block(hosts);
	assert_int_equal(rcm_etc_settle(etc), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(rcm_loop_turn(&loop, 10), 0);
	assert_int_equal(settlings, 0);
	assert_int_equal(rcm_etc_settle(etc), 0);
	rcm_etc_close(etc);
	unblock(hosts);
	assert_int_equal(rcm_etc_open(&loop, &files, &ops, NULL, &etc), 0);
}

/* what was good stays; a file that can't be read is no empty one. */
static void test_etc_that_can_not_be_read_leaves_what_was_read_before(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(settle(), 0);
	write_file(hosts, "192.0.2.2 two\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(settle(), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(has("one"));
	assert_int_equal(settle(), 0);
	assert_true(has("two"));
	assert_false(has("one"));
}

static void test_etc_that_could_never_be_read_is_told_as_an_error(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(settle(), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(settle(), 0);
	assert_true(has("one"));
}

static void test_etc_abandoned_in_a_child_while_a_disk_is_dead(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	block(hosts);
	assert_int_equal(rcm_etc_settle(etc), 0);
	pid = fork();
	if (!pid) {
		rcm_etc_abandon(etc);
		rcm_etc_abandon(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unblock(hosts);
	assert_int_equal(settle(), 0);
}

/* A user has 128 instances of inotify for all processes. */
static void test_etc_gives_its_inotify_back_when_nobody_asks_and_knows_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(settle(), 0);
	assert_true(is_inotify_open());
	rcm_fake_clock_advance((RCM_WATCH_IDLE_MS + 1) * RCM_NS_PER_MS);
	/* Asked in between, it goes on. */
	rcm_etc_is_settled(etc);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_true(is_inotify_open());
	rcm_fake_clock_advance((RCM_WATCH_IDLE_MS + 1) * RCM_NS_PER_MS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_false(is_inotify_open());
	assert_false(rcm_etc_is_settled(etc));
	write_file(hosts, "192.0.2.2 two\n");
	assert_int_equal(settle(), 0);
	assert_true(has("two"));
	assert_true(is_inotify_open());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_etc_is_read_before_the_first_name_goes_on),
		T(test_etc_that_stays_as_it_is_needs_no_look),
		T(test_f37_etc_changed_before_a_name_is_asked_is_seen_by_it),
		T(test_etc_of_services_alone_changes_no_name),
		T(test_etc_on_a_dead_disk_delays_one_name_briefly_and_the_next_not_at_all),
		T(test_etc_never_read_is_waited_for_and_closing_waits_for_nobody),
		T(test_etc_that_can_not_be_read_leaves_what_was_read_before),
		T(test_etc_that_could_never_be_read_is_told_as_an_error),
		T(test_etc_abandoned_in_a_child_while_a_disk_is_dead),
		T(test_etc_gives_its_inotify_back_when_nobody_asks_and_knows_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
