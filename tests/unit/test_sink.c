/* SPDX-License-Identifier: BSD-2-Clause */
/* Where log lines go, and that nobody waits for it. */
#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/rai-sink-XXXXXX", path[64], other[64], text[4096];
static struct rcm_sink sink;

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/rai-sink-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(folder);
}

static int put(const char *line)
{
	return rcm_sink_write(&sink, LOG_INFO, line, strlen(line));
}

static const char *contents(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	close(fd);
	text[n] = '\0';
	return text;
}

/* A daemon closes them all, and its first file is the lowest number. */
static void test_sink_chosen_leaves_no_descriptor_behind(void **state)
{
	int input = dup(STDIN_FILENO), next = dup(STDIN_FILENO);

	(void)state;
	close(STDIN_FILENO);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(sink.kind, RCM_SINK_FILE);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	dup2(input, STDIN_FILENO);
	close(next);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(fcntl(next, F_GETFD), -1);
	close(input);
}

static void test_sink_file_has_each_line_behind_time_and_process(void **state)
{
	struct stat st;
	int n = 0, pid = 0;
	char program[64];

	(void)state;
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(put("rai: info: one\n"), 0);
	assert_int_equal(put("rai: info: two\n"), 0);
	sscanf(contents(), "%*d-%*d-%*dT%*d:%*d:%*d.%*dZ %63[^[][%d] rai: info: one\n%n", program, &pid, &n);
	assert_true(n > 0);
	assert_int_equal(pid, getpid());
	assert_string_equal(program, program_invocation_short_name);
	assert_non_null(strstr(text + n, "] rai: info: two\n"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_sink_file_tells_the_time_as_it_is(void **state)
{
	struct timespec before, after;
	struct tm tm = { 0 };
	time_t at;

	(void)state;
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	/* time(3) is a timer tick behind. */
	clock_gettime(CLOCK_REALTIME, &before);
	assert_int_equal(put("one\n"), 0);
	clock_gettime(CLOCK_REALTIME, &after);
	assert_non_null(strptime(contents(), "%Y-%m-%dT%H:%M:%S", &tm));
	at = timegm(&tm);
	assert_true(at >= before.tv_sec && at <= after.tv_sec);
}

static atomic_bool over;

static void *ask_for_the_time(void *arg)
{
	struct tm tm;

	while (!atomic_load(&over))
		localtime_r(&(time_t){ 0 }, &tm);
	return arg;
}

/* libc's lock of the time zones is held for ever in a child that was forked at the wrong moment. */
static void test_sink_in_a_child_waits_for_no_thread_of_its_parent(void **state)
{
	pthread_t thread;
	int status;

	(void)state;
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	atomic_store(&over, false);
	assert_int_equal(pthread_create(&thread, NULL, ask_for_the_time, NULL), 0);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (!child) {
			alarm(20);
			_exit(put("one\n") ? 1 : 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static void test_sink_whose_reader_has_gone_loses_the_line_and_no_process(void **state)
{
	int ends[2], kept = dup(STDERR_FILENO), ret;
	sigset_t pending;

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(rcm_sink_choose(NULL, &sink), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	ret = put("one\n");
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(ret, -EPIPE);
	assert_int_equal(sigpending(&pending), 0);
	assert_false(sigismember(&pending, SIGPIPE));
}

static void test_sink_file_that_may_grow_no_more_loses_the_line_and_no_process(void **state)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	struct rlimit before;
	sigset_t pending;
	int ret;

	(void)state;
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	ret = put("one\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(ret, -EFBIG);
	assert_int_equal(sigpending(&pending), 0);
	assert_false(sigismember(&pending, SIGXFSZ));
}

/* logrotate moves it, and a new one is begun. */
static void test_sink_file_that_was_moved_is_made_anew(void **state)
{
	(void)state;
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(put("one\n"), 0);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(put("two\n"), 0);
	assert_non_null(strstr(contents(), "two"));
	assert_null(strstr(text, "one"));
}

static void test_sink_file_leaves_no_descriptor(void **state)
{
	int before = dup(0), after;

	(void)state;
	close(before);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	put("one\n");
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
}

static void test_sink_that_is_a_link_or_no_path_is_refused(void **state)
{
	(void)state;
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(rcm_sink_choose(path, &sink), -ELOOP);
	assert_int_equal(access(other, F_OK), -1);
	assert_int_equal(rcm_sink_choose("log", &sink), -EINVAL);
	assert_int_equal(rcm_sink_choose("/no/such/folder/log", &sink), -ENOENT);
	assert_int_equal(rcm_sink_choose(folder, &sink), -EISDIR);
	/* One that is put there later. */
	unlink(path);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	unlink(path);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(put("one\n"), -ELOOP);
}

static void test_sink_file_of_another_user_is_not_written_to(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();		/* a file can't be given away */
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(put("one\n"), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(put("two\n"), -EPERM);
	assert_null(strstr(contents(), "two"));
	assert_int_equal(rcm_sink_choose(path, &sink), -EPERM);
}

static void test_sink_fifo_of_another_user_is_not_written_to(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(put("one\n"), -EPERM);
	assert_true(read(fd, text, sizeof(text)) <= 0);
	assert_int_equal(rcm_sink_choose(path, &sink), -EPERM);
	close(fd);
}

static void test_sink_of_a_program_with_a_line_in_its_name_has_one_line(void **state)
{
	char *before = program_invocation_short_name, name[] = "a\n2026-11-30 rai: error: b";

	(void)state;
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	program_invocation_short_name = name;
	assert_int_equal(put("one\n"), 0);
	program_invocation_short_name = before;
	contents();
	assert_ptr_equal(strchr(text, '\n'), strstr(text, "one\n") + 3);
	assert_non_null(strstr(text, " a?2026-11-30 rai: error: b["));
}

static void test_sink_fifo_that_nobody_reads_is_not_waited_for(void **state)
{
	char line[4096];
	int fd, ret = 0;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(put("nobody\n"), -ENXIO);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(put("somebody\n"), 0);
	assert_true(read(fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "somebody"));
	for (int i = 0; i < 100 && !ret; i++)
		ret = put(line);
	assert_int_equal(ret, -EAGAIN);
	close(fd);
}

static void test_sink_without_a_descriptor_is_chosen_and_used_when_there_is_one(void **state)
{
	static const struct rcm_sink unchosen;
	struct rlimit before, none;

	(void)state;
	sink = unchosen;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_sink_choose(path, &sink), 0);
	assert_int_equal(put("lost\n"), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(put("one\n"), 0);
	assert_non_null(strstr(contents(), "one"));
}

static void test_sink_full_disk_loses_the_line(void **state)
{
	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(rcm_sink_choose("/dev/full", &sink), 0);
	assert_int_equal(put("one\n"), -ENOSPC);
}

static int journal_open(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void test_sink_journal_gets_fields_and_is_not_waited_for(void **state)
{
	char expected[256];
	int fd = journal_open(), ret = 0;
	ssize_t n;

	(void)state;
	sink = (struct rcm_sink){ .kind = RCM_SINK_SOCKET, .path = path };
	assert_int_equal(put("rai: info: one\n"), 0);
	n = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	snprintf(expected, sizeof(expected), "PRIORITY=6\nSYSLOG_IDENTIFIER=%.32s\nMESSAGE=rai: info: one\n",
		 program_invocation_short_name);
	assert_string_equal(text, expected);
	for (int i = 0; i < 100000 && !ret; i++)
		ret = put("rai: info: one\n");
	assert_int_equal(ret, -EAGAIN);
	close(fd);
	assert_int_equal(put("rai: info: one\n"), -ECONNREFUSED);
	unlink(path);
	assert_int_equal(put("rai: info: one\n"), -ENOENT);
	assert_int_equal(rcm_sink_choose("journal", &sink), access(RCM_SINK_JOURNAL, F_OK) ? -ENOENT : 0);
}

#define SINK_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SINK_TEST(test_sink_file_has_each_line_behind_time_and_process),
		SINK_TEST(test_sink_chosen_leaves_no_descriptor_behind),
		SINK_TEST(test_sink_file_tells_the_time_as_it_is),
		SINK_TEST(test_sink_in_a_child_waits_for_no_thread_of_its_parent),
		SINK_TEST(test_sink_whose_reader_has_gone_loses_the_line_and_no_process),
		SINK_TEST(test_sink_file_that_may_grow_no_more_loses_the_line_and_no_process),
		SINK_TEST(test_sink_file_that_was_moved_is_made_anew),
		SINK_TEST(test_sink_file_leaves_no_descriptor),
		SINK_TEST(test_sink_that_is_a_link_or_no_path_is_refused),
		SINK_TEST(test_sink_file_of_another_user_is_not_written_to),
		SINK_TEST(test_sink_fifo_of_another_user_is_not_written_to),
		SINK_TEST(test_sink_of_a_program_with_a_line_in_its_name_has_one_line),
		SINK_TEST(test_sink_fifo_that_nobody_reads_is_not_waited_for),
		SINK_TEST(test_sink_without_a_descriptor_is_chosen_and_used_when_there_is_one),
		SINK_TEST(test_sink_full_disk_loses_the_line),
		SINK_TEST(test_sink_journal_gets_fields_and_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
