/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket on which a process gives its counters out, in a directory made for it. */
#include "resolve/gauge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "base/limits.h"
#include "fake_clock.h"
#include "test.h"

static char directory[] = "/tmp/rai-gauge.XXXXXX";
static struct rcm_loop loop;
static struct rcm_gauge gauge;
static unsigned shown;

static void show(void *arg, struct rai_stats *ret_stats)
{
	assert_ptr_equal(arg, &gauge);
	shown++;
	*ret_stats = (struct rai_stats){ .started = 7, .kept = 3 };
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	shown = 0;
	rcm_fake_clock_use(RCM_NS_PER_S);
	gauge = (struct rcm_gauge){ 0 };
	return !mkdtemp(directory) || rcm_loop_init(&loop) || setenv("XDG_RUNTIME_DIR", directory, 1) ||
	       setenv("RAI_STATS", "1", 1);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_gauge_remove(&gauge);
	if (gauge.source.loop) {
		rcm_source_remove(&gauge.source);
		close(gauge.source.fd);
	}
	rcm_loop_done(&loop);
	return rmdir(directory);
}

static void open_it(void)
{
	rcm_gauge_want(&gauge);
	rcm_gauge_open(&gauge, &loop, show, &gauge);
}

static int ask(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, gauge.path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static bool is_answered(int fd)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0) == 1;
}

static void test_gauge_that_nobody_asked_for_is_not_there(void **state)
{
	static const char *const not_1[] = { "", "0", "yes", "11" };

	(void)state;
	unsetenv("RAI_STATS");
	open_it();
	for (unsigned i = 0; i < sizeof(not_1) / sizeof(*not_1); i++) {
		setenv("RAI_STATS", not_1[i], 1);
		open_it();
	}
	assert_null(gauge.source.loop);
	assert_int_equal(gauge.pid, 0);
}

