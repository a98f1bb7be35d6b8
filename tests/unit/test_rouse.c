/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits on a bare descriptor that are roused, and those of the next round. */
#include "cm/rouse.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "few_fds.h"
#include "test.h"
#include "zero_fd.h"

static bool is_roused(const struct rcm_rouse *rouse)
{
	struct pollfd p = { .fd = rcm_rouse_fd(rouse), .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

/* First, as a round is kept for the next. What takes the number at the end makes it one that is lost. */
static void test_rouse_by_descriptor_0_is_as_by_any(void **state)
{
	struct rcm_rouse rouse = { 0 };

	(void)state;
	for (unsigned nth = 1; nth <= 2; nth++) {
		zero_fd_begin(nth);
		assert_true(rcm_rouse_join(&rouse));
		assert_int_equal(rcm_rouse_fd(&rouse) == 0, nth == 1);
		rcm_rouse_all();
		assert_true(is_roused(&rouse));
		rcm_rouse_leave(&rouse);
		assert_true(zero_fd_end());
	}
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* With one or none of the two that a round takes. */
static void test_rouse_without_descriptors_joins_nothing(void **state)
{
	struct rcm_rouse rouse = { 0 };
	int before;

	(void)state;
	closefrom(STDERR_FILENO + 1);
	before = next_fd();
	for (unsigned left = 0; left < 2; left++) {
		few_fds_left(left);
		assert_false(rcm_rouse_join(&rouse));
		few_fds_left(UINT_MAX);
		assert_int_equal(rcm_rouse_fd(&rouse), -1);
		assert_int_equal(next_fd(), before);
		rcm_rouse_all();
		rcm_rouse_leave(&rouse);
	}
	/* Nor the next, once it has been in one. */
	assert_true(rcm_rouse_join(&rouse));
	rcm_rouse_all();
	few_fds_left(0);
	assert_false(rcm_rouse_join(&rouse));
	few_fds_left(UINT_MAX);
	assert_int_equal(rcm_rouse_fd(&rouse), -1);
}

/* Where a filter of system calls allows no socket, nobody can tell one descriptor of the same number from another. */
static void test_rouse_of_a_round_that_was_lost_leaves_the_present_one_roused(void **state)
{
	struct rcm_rouse lost = { 0 }, present = { 0 };

	(void)state;
	closefrom(STDERR_FILENO + 1);
	no_sockets = true;
	assert_true(rcm_rouse_join(&lost));
	closefrom(STDERR_FILENO + 1);
	while (rcm_rouse_join(&present))
		;
	no_sockets = false;
	assert_int_equal(rcm_rouse_fd(&present), rcm_rouse_fd(&lost));
	rcm_rouse_all();
	rcm_rouse_leave(&lost);
	assert_true(is_roused(&present));
	rcm_rouse_leave(&present);
}

static void test_rouse_reaches_all_that_joined_before(void **state)
{
	struct rcm_rouse one = { 0 }, two = { 0 };

	(void)state;
	assert_true(rcm_rouse_join(&one));
	assert_true(rcm_rouse_join(&two));
	assert_int_equal(rcm_rouse_fd(&one), rcm_rouse_fd(&two));
	assert_false(is_roused(&one));
	rcm_rouse_all();
	assert_true(is_roused(&one));
	rcm_rouse_leave(&one);
	assert_true(is_roused(&two));
	rcm_rouse_leave(&two);
}

/* It looks, and waits on. */
static void test_rouse_join_says_once_a_round_that_a_look_is_due(void **state)
{
	struct rcm_rouse rouse = { 0 };

	(void)state;
	assert_true(rcm_rouse_join(&rouse));
	assert_false(rcm_rouse_join(&rouse));
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&rouse));
	assert_false(rcm_rouse_join(&rouse));
	assert_false(is_roused(&rouse));
	rcm_rouse_leave(&rouse);
}

static void test_rouse_of_one_that_is_held_up_leaves_the_next_round_asleep(void **state)
{
	struct rcm_rouse slow = { 0 }, other = { 0 };

	(void)state;
	rcm_rouse_join(&slow);
	rcm_rouse_join(&other);
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&other));
	assert_false(is_roused(&other));
	assert_true(is_roused(&slow));
	rcm_rouse_all();
	assert_true(is_roused(&other));
	rcm_rouse_leave(&slow);
	rcm_rouse_leave(&other);
}

static void test_rouse_takes_the_descriptors_of_rounds_that_all_left(void **state)
{
	struct rcm_rouse slow = { 0 }, other = { 0 };
	int before, after;

	(void)state;
	for (int i = 0; i < 100; i++) {
		rcm_rouse_join(&slow);
		rcm_rouse_join(&other);
		rcm_rouse_all();
		rcm_rouse_join(&other);
		rcm_rouse_leave(&slow);
		rcm_rouse_leave(&other);
		after = dup(STDERR_FILENO);
		close(after);
		before = i ? before : after;
	}
	assert_int_equal(after, before);
}

