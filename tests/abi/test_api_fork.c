/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that forks while its threads are in the library: each child has a library that works. */
#include "api.h"

#include "../unit/asleep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200 / API_SLOWER };

static atomic_bool stop;

static void *make_ids(void *arg)
{
	struct rdma_cm_id *made;

	while (!atomic_load(&stop))
		if (!rdma_create_id(arg, &made, NULL, RDMA_PS_TCP))
			rdma_destroy_id(made);
	return NULL;
}

static void *list_devices(void *arg)
{
	while (!atomic_load(&stop))
		rdma_free_devices(rdma_get_devices(NULL));
	return arg;
}

/* A child that hangs is killed, and seen. */
static int make_one_of_each(void)
{
	struct rdma_event_channel *own;
	struct rdma_cm_id *made, *sync;

	alarm(20);
	own = rdma_create_event_channel();
	if (!own || rdma_create_id(own, &made, NULL, RDMA_PS_TCP) || rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP))
		return 1;
	if (rdma_destroy_id(made) || rdma_destroy_id(sync) || rdma_destroy_id(id))
		return 2;
	rdma_destroy_event_channel(own);
	rdma_destroy_event_channel(channel);
	return 0;
}

static void fork_beside(pthread_t *threads, unsigned count)
{
	for (unsigned i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child)
			_exit(make_one_of_each());
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	while (count--)
		pthread_join(threads[count], NULL);
	atomic_store(&stop, false);
}

static void test_fork_beside_threads_that_make_ids_leaves_a_child_that_makes_its_own(void **state)
{
	struct rdma_event_channel *theirs = rdma_create_event_channel();
	pthread_t threads[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_ids, theirs), 0);
	fork_beside(threads, 2);
	rdma_destroy_event_channel(theirs);
}

static void test_fork_beside_a_thread_that_lists_devices_leaves_a_child_that_works(void **state)
{
	pthread_t thread;

	(void)state;
	if (emulated())
		skip();	/* the emulator's own locks */
	assert_int_equal(pthread_create(&thread, NULL, list_devices, NULL), 0);
	fork_beside(&thread, 1);
}

/* ---- What the child has of its parent ---- */

/* The exit status of a child that runs fn; one that hangs is killed. */
static int status_of_child(int (*fn)(void))
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		_exit(fn());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int end_both(void)
{
	if (rdma_destroy_id(id))
		return 1;
	rdma_destroy_event_channel(channel);
	return 0;
}

static void *take_one(void *arg)
{
	rdma_ack_cm_event(get_event(channel));
	return arg;
}

static void test_fork_beside_a_reader_leaves_a_child_that_ends_channel_and_id(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, take_one, NULL), 0);
	for (int i = 0; i < 20; i++) {
		usleep(1000);
		assert_int_equal(status_of_child(end_both), 0);
	}
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), 0);
	pthread_join(thread, NULL);
}

static void test_fork_while_an_event_is_held_leaves_a_child_that_ends_its_id(void **state)
{
	struct rdma_cm_event *held;

	(void)state;
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), 0);
	held = get_event(channel);
	assert_int_equal(status_of_child(end_both), 0);
	rdma_ack_cm_event(held);
}

static int take_two(void)
{
	struct rdma_cm_event *event;

	for (unsigned i = 0; i < 2; i++) {
		if (!is_readable(channel->fd) || rdma_get_cm_event(channel, &event) || event->param.arg != i)
			return 1;
		rdma_ack_cm_event(event);
	}
	return is_readable(channel->fd) ? 2 : end_both();
}

static int write_one(void)
{
	struct rdma_cm_event *event;

	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 7) || !is_readable(channel->fd))
		return 1;
	if (rdma_get_cm_event(channel, &event) || event->param.arg != 7)
		return 2;
	return rdma_ack_cm_event(event);
}

static void test_fork_child_takes_and_writes_events_without_its_parents_seeing_it(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(write_one), 0);
	assert_false(is_readable(channel->fd));
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, i), 0);
	assert_int_equal(status_of_child(take_two), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(is_readable(channel->fd));
		rdma_ack_cm_event(get_event(channel));
	}
	assert_false(is_readable(channel->fd));
}

static void test_fork_child_leaves_a_descriptor_that_does_not_block_as_it_is(void **state)
{
	(void)state;
	set_nonblocking(channel->fd);
	assert_int_equal(status_of_child(write_one), 0);
	assert_errno(rdma_get_cm_event(channel, &(struct rdma_cm_event *){ NULL }), EAGAIN);
}

static int go_on_with_the_channel(void)
{
	struct rdma_cm_event *event;
	bool resolved = false;

	if (rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL))
		return 1;
	while (!resolved) {
		if (rdma_get_cm_event(channel, &event))
			return 2;
		resolved = event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED;
		rdma_ack_cm_event(event);
	}
	return end_both();
}

static atomic_int on_their_way;

