/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: shown, hidden, the kernel's beside it, and covering a bare one. */
#include "cm/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fds.h"
#include "test.h"
#include "zero_fd.h"

static struct rcm_readiness readiness;
static int fd, kernel_fd;

static int set_up(void **state)
{
	(void)state;
	kernel_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return rcm_readiness_open(&readiness, kernel_fd, &fd);
}

static int tear_down(void **state)
{
	(void)state;
	if (rcm_readiness_close(&readiness, fd))
		close(fd);
	assert_false(rcm_readiness_close(&readiness, fd));
	return close(kernel_fd);
}

static bool is_readable(int of)
{
	struct pollfd p = { .fd = of, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static int edge_of(int of)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, of, &e), 0);
	return epfd;
}

static bool is_woken(int epfd)
{
	struct epoll_event e;

	return epoll_wait(epfd, &e, 1, 0) == 1;
}

static void test_readiness_is_what_is_shown_or_the_kernel_has(void **state)
{
	(void)state;
	assert_false(is_readable(fd));
	rcm_readiness_show(&readiness, fd);
	rcm_readiness_show(&readiness, fd);
	assert_true(is_readable(fd));
	assert_false(rcm_readiness_hide(&readiness, fd));
	assert_false(is_readable(fd));
	eventfd_write(kernel_fd, 1);
	assert_true(is_readable(fd));
	assert_false(rcm_readiness_hide(&readiness, fd));
	assert_true(is_readable(fd));
}

static void test_readiness_hidden_says_that_the_kernel_has_an_event(void **state)
{
	(void)state;
	rcm_readiness_show(&readiness, fd);
	eventfd_write(kernel_fd, 1);
	assert_true(rcm_readiness_hide(&readiness, fd));
	assert_true(is_readable(fd));
}

static void test_readiness_wakes_an_edge_each_time_it_is_shown(void **state)
{
	int epfd = edge_of(fd);

	(void)state;
	for (int i = 0; i < 10; i++) {
		rcm_readiness_show(&readiness, fd);
		assert_true(is_woken(epfd));
		assert_false(is_woken(epfd));
		rcm_readiness_hide(&readiness, fd);
	}
	close(epfd);
}

/* As MIGRATE_ID does: readable, and nobody was woken. That it knows the descriptor and had it on its list is no excuse. */
static void test_readiness_looks_again_at_what_is_readable_already(void **state)
{
	int epfd = edge_of(fd);

	(void)state;
	for (int i = 0; i < 3; i++) {
		eventfd_write(kernel_fd, 1);
		assert_true(is_woken(epfd));
		assert_false(is_woken(epfd));
		rcm_readiness_look_again(&readiness, fd, kernel_fd);
		assert_true(is_woken(epfd));
	}
	close(epfd);
}

