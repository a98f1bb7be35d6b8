/* SPDX-License-Identifier: BSD-2-Clause */
/* Ringing a loop from another thread. */
#include "loop/wake.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static struct rcm_loop loop;
static struct rcm_wake wake;
static int calls;

static void count(struct rcm_wake *w)
{
	(void)w;
	calls++;
}

static void *ring(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		rcm_wake_ring(&wake);
	return NULL;
}

enum { POSTS = 100000 };

static atomic_int posted;
static int seen;

static void look(struct rcm_wake *w)
{
	(void)w;
	seen = posted;
}

static void *post(void *arg)
{
	(void)arg;
	for (int i = 0; i < POSTS; i++) {
		posted++;
		rcm_wake_ring(&wake);
	}
	return NULL;
}

static void test_wake_many_rings_before_a_turn_serve_once(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	assert_int_equal(pthread_create(&thread, NULL, ring, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rcm_loop_turn(&loop, -1), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(calls, 1);
	rcm_wake_ring(&wake);
	assert_int_equal(rcm_loop_turn(&loop, -1), 0);
	assert_int_equal(calls, 2);
	rcm_wake_done(&wake);
	rcm_loop_done(&loop);
}

/* What was served once isn't served again, and what comes then is, though nothing was ever read. */
static void test_wake_each_ring_after_a_turn_serves_again(void **state)
{
	(void)state;
	calls = 0;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	for (int i = 1; i <= 1000; i++) {
		rcm_wake_ring(&wake);
		assert_int_equal(rcm_loop_turn(&loop, -1), 0);
		assert_int_equal(calls, i);
	}
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(calls, 1000);
	rcm_wake_done(&wake);
	rcm_loop_done(&loop);
}

/* One thread rings while the loop is served: the last is never lost. */
static void test_wake_rung_while_it_is_served_is_served_again(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, look), 0);
	assert_int_equal(pthread_create(&thread, NULL, post, NULL), 0);
	while (seen < POSTS)
		assert_int_equal(rcm_loop_turn(&loop, -1), 0);
	pthread_join(thread, NULL);
	rcm_wake_done(&wake);
	rcm_loop_done(&loop);
}

/* The eventfd's number is a file of the program's by now. */
static void test_wake_whose_descriptors_were_closed_says_so_and_writes_to_nobodys_file(void **state)
{
	int own = memfd_create("own", MFD_CLOEXEC);
	struct stat st;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	loop.witness = &wake.source;
	assert_true(rcm_loop_is_own(&loop));
	assert_int_equal(dup2(own, wake.source.fd), wake.source.fd);
	assert_false(rcm_wake_ring(&wake));
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_false(rcm_loop_is_own(&loop));
	assert_int_equal(rcm_loop_turn(&loop, -1), -EBADF);
	rcm_wake_done(&wake);
	rcm_loop_done(&loop);
	close(own);
}

/* An event loop of the program's has both numbers by now, the second in the first. */
static void test_wake_whose_descriptors_are_the_programs_loop_by_now_leaves_that_as_it_is(void **state)
{
	struct epoll_event watched = { .events = 0, .data.u64 = 77 }, told = { 0 };
	int own = epoll_create1(EPOLL_CLOEXEC), member = eventfd(1, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	loop.witness = &wake.source;
	assert_int_equal(dup2(own, loop.epfd), loop.epfd);
	assert_int_equal(dup2(member, wake.source.fd), wake.source.fd);
	assert_int_equal(epoll_ctl(loop.epfd, EPOLL_CTL_ADD, wake.source.fd, &watched), 0);
	assert_false(rcm_loop_is_own(&loop));
	assert_false(rcm_wake_ring(&wake));
	assert_int_equal(epoll_wait(own, &told, 1, 0), 0);
	assert_int_equal(rcm_loop_turn(&loop, 0), -EBADF);
	rcm_wake_done(&wake);
	rcm_loop_done(&loop);
	close(own);
	close(member);
}

static void test_wake_whose_loop_alone_was_closed_says_so_each_time(void **state)
{
	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	close(loop.epfd);
	assert_false(rcm_wake_ring(&wake));
	assert_false(rcm_wake_ring(&wake));
	rcm_wake_done(&wake);
}

static int its_member;

static void replace_loop(struct rcm_loop *its)
{
	struct epoll_event watched = { .events = EPOLLIN, .data.u64 = 77 };
	int own = epoll_create1(EPOLL_CLOEXEC);

	its_member = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(epoll_ctl(own, EPOLL_CTL_ADD, its_member, &watched), 0);
	assert_int_equal(dup2(own, its->epfd), its->epfd);
	close(own);
	close(wake.source.fd);
}

/* What is told there is no source of the loop's. */
static void test_wake_whose_loop_is_the_programs_by_the_time_that_it_waits_serves_nothing(void **state)
{
	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_wake_init(&loop, &wake, count), 0);
	loop.witness = &wake.source;
	loop.before_wait = replace_loop;
	assert_int_equal(rcm_loop_turn(&loop, -1), -EBADF);
	close(its_member);
	rcm_loop_done(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wake_many_rings_before_a_turn_serve_once),
		cmocka_unit_test(test_wake_each_ring_after_a_turn_serves_again),
		cmocka_unit_test(test_wake_rung_while_it_is_served_is_served_again),
		cmocka_unit_test(test_wake_whose_descriptors_were_closed_says_so_and_writes_to_nobodys_file),
		cmocka_unit_test(test_wake_whose_loop_is_the_programs_by_the_time_that_it_waits_serves_nothing),
		cmocka_unit_test(test_wake_whose_loop_alone_was_closed_says_so_each_time),
		cmocka_unit_test(test_wake_whose_descriptors_are_the_programs_loop_by_now_leaves_that_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