/* Some, lest the queue grow without end. */
static void *write_events(void *arg)
{
	while (!atomic_load(&stop))
		if (atomic_load(&on_their_way) < 64 && !rdma_write_cm_event(arg, RDMA_CM_EVENT_USER, 0, 0))
			atomic_fetch_add(&on_their_way, 1);
	return NULL;
}

static void *take_events(void *arg)
{
	while (!atomic_load(&stop)) {
		rdma_ack_cm_event(get_event(arg));
		atomic_fetch_sub(&on_their_way, 1);
	}
	return NULL;
}

static void test_fork_in_the_middle_of_events_leaves_a_child_that_goes_on_with_the_channel(void **state)
{
	struct rdma_cm_id *writer;
	pthread_t threads[2];

	(void)state;
	assert_int_equal(rdma_create_id(channel, &writer, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(pthread_create(&threads[0], NULL, take_events, channel), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, write_events, writer), 0);
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(status_of_child(go_on_with_the_channel), 0);
	atomic_store(&stop, true);
	pthread_join(threads[1], NULL);
	assert_int_equal(rdma_write_cm_event(writer, RDMA_CM_EVENT_USER, 0, 0), 0);
	pthread_join(threads[0], NULL);
	atomic_store(&stop, false);
	assert_int_equal(rdma_destroy_id(writer), 0);
}

/* ---- A daemon closes all there is ---- */

enum { OWN_FILES = 24 };

static struct stat own_files[OWN_FILES];

static bool open_own_files(void)
{
	bool opened = true;

	closefrom(STDERR_FILENO + 1);
	for (int i = 0; i < OWN_FILES; i++)
		opened = opened && memfd_create("own", MFD_CLOEXEC) == STDERR_FILENO + 1 + i &&
			 !fstat(STDERR_FILENO + 1 + i, &own_files[i]);
	return opened;
}

static bool has_own_files(void)
{
	struct stat now;

	for (int i = 0; i < OWN_FILES; i++)
		if (fstat(STDERR_FILENO + 1 + i, &now) || now.st_ino != own_files[i].st_ino || now.st_size)
			return false;
	return true;
}

static int close_all_and_end(void)
{
	if (!open_own_files())
		return 10;
	return end_both() || !has_own_files();
}

static int close_all_and_go_on(void)
{
	if (!open_own_files())
		return 10;
	return go_on_with_the_channel() || !has_own_files();
}

static void test_fork_daemon_that_closed_all_keeps_its_files_and_a_channel_that_works(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(close_all_and_end), 0);
	assert_int_equal(status_of_child(close_all_and_go_on), 0);
}

/* epoll_ctl() by the old numbers would put another registration in the place of the daemon's. */
static int close_all_and_watch(void)
{
	struct epoll_event e = { EPOLLIN, .data.u64 = 77 };
	int ends[2], poller, number = channel->fd;

	closefrom(STDERR_FILENO + 1);
	while ((poller = epoll_create1(EPOLL_CLOEXEC)) < number)
		;
	if (poller != number || pipe(ends) || epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &e))
		return 10;
	if (go_on_with_the_channel() || write(ends[1], "x", 1) != 1)
		return 11;
	return epoll_wait(poller, &e, 1, 0) != 1 || e.data.u64 != 77;
}

static void test_fork_daemon_that_watches_a_file_by_an_old_number_goes_on_watching_it(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(close_all_and_watch), 0);
}

/* ---- The application's own handlers, which were registered after ours ---- */

static void call_in(void)
{
	struct rdma_cm_id *made;

	if (!rdma_create_id(channel, &made, NULL, RDMA_PS_TCP))
		rdma_destroy_id(made);
}

static void test_fork_handlers_of_the_application_may_call_the_library(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
	rdma_ack_cm_event(get_event(channel));
	assert_int_equal(pthread_atfork(call_in, call_in, call_in), 0);
	alarm(20);
	child = fork();
	if (!child)
		_exit(make_one_of_each());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_fork_beside_threads_that_make_ids_leaves_a_child_that_makes_its_own),
		API_TEST(test_fork_beside_a_thread_that_lists_devices_leaves_a_child_that_works),
		API_TEST(test_fork_beside_a_reader_leaves_a_child_that_ends_channel_and_id),
		API_TEST(test_fork_while_an_event_is_held_leaves_a_child_that_ends_its_id),
		API_TEST(test_fork_child_takes_and_writes_events_without_its_parents_seeing_it),
		API_TEST(test_fork_child_leaves_a_descriptor_that_does_not_block_as_it_is),
		API_TEST(test_fork_in_the_middle_of_events_leaves_a_child_that_goes_on_with_the_channel),
		API_TEST(test_fork_daemon_that_closed_all_keeps_its_files_and_a_channel_that_works),
		API_TEST(test_fork_daemon_that_watches_a_file_by_an_old_number_goes_on_watching_it),
		/* Last: its handlers stay. */
		API_TEST(test_fork_handlers_of_the_application_may_call_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