static void test_readiness_covers_a_bare_descriptor_under_its_number(void **state)
{
	struct rcm_readiness over = RCM_READINESS_CLOSED;
	int bare = eventfd(0, EFD_CLOEXEC);
	atomic_int moved = bare;

	(void)state;
	assert_int_equal(rcm_readiness_cover(&over, bare, &moved), 0);
	assert_int_not_equal(moved, bare);
	assert_false(fcntl(bare, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(moved, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(bare, F_GETFD) & fcntl(moved, F_GETFD) & FD_CLOEXEC);
	assert_false(is_readable(bare));
	rcm_readiness_show(&over, bare);
	assert_true(is_readable(bare));
	rcm_readiness_hide(&over, bare);
	eventfd_write(moved, 1);
	assert_true(is_readable(bare));
	assert_true(rcm_readiness_close(&over, bare));
	close(bare);
	close(moved);
}

static void test_readiness_covering_keeps_o_nonblock(void **state)
{
	struct rcm_readiness over = RCM_READINESS_CLOSED;
	int bare = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_int moved = bare;

	(void)state;
	assert_int_equal(rcm_readiness_cover(&over, bare, &moved), 0);
	assert_true(fcntl(bare, F_GETFL) & O_NONBLOCK);
	assert_true(rcm_readiness_close(&over, bare));
	close(bare);
	close(moved);
}

/* With none to three descriptors left of those that it takes. */
static void test_readiness_that_cannot_cover_leaves_all_as_it_was(void **state)
{
	struct rcm_readiness over = RCM_READINESS_CLOSED;
	int bare = eventfd(0, EFD_CLOEXEC), next;
	atomic_int moved = bare;
	struct rlimit limit, few;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	next = dup(bare);
	close(next);
	for (int left = 0; left < 3; left++) {
		few = (struct rlimit){ (rlim_t)(next + left), limit.rlim_max };
		setrlimit(RLIMIT_NOFILE, &few);
		assert_int_equal(rcm_readiness_cover(&over, bare, &moved), -EMFILE);
		setrlimit(RLIMIT_NOFILE, &limit);
		assert_int_equal(moved, bare);
		assert_int_equal(over.due_fd, -1);
		eventfd_write(bare, 1);
		assert_true(is_readable(bare));
		assert_int_equal(dup(bare), next);
		close(next);
	}
	close(bare);
}

/* One descriptor after the other is 0, over 0 or another. */
static void test_readiness_of_descriptor_0_is_as_any(void **state)
{
	struct rcm_readiness zero = RCM_READINESS_CLOSED;
	int own, watched;

	(void)state;
	for (unsigned nth = 1; nth <= 3; nth++) {
		zero_fd_begin(nth);
		watched = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_int_equal(rcm_readiness_open(&zero, watched, &own), 0);
		assert_int_equal(nth == 1 ? watched : nth == 2 ? own : zero.due_fd, 0);
		assert_true(zero.witness.open);
		rcm_readiness_show(&zero, own);
		assert_true(is_readable(own));
		rcm_fds_doubt();
		rcm_readiness_hide(&zero, own);
		assert_false(is_readable(own));
		eventfd_write(watched, 1);
		assert_true(is_readable(own));
		assert_int_equal(rcm_readiness_renew(&zero, watched, &own), 0);
		assert_true(is_readable(own));
		assert_true(rcm_readiness_is_over(own, watched));
		assert_true(rcm_readiness_close(&zero, own));
		close(own);
		close(watched);
		assert_true(fcntl(0, F_GETFD) < 0);
		assert_true(zero_fd_end());
	}
}

/* The same over a device's own file: that is the proof then. */
static void test_readiness_over_a_device_may_have_descriptor_0(void **state)
{
	struct rcm_readiness zero = RCM_READINESS_CLOSED;
	int own, device;

	(void)state;
	for (unsigned nth = 0; nth <= 2; nth++) {
		zero_fd_begin(nth);
		if (!nth)
			close(0);
		device = open("/dev/random", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		assert_int_equal(rcm_readiness_open(&zero, device, &own), 0);
		assert_int_equal(nth == 0 ? device : nth == 1 ? own : zero.due_fd, 0);
		assert_int_equal(zero.witness_fd, device);
		assert_true(rcm_readiness_close(&zero, own));
		close(own);
		close(device);
		zero_fd_end();
	}
}

static void test_readiness_covering_may_move_to_descriptor_0(void **state)
{
	struct rcm_readiness over = RCM_READINESS_CLOSED;
	int bare = eventfd(0, EFD_CLOEXEC);
	atomic_int moved = bare;

	(void)state;
	zero_fd_begin(0);
	close(0);
	assert_int_equal(rcm_readiness_cover(&over, bare, &moved), 0);
	assert_int_equal(moved, 0);
	eventfd_write(moved, 1);
	assert_true(is_readable(bare));
	assert_true(rcm_readiness_close(&over, bare));
	close(bare);
	zero_fd_end();
}

/* Whether it can be told takes no descriptor. */
static void set_descriptors_left(bool any)
{
	static struct rlimit limit;

	if (any) {
		setrlimit(RLIMIT_NOFILE, &limit);
		return;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max });
}

static void move(int from, int to)
{
	if (from == to)
		return;
	assert_int_equal(dup3(from, to, O_CLOEXEC), to);
	close(from);
}

/* An event loop of the program's, by the number that fd was, over another file of its by the number that due_fd was. */
static void take_numbers(int due_fd)
{
	struct epoll_event theirs = { .events = EPOLLIN, .data.u64 = 7 };

	move(epoll_create1(EPOLL_CLOEXEC), fd);
	move(eventfd(1, EFD_CLOEXEC), due_fd);
	assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, due_fd, &theirs), 0);
	assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, kernel_fd, &theirs), 0);
}

