/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits that a signal handler jumps out of, as programs make a timeout, or acts upon. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "cm/id.h"
#include "cm/life.h"
#include "cm/lookup.h"
#include "cm/migrate.h"
#include "cm/sync.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "fake_ucma.h"
#include "test.h"
#include "user_event.h"

static struct rcm_channel *channel, *other;
static struct rcm_id *sync_id;

/* ---- A thread that waits, and what its handler does ---- */

static _Thread_local sigjmp_buf back;
static void (*_Atomic act)(void);
static atomic_int waiter_tid, waiter_ret;

static void on_signal(int sig)
{
	void (*now)(void) = atomic_load(&act);

	(void)sig;
	now();
}

static void jump(void)
{
	siglongjmp(back, 1);
}

struct plan {
	int (*wait)(void);
	void (*then)(void);		/* on the same thread; NULL: nothing */
};

static void *run(void *arg)
{
	const struct plan *plan = arg;

	atomic_store(&waiter_ret, 1);
	if (!sigsetjmp(back, 1)) {
		atomic_store(&waiter_tid, gettid());
		atomic_store(&waiter_ret, plan->wait());
	}
	if (plan->then)
		plan->then();
	return NULL;
}

static void await_futex(int tid)
{
	char futex[16];

	snprintf(futex, sizeof(futex), "%d ", SYS_futex);
	while (!thread_sleeps_in(tid, futex))
		sched_yield();
}

static pthread_t start(const struct plan *plan)
{
	pthread_t thread;

	atomic_store(&waiter_tid, 0);
	assert_int_equal(pthread_create(&thread, NULL, run, (void *)(uintptr_t)plan), 0);
	while (!atomic_load(&waiter_tid))
		sched_yield();
	return thread;
}

/* Signalled once it sleeps. */
static void interrupt(const struct plan *plan, void (*handler)(void), void (*await)(int tid))
{
	pthread_t thread = start(plan);

	atomic_store(&act, handler);
	await(atomic_load(&waiter_tid));
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
}

static int set_up(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };

	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	sigaction(SIGUSR1, &action, NULL);
	return rcm_channel_new(&channel) || rcm_channel_new(&other) ||
	       rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &sync_id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(sync_id);
	rcm_channel_close(channel);
	rcm_channel_close(other);
	rcm_fake_ucma_done();
	rcm_fake_engine_reset();
	return 0;
}

/* ---- What it does ---- */

static int get(struct rcm_channel *from)
{
	struct rcm_event *event;
	int ret = rcm_channel_get(from, &event);

	if (!ret)
		rcm_event_ack(event);
	return ret;
}

static int get_one(void)
{
	return get(channel);
}

static int get_one_of_sync(void)
{
	return get(rcm_channel_of(sync_id->pub.channel));
}

static int get_connected(void)
{
	return rcm_sync_complete(sync_id, RCM_SYNC_CONNECT);
}

static int get_resolved(void)
{
	return rcm_sync_complete(sync_id, RCM_SYNC_NAMES);
}

static void destroy_channel(void)
{
	rdma_destroy_event_channel(&channel->pub);
	channel = NULL;
}

static void destroy_sync(void)
{
	rcm_id_destroy(sync_id);
	sync_id = NULL;
}

static void migrate_sync(void)
{
	assert_int_equal(rcm_id_migrate(sync_id, other), 0);
}

static void test_wait_that_was_left_holds_up_no_end_of_its_channel(void **state)
{
	const struct plan plan = { get_one, destroy_channel };

	(void)state;
	interrupt(&plan, jump, await_sleep);
	assert_null(channel);
}

static void end_sync_after(int (*wait)(void), void (*await)(int tid), void (*end)(void))
{
	const struct plan plan = { wait, end };

	interrupt(&plan, jump, await);
	if (sync_id)
		rcm_id_destroy(sync_id);
	assert_int_equal(rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &sync_id), 0);
}

static void test_wait_that_was_left_holds_up_no_end_of_its_synchronous_id(void **state)
{
	(void)state;
	for (int moves = 0; moves < 2; moves++) {
		void (*end)(void) = moves ? migrate_sync : destroy_sync;

		end_sync_after(get_one_of_sync, await_sleep, end);
		end_sync_after(get_connected, await_sleep, end);
		assert_int_equal(rcm_lookup_start(sync_id, "host.test", NULL, NULL), 0);
		end_sync_after(get_resolved, await_futex, end);
	}
}