static void test_rouse_of_nobody_does_nothing(void **state)
{
	struct rcm_rouse rouse = { 0 };

	(void)state;
	rcm_rouse_all();
	assert_true(rcm_rouse_join(&rouse));
	assert_false(is_roused(&rouse));
	rcm_rouse_leave(&rouse);
	assert_int_equal(rcm_rouse_fd(&rouse), -1);
}

enum { FILES = 8 };

/* A daemon's way. */
static void replace_all(int (*open_one)(void), int fds[FILES])
{
	closefrom(STDERR_FILENO + 1);
	for (int i = 0; i < FILES; i++) {
		fds[i] = open_one();
		assert_true(fds[i] >= 0);
	}
}

static int open_file(void)
{
	return memfd_create("own", MFD_CLOEXEC);
}

static int open_epoll(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static void test_rouse_of_closed_descriptors_leaves_the_programs_files_as_they_are(void **state)
{
	struct rcm_rouse before = { 0 }, after = { 0 };
	struct stat st;
	int fds[FILES];

	(void)state;
	rcm_rouse_join(&before);
	replace_all(open_file, fds);
	rcm_rouse_all();
	while (rcm_rouse_join(&after))
		;
	assert_true(rcm_rouse_fd(&after) > fds[FILES - 1]);
	rcm_rouse_leave(&before);
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(fstat(fds[i], &st), 0);
		assert_int_equal(st.st_size, 0);
		close(fds[i]);
	}
	assert_false(is_roused(&after));
	rcm_rouse_all();
	assert_true(is_roused(&after));
	rcm_rouse_leave(&after);
}

/* They are found out before the next wait, not by it. */
static void test_rouse_of_closed_descriptors_does_not_wait_on_the_programs(void **state)
{
	struct epoll_event ready;
	struct rcm_rouse rouse = { 0 };
	int fds[FILES];

	(void)state;
	rcm_rouse_join(&rouse);
	replace_all(open_epoll, fds);
	assert_true(rcm_rouse_join(&rouse));
	assert_true(rcm_rouse_fd(&rouse) > fds[FILES - 1]);
	rcm_rouse_all();
	assert_true(is_roused(&rouse));
	rcm_rouse_leave(&rouse);
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(epoll_wait(fds[i], &ready, 1, 0), 0);
		close(fds[i]);
	}
}

/* An event loop of the program's has both numbers by now, the second in the first. */
static void test_rouse_of_closed_descriptors_leaves_the_programs_event_loop_as_it_is(void **state)
{
	struct epoll_event watched = { .events = 0, .data.u64 = 77 }, told;
	struct rcm_rouse before = { 0 }, after = { 0 };
	int epoll, member;

	(void)state;
	closefrom(STDERR_FILENO + 1);
	rcm_rouse_join(&before);
	rcm_rouse_leave(&before);
	rcm_rouse_join(&before);
	epoll = rcm_rouse_fd(&before);
	closefrom(STDERR_FILENO + 1);
	assert_int_equal(epoll_create1(EPOLL_CLOEXEC), epoll);
	member = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(member, epoll + 1);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, member, &watched), 0);
	rcm_rouse_all();
	assert_int_equal(epoll_wait(epoll, &told, 1, 0), 0);
	rcm_rouse_join(&after);
	assert_true(rcm_rouse_fd(&after) > member);
	rcm_rouse_leave(&before);
	rcm_rouse_all();
	assert_true(is_roused(&after));
	rcm_rouse_leave(&after);
	close(epoll);
	close(member);
}

/* Its descriptors are closed at the fork. */
static void test_rouse_in_the_child_of_a_fork_has_a_round_of_its_own(void **state)
{
	struct rcm_rouse parent = { 0 }, child;
	int status;
	pid_t pid;

	(void)state;
	rcm_rouse_join(&parent);
	pid = fork();
	if (!pid) {
		child = parent;
		if (!rcm_rouse_join(&child) || is_roused(&child))
			_exit(1);
		rcm_rouse_all();
		_exit(!is_roused(&child));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(rcm_rouse_join(&parent));
	assert_false(is_roused(&parent));
	rcm_rouse_leave(&parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rouse_by_descriptor_0_is_as_by_any),
		cmocka_unit_test(test_rouse_without_descriptors_joins_nothing),
		cmocka_unit_test(test_rouse_of_a_round_that_was_lost_leaves_the_present_one_roused),
		cmocka_unit_test(test_rouse_reaches_all_that_joined_before),
		cmocka_unit_test(test_rouse_join_says_once_a_round_that_a_look_is_due),
		cmocka_unit_test(test_rouse_of_one_that_is_held_up_leaves_the_next_round_asleep),
		cmocka_unit_test(test_rouse_takes_the_descriptors_of_rounds_that_all_left),
		cmocka_unit_test(test_rouse_of_nobody_does_nothing),
		cmocka_unit_test(test_rouse_of_closed_descriptors_leaves_the_programs_files_as_they_are),
		cmocka_unit_test(test_rouse_of_closed_descriptors_does_not_wait_on_the_programs),
		cmocka_unit_test(test_rouse_of_closed_descriptors_leaves_the_programs_event_loop_as_it_is),
		cmocka_unit_test(test_rouse_in_the_child_of_a_fork_has_a_round_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