static void assert_untouched(void)
{
	struct epoll_event ready;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(epoll_wait(fd, &ready, 1, 0), 1);
		assert_int_equal(ready.data.u64, 7);
	}
}

/* A program that has closed all descriptors. */
static void test_readiness_that_was_closed_leaves_alone_what_has_its_numbers(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	rcm_readiness_show(&readiness, fd);
	take_numbers(due_fd);
	rcm_fds_doubt();
	set_descriptors_left(false);
	assert_false(rcm_readiness_hide(&readiness, fd));
	rcm_readiness_show(&readiness, fd);
	rcm_readiness_look_again(&readiness, fd, kernel_fd);
	set_descriptors_left(true);
	assert_false(rcm_readiness_close(&readiness, fd));
	assert_untouched();
	close(due_fd);
	close(fd);
}

static void test_readiness_that_was_closed_looks_at_nothing_again(void **state)
{
	struct epoll_event ready;
	int due_fd = readiness.due_fd;

	(void)state;
	take_numbers(due_fd);
	rcm_fds_doubt();
	eventfd_write(kernel_fd, 1);
	rcm_readiness_look_again(&readiness, fd, kernel_fd);
	close(due_fd);
	assert_int_equal(epoll_wait(fd, &ready, 1, 0), 1);
	assert_int_equal(ready.data.u64, 7);
	close(fd);
}

/* Nobody has said that there is a doubt. */
static void test_readiness_that_was_closed_is_not_closed_again(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	take_numbers(due_fd);
	assert_false(rcm_readiness_close(&readiness, fd));
	assert_untouched();
	close(due_fd);
	close(fd);
}

/* Closed, doubted and shown while nobody had the number; then an event loop of the program's gets it. */
static void test_readiness_whose_number_was_free_at_the_doubt_leaves_alone_who_gets_it(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	close(fd);
	rcm_fds_doubt();
	rcm_readiness_show(&readiness, fd);
	take_numbers(due_fd);
	assert_false(rcm_readiness_hide(&readiness, fd));
	assert_untouched();
	close(due_fd);
	close(fd);
}

static void test_readiness_that_lost_one_number_leaves_the_other_to_nobody(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	close(fd);
	rcm_fds_doubt();
	rcm_readiness_show(&readiness, fd);
	assert_true(fcntl(due_fd, F_GETFD) < 0);
}

static void test_readiness_tells_what_it_is_over(void **state)
{
	int other = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_true(rcm_readiness_is_over(fd, kernel_fd));
	assert_false(rcm_readiness_is_over(fd, other));
	assert_false(rcm_readiness_is_over(fd, other));
	assert_false(rcm_readiness_is_over(fd, -1));
	close(other);
}

/* As where a filter of system calls hides what a number is: that two belong together is enough then, and asked anew. */
static void test_readiness_of_which_nobody_can_tell_works_until_it_is_lost(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	readiness.witness = (struct rcm_file){ 0 };
	rcm_fds_doubt();
	rcm_readiness_show(&readiness, fd);
	assert_true(is_readable(fd));
	rcm_readiness_hide(&readiness, fd);
	assert_false(is_readable(fd));
	close(fd);
	rcm_readiness_show(&readiness, fd);
	take_numbers(due_fd);
	assert_false(rcm_readiness_close(&readiness, fd));
	assert_untouched();
	close(due_fd);
	close(fd);
}

static void test_readiness_that_is_there_still_works_on_after_a_doubt(void **state)
{
	(void)state;
	rcm_fds_doubt();
	rcm_readiness_show(&readiness, fd);
	assert_true(is_readable(fd));
	rcm_fds_doubt();
	rcm_readiness_hide(&readiness, fd);
	assert_false(is_readable(fd));
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int i = 0; i < 256; i++)
		count += fcntl(i, F_GETFD) >= 0;
	return count;
}

