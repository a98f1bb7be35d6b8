/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of the library's own, and what becomes of them in the child of a fork. */
#include "base/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_fds_of_the_library_are_closed_once(void **state)
{
	int fd = rcm_fds_add(open("/dev/null", O_RDONLY | O_CLOEXEC)), other;

	(void)state;
	assert_true(fd >= 0);
	rcm_fds_close(fd);
	assert_false(is_open(fd));
	other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(other, fd);
	rcm_fds_close(fd);
	rcm_fds_close(-1);
	assert_true(is_open(other));
	close(other);
}

static void test_fds_that_could_not_be_opened_are_the_errno(void **state)
{
	(void)state;
	assert_int_equal(rcm_fds_add(open("/nonexistent", O_RDONLY)), -ENOENT);
}

static void test_fds_above_1024_are_known_as_well(void **state)
{
	struct rlimit limit;
	int fd, high = 5000;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur <= (rlim_t)high)
		high = (int)limit.rlim_cur - 1;
	fd = rcm_fds_add(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, high));
	assert_true(fd >= high);
	assert_true(rcm_fds_forget(fd));
	assert_false(rcm_fds_forget(fd));
	close(fd);
}

static int child(int own, int application)
{
	int again;

	if (is_open(own) || !is_open(application))
		return 1;
	again = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (again != own)
		return 2;
	rcm_fds_close(own);
	return is_open(again) ? 0 : 3;
}

/* a daemon that closes all and opens its own files must lose none of them to a close by number. */
static void test_fds_are_closed_at_the_fork_and_not_again_in_the_child(void **state)
{
	int own = rcm_fds_add(open("/dev/null", O_RDONLY | O_CLOEXEC));
	int application = open("/dev/null", O_RDONLY | O_CLOEXEC), status = -1;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid)
		_exit(child(own, application));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(is_open(own));
	rcm_fds_close(own);
	close(application);
}

/* A program that closes what isn't its own, before it forks. */
static void test_fds_whose_number_is_another_file_by_now_are_left_open_at_a_fork(void **state)
{
	int own = rcm_fds_add(open("/dev/null", O_RDONLY | O_CLOEXEC)), status = -1, theirs;
	pid_t pid;

	(void)state;
	close(own);
	theirs = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(theirs, own);
	pid = fork();
	if (!pid)
		_exit(!is_open(theirs));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_fds_doubt();
	assert_false(rcm_fds_forget(own));
	close(theirs);
}

/* All of a kind look alike to fstat(2), the application's, too. */
static void test_fds_in_doubt_that_have_no_type_are_nobodys(void **state)
{
	int own = rcm_fds_add(eventfd(0, EFD_CLOEXEC));

	(void)state;
	assert_true(own >= 0);
	rcm_fds_doubt();
	assert_false(rcm_fds_forget(own));
	close(own);
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static int open_eventfd(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int open_zero(void)
{
	return open("/dev/zero", O_RDWR | O_CLOEXEC);
}

/* Before anybody has found that the program closed them. */
static void test_fds_without_a_type_are_left_open_at_a_fork_where_others_are_lost(void **state)
{
	int witness = rcm_fds_open_ready(), own = rcm_fds_add(open_eventfd()), status = -1, theirs;
	pid_t pid;

	(void)state;
	close(own);
	close(witness);
	/* Of the two numbers this has the lower one. */
	assert_int_equal(open_zero(), witness);
	theirs = open_eventfd();
	assert_int_equal(theirs, own);
	pid = fork();
	if (!pid)
		_exit(!is_open(theirs));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_fds_doubt();
	close(witness);
	close(theirs);
}

static void test_fds_that_are_ready_are_told_from_all_that_come_by_their_number(void **state)
{
	int own = rcm_fds_open_ready();
	struct pollfd p = { .fd = own, .events = POLLOUT };
	int (*const others[])(void) = { open_socket, open_eventfd, open_zero };

	(void)state;
	assert_true(own >= 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLOUT);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		int first = rcm_fds_open_ready(), other;

		assert_true(rcm_fds_is_same(first));
		close(first);
		assert_false(rcm_fds_is_same(first));
		other = others[i]();
		assert_int_equal(other, first);
		assert_false(rcm_fds_is_same(other));
		close(other);
	}
	assert_true(rcm_fds_is_same(own));
	rcm_fds_close(own);
	assert_false(rcm_fds_is_same(-1));
	assert_false(rcm_fds_is_same(1 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fds_of_the_library_are_closed_once),
		cmocka_unit_test(test_fds_that_could_not_be_opened_are_the_errno),
		cmocka_unit_test(test_fds_above_1024_are_known_as_well),
		cmocka_unit_test(test_fds_whose_number_is_another_file_by_now_are_left_open_at_a_fork),
		cmocka_unit_test(test_fds_in_doubt_that_have_no_type_are_nobodys),
		cmocka_unit_test(test_fds_without_a_type_are_left_open_at_a_fork_where_others_are_lost),
		cmocka_unit_test(test_fds_that_are_ready_are_told_from_all_that_come_by_their_number),
		cmocka_unit_test(test_fds_are_closed_at_the_fork_and_not_again_in_the_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