static void test_gauge_is_for_its_user_alone_and_tells_the_counters(void **state)
{
	char reply[2048];
	struct stat st;
	ssize_t len;
	int fd;

	(void)state;
	open_it();
	assert_int_equal(stat(gauge.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	fd = ask();
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	len = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	assert_true(len > 0);
	reply[len] = 0;
	assert_int_equal(strncmp(reply, "rai-stats 1\n", 12), 0);
	assert_non_null(strstr(reply, "\nstarted 7\n"));
	assert_non_null(strstr(reply, "\nkept 3\n"));
	assert_int_equal(recv(fd, reply, sizeof(reply), MSG_DONTWAIT), 0);
	close(fd);
}

static void test_gauge_answers_so_many_a_turn_and_waits_for_nobody(void **state)
{
	int fds[2 * RCM_GAUGE_TURN];

	(void)state;
	open_it();
	for (int i = 0; i < 2 * RCM_GAUGE_TURN; i++)
		fds[i] = ask();
	close(fds[1]);		/* gone before it is answered */
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_true(is_answered(fds[RCM_GAUGE_TURN - 1]));
	assert_false(is_answered(fds[RCM_GAUGE_TURN]));
	assert_int_equal(shown, RCM_GAUGE_TURN);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_true(is_answered(fds[2 * RCM_GAUGE_TURN - 1]));
	for (int i = 0; i < 2 * RCM_GAUGE_TURN; i++)
		if (i != 1)
			close(fds[i]);
}

/* The program's thread may change it from then on. */
static void test_gauge_is_where_the_environment_said_before_its_thread_began(void **state)
{
	(void)state;
	rcm_gauge_want(&gauge);
	unsetenv("RAI_STATS");
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	rcm_gauge_open(&gauge, &loop, show, &gauge);
	assert_int_equal(strncmp(gauge.path, directory, strlen(directory)), 0);
	close(ask());
}

static int accept_errno, accepts;

/* In place of libc's: as seccomp(2) has it refused, where the connection stays in its line. */
int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	accepts++;
	if (accept_errno) {
		errno = accept_errno;
		return -1;
	}
	return (int)syscall(SYS_accept4, fd, address, len, flags);
}

static void test_gauge_that_may_not_accept_rests_for_a_while_and_does_not_spin(void **state)
{
	static const int refusals[] = { EMFILE, EPERM, EACCES, ENOSYS };
	int fd;

	(void)state;
	open_it();
	fd = ask();
	for (unsigned i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		accept_errno = refusals[i];
		accepts = 0;
		for (int turns = 0; turns < 3; turns++)
			assert_int_equal(rcm_loop_turn(&loop, 0), 0);
		assert_int_equal(accepts, 1);
		accept_errno = 0;
		assert_int_equal(rcm_loop_turn(&loop, 0), 0);
		assert_false(is_answered(fd));
		rcm_fake_clock_advance(RCM_NS_PER_S);
		assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	}
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_true(is_answered(fd));
	close(fd);
}

static void test_gauge_of_a_program_with_a_long_name_has_all_counters(void **state)
{
	char *before = program_invocation_short_name, name[2000], reply[2048];
	ssize_t len;
	int fd;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	open_it();
	fd = ask();
	program_invocation_short_name = name;
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	program_invocation_short_name = before;
	len = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	assert_true(len > 0);
	reply[len] = 0;
	assert_non_null(strstr(reply, "\nkept 3\n"));
	close(fd);
}

static void test_gauge_of_a_program_with_lines_in_its_name_has_its_own_alone(void **state)
{
	char *before = program_invocation_short_name, name[] = "a\nkept 9", reply[2048];
	ssize_t len;
	int fd;

	(void)state;
	open_it();
	fd = ask();
	program_invocation_short_name = name;
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	program_invocation_short_name = before;
	len = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	assert_true(len > 0);
	reply[len] = 0;
	assert_non_null(strstr(reply, "\nprogram a?kept 9\n"));
	assert_null(strstr(reply, "\nkept 9\n"));
	close(fd);
}

static void test_gauge_is_not_put_where_others_may_write_or_where_there_is_nothing(void **state)
{
	(void)state;
	assert_int_equal(chmod(directory, 0770), 0);
	open_it();
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	open_it();
	assert_int_equal(chmod(directory, 0700), 0);
	/* As root alone: another's may be theirs to take away. */
	if (!chown(directory, 65534, (gid_t)-1)) {
		setenv("XDG_RUNTIME_DIR", directory, 1);
		open_it();
	}
	setenv("XDG_RUNTIME_DIR", "tmp", 1);
	open_it();
	assert_null(gauge.source.loop);
}

/* A daemon, sudo and cron have no session that would set it: what reads it looks there, too. */
static void test_gauge_without_a_runtime_directory_in_the_environment_is_in_that_of_its_user(void **state)
{
	char own[64];

	(void)state;
	snprintf(own, sizeof(own), "/run/user/%u", (unsigned)geteuid());
	unsetenv("XDG_RUNTIME_DIR");
	rcm_gauge_want(&gauge);
	assert_string_equal(gauge.directory, own);
	setenv("XDG_RUNTIME_DIR", "", 1);
	rcm_gauge_want(&gauge);
	assert_string_equal(gauge.directory, own);
}

static void test_gauge_takes_the_place_of_what_a_killed_process_left(void **state)
{
	char path[sizeof(gauge.path)];
	int fd;

	(void)state;
	assert_true(rcm_gauge_path(directory, (uint64_t)getpid(), path, sizeof(path)));
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	open_it();
	assert_non_null(gauge.source.loop);
	close(ask());
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

static int bind_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* As the child of a fork leaves one that ends by _exit(2); its process has been waited for. */
static void leave_one(char path[108])
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(rcm_gauge_path(directory, (uint64_t)pid, path, 108));
	close(bind_at(path));
	assert_true(is_there(path));
}

static void test_gauge_sweeps_away_what_is_left_of_others_when_it_is_opened_and_at_the_end(void **state)
{
	char path[108];

	(void)state;
	leave_one(path);
	open_it();
	assert_false(is_there(path));
	assert_true(is_there(gauge.path));
	leave_one(path);
	rcm_gauge_remove(&gauge);
	assert_false(is_there(path));
}

/* Of a process that lives, and of those that aren't seen from here, in another container say, but listen, or soon will. */
static void test_gauge_leaves_what_others_have_and_what_is_none(void **state)
{
	enum { LISTENS, BINDS, FILES, OTHERS = 5 };
	static const char *const others[OTHERS] = {
		"rai-4194304.stats", "rai-4194305.stats", "rai-1.stats", "rai-7.stats.old", "rai-x.stats",
	};
	int fds[OTHERS];
	char path[108];

	(void)state;
	for (unsigned i = 0; i < OTHERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, others[i]);
		fds[i] = i < FILES ? bind_at(path) : open(path, O_CREAT | O_WRONLY, 0600);
		assert_true(fds[i] >= 0);
	}
	assert_int_equal(listen(fds[LISTENS], 1), 0);
	open_it();
	rcm_gauge_remove(&gauge);
	for (unsigned i = 0; i < OTHERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, others[i]);
		assert_int_equal(unlink(path), 0);
		close(fds[i]);
	}
}

static void test_gauge_of_the_parent_is_left_alone_by_a_child(void **state)
{
	struct rcm_gauge childs;

	(void)state;
	open_it();
	childs = gauge;
	childs.pid++;
	rcm_gauge_remove(&childs);	/* as another process */
	assert_int_equal(access(gauge.path, F_OK), 0);
	childs = gauge;
	rcm_gauge_abandon(&childs);
	assert_null(childs.source.loop);
	rcm_gauge_remove(&childs);
	assert_int_equal(access(gauge.path, F_OK), 0);
	rcm_gauge_remove(&gauge);
	assert_int_equal(access(gauge.path, F_OK), -1);
}

/* exit(3) may come while the thread begins. */
static void test_gauge_of_a_process_that_ends_is_not_opened_any_more(void **state)
{
	(void)state;
	rcm_gauge_remove(&gauge);
	open_it();
	assert_null(gauge.source.loop);
	assert_int_equal(gauge.pid, 0);
}