static void test_wait_that_was_left_by_a_thread_that_ends_holds_up_nobody(void **state)
{
	const struct plan one = { get_one, NULL }, resolved = { get_resolved, NULL };

	(void)state;
	interrupt(&one, jump, await_sleep);
	assert_int_equal(channel->users, 0);
	assert_int_equal(rcm_lookup_start(sync_id, "host.test", NULL, NULL), 0);
	interrupt(&resolved, jump, await_futex);
	assert_int_equal(rcm_channel_of(sync_id->pub.channel)->users, 0);
	assert_int_equal(rcm_channel_of(sync_id->pub.channel)->own_awaited, 0);
}

/* ---- A fork after it, or within ---- */

enum { CHILDS = 7 };	/* waits of the child's own */

static pid_t child;

static void fork_it(void)
{
	child = fork();
	if (child)
		return;
	alarm(30);
	channel->users = CHILDS;
}

static void end_child(void)
{
	int ended = -1;

	if (!child)
		_exit(channel->users != CHILDS);
	waitpid(child, &ended, 0);
	atomic_store(&waiter_ret, ended);
}

static void fork_and_end(void)
{
	fork_it();
	rcm_wait_give_up_left();
	end_child();
}

static void test_wait_that_was_left_before_a_fork_is_none_in_the_child(void **state)
{
	const struct plan plan = { get_one, fork_and_end };

	(void)state;
	interrupt(&plan, jump, await_sleep);
	assert_int_equal(atomic_load(&waiter_ret), 0);
	assert_int_equal(channel->users, 0);
}

static void test_wait_whose_handler_forks_counts_no_more_in_the_child(void **state)
{
	const struct plan plan = { get_one, end_child };

	(void)state;
	interrupt(&plan, fork_it, await_sleep);
	assert_int_equal(atomic_load(&waiter_ret), 0);
	assert_int_equal(channel->users, 0);
}

/* ---- Another wait after it, or within ---- */

static struct rcm_id *other_id;

static void wait_at_other(void)
{
	atomic_store(&waiter_tid, -gettid());
	assert_int_equal(get(other), 0);
}

/* Once it sleeps there. */
static void end_wait_at_other(void)
{
	struct rcm_event *event;

	while (atomic_load(&waiter_tid) >= 0)
		sched_yield();
	await_sleep(-atomic_load(&waiter_tid));
	assert_int_equal(rcm_user_event(other_id, 0, 1, &event), 0);
	assert_true(rcm_id_post(other_id, event));
}

static pthread_t start_interrupted(const struct plan *plan, void (*handler)(void))
{
	pthread_t thread = start(plan);

	assert_int_equal(rcm_id_new(other, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other_id), 0);
	atomic_store(&act, handler);
	await_sleep(atomic_load(&waiter_tid));
	pthread_kill(thread, SIGUSR1);
	return thread;
}

static void test_wait_that_was_left_is_over_with_the_next(void **state)
{
	const struct plan plan = { get_one, wait_at_other };
	pthread_t thread = start_interrupted(&plan, jump);

	(void)state;
	end_wait_at_other();
	rcm_channel_close(channel);
	channel = NULL;
	pthread_join(thread, NULL);
	rcm_id_destroy(other_id);
}

static void test_wait_in_a_handler_within_a_wait_leaves_that_as_it_is(void **state)
{
	const struct plan plan = { get_one, NULL };
	pthread_t thread = start_interrupted(&plan, wait_at_other);

	(void)state;
	end_wait_at_other();
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), -EINTR);
	assert_int_equal(channel->users, 0);
	rcm_id_destroy(other_id);
}

static void test_wait_whose_channel_its_handler_destroys_ends(void **state)
{
	const struct plan plan = { get_one, NULL };

	(void)state;
	interrupt(&plan, destroy_channel, await_sleep);
	assert_int_equal(atomic_load(&waiter_ret), -EINTR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_wait_that_was_left_holds_up_no_end_of_its_channel),
		TEST(test_wait_that_was_left_holds_up_no_end_of_its_synchronous_id),
		TEST(test_wait_that_was_left_by_a_thread_that_ends_holds_up_nobody),
		TEST(test_wait_that_was_left_before_a_fork_is_none_in_the_child),
		TEST(test_wait_whose_handler_forks_counts_no_more_in_the_child),
		TEST(test_wait_that_was_left_is_over_with_the_next),
		TEST(test_wait_in_a_handler_within_a_wait_leaves_that_as_it_is),
		TEST(test_wait_whose_channel_its_handler_destroys_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