/* As in the child of a fork: what the parent has is as it was. */
static void test_readiness_renewed_has_its_number_and_o_nonblock_and_shows_nothing(void **state)
{
	int parents = dup(fd), before = fd, due_fd = readiness.due_fd, copy = dup(due_fd);
	unsigned open = descriptors();

	(void)state;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	rcm_readiness_show(&readiness, fd);
	assert_int_equal(rcm_readiness_renew(&readiness, kernel_fd, &fd), 0);
	assert_int_equal(fd, before);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_false(is_readable(fd));
	assert_true(is_readable(parents));
	assert_int_equal(fcntl(due_fd, F_GETFD), -1);
	assert_int_equal(descriptors(), open);
	rcm_readiness_show(&readiness, fd);
	assert_true(is_readable(fd));
	close(copy);
	close(parents);
}

static void test_readiness_renewed_leaves_a_file_that_has_its_old_number_alone(void **state)
{
	int due_fd = readiness.due_fd;

	(void)state;
	assert_int_equal(dup3(kernel_fd, due_fd, O_CLOEXEC), due_fd);
	assert_int_equal(rcm_readiness_renew(&readiness, kernel_fd, &fd), 0);
	assert_true(fcntl(due_fd, F_GETFD) >= 0);
	close(due_fd);
	close(fd);
	fd = -1;
	assert_int_equal(rcm_readiness_renew(&readiness, kernel_fd, &fd), 0);
	assert_true(fcntl(fd, F_GETFD) >= 0);
}

/* The device's file, which is proof enough, costs no event anything. */
static void test_readiness_over_a_device_is_proven_by_that(void **state)
{
	int device = open("/dev/random", O_RDONLY | O_CLOEXEC | O_NONBLOCK), own, due_fd;
	struct rcm_readiness over = RCM_READINESS_CLOSED;

	(void)state;
	assert_int_equal(rcm_readiness_open(&over, device, &own), 0);
	assert_int_equal(over.witness_fd, device);
	rcm_fds_doubt();
	rcm_readiness_show(&over, own);
	assert_true(over.shown);
	assert_int_equal(over.doubts, rcm_fds_doubts());
	due_fd = over.due_fd;
	close(device);
	assert_int_equal(open("/dev/zero", O_RDONLY | O_CLOEXEC), device);
	assert_false(rcm_readiness_close(&over, own));
	assert_true(fcntl(due_fd, F_GETFD) >= 0);
	close(due_fd);
	close(own);
	close(device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_readiness_is_what_is_shown_or_the_kernel_has),
		TEST(test_readiness_hidden_says_that_the_kernel_has_an_event),
		TEST(test_readiness_wakes_an_edge_each_time_it_is_shown),
		TEST(test_readiness_looks_again_at_what_is_readable_already),
		TEST(test_readiness_covers_a_bare_descriptor_under_its_number),
		TEST(test_readiness_covering_keeps_o_nonblock),
		TEST(test_readiness_that_cannot_cover_leaves_all_as_it_was),
		TEST(test_readiness_of_descriptor_0_is_as_any),
		TEST(test_readiness_over_a_device_may_have_descriptor_0),
		TEST(test_readiness_covering_may_move_to_descriptor_0),
		TEST(test_readiness_renewed_has_its_number_and_o_nonblock_and_shows_nothing),
		TEST(test_readiness_renewed_leaves_a_file_that_has_its_old_number_alone),
		TEST(test_readiness_that_was_closed_leaves_alone_what_has_its_numbers),
		TEST(test_readiness_that_was_closed_looks_at_nothing_again),
		TEST(test_readiness_that_was_closed_is_not_closed_again),
		TEST(test_readiness_that_lost_one_number_leaves_the_other_to_nobody),
		TEST(test_readiness_tells_what_it_is_over),
		TEST(test_readiness_over_a_device_is_proven_by_that),
		TEST(test_readiness_of_which_nobody_can_tell_works_until_it_is_lost),
		TEST(test_readiness_whose_number_was_free_at_the_doubt_leaves_alone_who_gets_it),
		TEST(test_readiness_that_is_there_still_works_on_after_a_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