/* ---- The end of the process while the name is being made ---- */

static bool ends_at_bind;
static pthread_t ender;
static atomic_int ender_tid;
static atomic_bool ended;

static void *process_ends(void *unused)
{
	(void)unused;
	ender_tid = gettid();
	rcm_gauge_remove(&gauge);
	ended = true;
	return NULL;
}

/* In place of libc's: the process ends right before, until it waits for this thread, or is through. */
int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	char futex[16];

	if (ends_at_bind) {
		ends_at_bind = false;
		snprintf(futex, sizeof(futex), "%ld ", (long)SYS_futex);
		assert_int_equal(pthread_create(&ender, NULL, process_ends, NULL), 0);
		while (!ended && !(gauge.over && thread_sleeps_in(ender_tid, futex)))
			sched_yield();
	}
	return (int)syscall(SYS_bind, fd, address, len);
}

static void test_gauge_that_is_being_made_when_the_process_ends_leaves_no_name(void **state)
{
	(void)state;
	ended = false;
	ends_at_bind = true;
	open_it();
	assert_int_equal(pthread_join(ender, NULL), 0);
	assert_false(is_there(gauge.path));
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int i = 0; i < 256; i++)
		count += fcntl(i, F_GETFD) >= 0;
	return count;
}

static void test_gauge_that_can_not_be_made_leaves_nothing(void **state)
{
	struct rcm_loop lost = { .epfd = -1 };
	char path[sizeof(gauge.path)], long_one[200];
	unsigned open = descriptors();

	(void)state;
	/* Its name is a directory's. */
	assert_true(rcm_gauge_path(directory, (uint64_t)getpid(), path, sizeof(path)));
	assert_int_equal(mkdir(path, 0700), 0);
	open_it();
	assert_null(gauge.source.loop);
	assert_int_equal(gauge.pid, 0);
	assert_int_equal(descriptors(), open);
	assert_int_equal(rmdir(path), 0);
	/* A loop that takes no more. */
	rcm_gauge_open(&gauge, &lost, show, &gauge);
	assert_null(gauge.source.loop);
	assert_int_equal(gauge.pid, 0);
	assert_int_equal(descriptors(), open);
	assert_false(is_there(path));
	/* Directories that have no room for it, or that there is none for. */
	memset(long_one, 'x', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = 0;
	setenv("XDG_RUNTIME_DIR", long_one, 1);
	open_it();
	assert_null(gauge.source.loop);
	setenv("XDG_RUNTIME_DIR", directory, 1);
	open_it();
	assert_non_null(gauge.source.loop);
	assert_int_equal(gauge.pid, getpid());
	assert_true(is_there(path));
}

static void test_gauge_path_that_is_too_long_is_refused(void **state)
{
	char long_one[120], path[sizeof(gauge.path)];

	(void)state;
	memset(long_one, 'x', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = 0;
	assert_false(rcm_gauge_path(long_one, 1, path, sizeof(path)));
	assert_true(rcm_gauge_path("/run/user/1000", 4194304, path, sizeof(path)));
	assert_string_equal(path, "/run/user/1000/rai-4194304.stats");
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_gauge_that_nobody_asked_for_is_not_there),
		IN_DIRECTORY(test_gauge_is_for_its_user_alone_and_tells_the_counters),
		IN_DIRECTORY(test_gauge_answers_so_many_a_turn_and_waits_for_nobody),
		IN_DIRECTORY(test_gauge_is_where_the_environment_said_before_its_thread_began),
		IN_DIRECTORY(test_gauge_that_may_not_accept_rests_for_a_while_and_does_not_spin),
		IN_DIRECTORY(test_gauge_of_a_program_with_a_long_name_has_all_counters),
		IN_DIRECTORY(test_gauge_of_a_program_with_lines_in_its_name_has_its_own_alone),
		IN_DIRECTORY(test_gauge_is_not_put_where_others_may_write_or_where_there_is_nothing),
		IN_DIRECTORY(test_gauge_without_a_runtime_directory_in_the_environment_is_in_that_of_its_user),
		IN_DIRECTORY(test_gauge_takes_the_place_of_what_a_killed_process_left),
		IN_DIRECTORY(test_gauge_sweeps_away_what_is_left_of_others_when_it_is_opened_and_at_the_end),
		IN_DIRECTORY(test_gauge_leaves_what_others_have_and_what_is_none),
		IN_DIRECTORY(test_gauge_of_the_parent_is_left_alone_by_a_child),
		IN_DIRECTORY(test_gauge_of_a_process_that_ends_is_not_opened_any_more),
		IN_DIRECTORY(test_gauge_that_is_being_made_when_the_process_ends_leaves_no_name),
		cmocka_unit_test(test_gauge_path_that_is_too_long_is_refused),
		IN_DIRECTORY(test_gauge_that_can_not_be_made_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
