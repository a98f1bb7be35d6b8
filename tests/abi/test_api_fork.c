/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that forks while its threads are in the library: each child has a library that works. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200 };

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
	assert_int_equal(pthread_create(&thread, NULL, list_devices, NULL), 0);
	fork_beside(&thread, 1);
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
		/* Last: its handlers stay. */
		API_TEST(test_fork_handlers_of_the_application_may_call_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
