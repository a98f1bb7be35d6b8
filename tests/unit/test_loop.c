/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop with two pipes. */
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/limits.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_source sources[2];
static int pipes[2][2];
static int served;

static int wait_errno;			/* with which each wait fails; 0: none does */
static unsigned waits, calls_around;

int __real_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms);
int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms);

int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms)
{
	waits++;
	if (!wait_errno)
		return __real_epoll_wait(epfd, events, max, timeout_ms);
	errno = wait_errno;
	return -1;
}

static void serve(struct rcm_source *source, uint32_t events)
{
	(void)source, (void)events;
	served++;
}

static void serve_once(struct rcm_source *source, uint32_t events)
{
	serve(source, events);
	rcm_source_remove(source);
}

static void around(struct rcm_loop *of)
{
	assert_ptr_equal(of, &loop);
	calls_around++;
}

static void remove_both(struct rcm_source *source, uint32_t events)
{
	(void)source;
	assert_true(events & RCM_READABLE);
	served++;
	rcm_source_remove(&sources[0]);
	rcm_source_remove(&sources[1]);
}

static void test_source_removed_in_the_same_turn_is_not_served(void **state)
{
	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		assert_int_equal(rcm_source_add(&loop, &sources[i], pipes[i][0], RCM_READABLE, remove_both), 0);
		assert_int_equal(write(pipes[i][1], "x", 1), 1);
	}
	assert_int_equal(rcm_loop_turn(&loop, -1), 0);
	assert_int_equal(served, 1);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 1);
	rcm_loop_done(&loop);
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
}

/* As a filter of system calls does. */
static void test_loop_that_may_not_wait_is_refused_and_leaves_no_descriptor(void **state)
{
	struct rcm_loop none = { .epfd = -7 };
	int next = dup(0);

	(void)state;
	close(next);
	wait_errno = EPERM;
	assert_int_equal(rcm_loop_init(&none), -EPERM);
	assert_int_equal(none.epfd, -7);
	assert_int_equal(fcntl(next, F_GETFD), -1);
	wait_errno = EINTR;
	assert_int_equal(rcm_loop_init(&none), 0);
	wait_errno = 0;
	rcm_loop_done(&none);
	assert_int_equal(none.epfd, -1);
	assert_int_equal(fcntl(next, F_GETFD), -1);
}

static void test_loop_whose_wait_fails_says_so_and_serves_nothing(void **state)
{
	struct rcm_source source;
	int fd = eventfd(1, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_source_add(&loop, &source, fd, RCM_READABLE, serve), 0);
	loop.before_wait = loop.after_wait = around;
	served = 0;
	calls_around = 0;
	wait_errno = EINVAL;
	assert_int_equal(rcm_loop_turn(&loop, 0), -EINVAL);
	wait_errno = EINTR;
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 0);
	wait_errno = 0;
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 1);
	assert_int_equal(calls_around, 6);
	rcm_source_remove(&source);
	rcm_source_remove(&source);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 1);
	close(fd);
	rcm_loop_done(&loop);
}

static void test_loop_serves_so_many_a_turn_and_the_rest_in_the_next(void **state)
{
	static struct rcm_source many[RCM_TURN_EVENTS + 1];
	int fds[RCM_TURN_EVENTS + 1];

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	for (unsigned i = 0; i <= RCM_TURN_EVENTS; i++) {
		fds[i] = eventfd(1, EFD_CLOEXEC);
		assert_int_equal(rcm_source_add(&loop, &many[i], fds[i], RCM_READABLE, serve_once), 0);
	}
	served = 0;
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, RCM_TURN_EVENTS);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, RCM_TURN_EVENTS + 1);
	rcm_loop_done(&loop);
	for (unsigned i = 0; i <= RCM_TURN_EVENTS; i++)
		close(fds[i]);
}

static void test_source_that_epoll_refuses_is_in_no_loop(void **state)
{
	struct rcm_source source;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = eventfd(1, EFD_CLOEXEC), copy = dup(fd);

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_source_add(&loop, &source, file, RCM_READABLE, serve), -EPERM);
	assert_null(source.loop);
	assert_int_equal(rcm_source_arm(&source, RCM_READABLE | RCM_EDGE), 0);
	/* One that was closed can't be changed, and is what it was. */
	assert_int_equal(rcm_source_add(&loop, &source, copy, RCM_READABLE, serve), 0);
	close(copy);
	assert_int_equal(rcm_source_change(&source, RCM_READABLE), 0);
	assert_int_equal(rcm_source_change(&source, 0), -EBADF);
	assert_int_equal(source.events, RCM_READABLE);
	assert_int_equal(rcm_source_arm(&source, RCM_EDGE), -EBADF);
	rcm_loop_done(&loop);
	close(fd);
	close(file);
}

static void test_source_is_told_of_what_it_was_changed_to_alone(void **state)
{
	struct rcm_source source;
	int fd = eventfd(1, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_source_add(&loop, &source, fd, RCM_READABLE, serve), 0);
	served = 0;
	assert_int_equal(rcm_source_change(&source, 0), 0);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 0);
	assert_int_equal(rcm_source_change(&source, RCM_WRITABLE), 0);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 1);
	/* Once for each time that it is armed. */
	assert_int_equal(rcm_source_arm(&source, RCM_READABLE | RCM_EDGE), 0);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(served, 2);
	rcm_source_remove(&source);
	rcm_loop_done(&loop);
	close(fd);
}

/* Whose number the program has for an event loop of its own. */
static void test_loop_that_is_the_programs_is_not_its_own_and_stays_as_it_is(void **state)
{
	struct rcm_source witness;
	int fd = rcm_fds_open_ready(), theirs = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event any = { .events = EPOLLIN };

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_true(rcm_loop_is_own(&loop));
	assert_int_equal(rcm_source_add(&loop, &witness, fd, 0, serve), 0);
	loop.witness = &witness;
	assert_true(rcm_loop_is_own(&loop));
	assert_int_equal(dup3(theirs, loop.epfd, O_CLOEXEC), loop.epfd);
	assert_false(rcm_loop_is_own(&loop));
	waits = 0;
	assert_int_equal(rcm_loop_turn(&loop, 0), -EBADF);
	assert_int_equal(waits, 0);
	/* Nothing was left in it. */
	assert_int_equal(epoll_ctl(theirs, EPOLL_CTL_ADD, fd, &any), 0);
	rcm_fds_close(fd);
	close(theirs);
	close(loop.epfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_removed_in_the_same_turn_is_not_served),
		cmocka_unit_test(test_loop_that_may_not_wait_is_refused_and_leaves_no_descriptor),
		cmocka_unit_test(test_loop_whose_wait_fails_says_so_and_serves_nothing),
		cmocka_unit_test(test_loop_serves_so_many_a_turn_and_the_rest_in_the_next),
		cmocka_unit_test(test_source_that_epoll_refuses_is_in_no_loop),
		cmocka_unit_test(test_source_is_told_of_what_it_was_changed_to_alone),
		cmocka_unit_test(test_loop_that_is_the_programs_is_not_its_own_and_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
