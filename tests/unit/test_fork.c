/* SPDX-License-Identifier: BSD-2-Clause */
/* The fork of a process whose threads hold locks. */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static struct rcm_lock lock = RCM_LOCK_INIT;

/* What was called, in order: a letter each. Capitals are the application's. */
static char calls[32];

static void note(char c)
{
	size_t len = strlen(calls);

	if (len < sizeof(calls) - 1)
		calls[len] = c;
}

static void engine_prepare(void) { note('e'); }
static void engine_parent(void) { note('f'); }
static void engine_child(void) { note('g'); }
static void fds_prepare(void) { note('p'); }
static void fds_parent(void) { note('q'); }
static void fds_child(void) { note('r'); }
static void application_prepare(void) { note('A'); }
static void application_parent(void) { note('B'); }
static void application_child(void) { note('C'); }

/* Here as in the library: before anything of the application's runs. */
__attribute__((constructor)) static void watch(void)
{
	static const struct rcm_fork engine = { engine_prepare, engine_parent, engine_child };
	static const struct rcm_fork fds = { fds_prepare, fds_parent, fds_child };

	rcm_fork_watch(RCM_FORK_FDS, &fds);
	rcm_fork_watch(RCM_FORK_ENGINE, &engine);
	rcm_fork_watch_lock(RCM_FORK_IDS, &lock);
}

static int status_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_fork_takes_in_order_and_gives_back_in_reverse_within_the_applications(void **state)
{
	pid_t pid;

	(void)state;
	memset(calls, 0, sizeof(calls));
	pid = fork();
	if (!pid)
		_exit(strcmp(calls, "AeprgC") != 0);
	assert_int_equal(status_of(pid), 0);
	assert_string_equal(calls, "AepqfB");
}

static atomic_bool stop;
static int one, other;		/* equal, but while the lock is held */

static void *change(void *arg)
{
	while (!atomic_load(&stop)) {
		rcm_lock_acquire(&lock);
		one++;
		for (volatile int i = 0; i < 100; i++)
			;
		other++;
		rcm_lock_release(&lock);
	}
	return arg;
}

static void test_fork_child_finds_locks_free_and_what_they_guard_whole(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(10);
			rcm_lock_acquire(&lock);
			_exit(one != other);
		}
		assert_int_equal(status_of(pid), 0);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(one, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_takes_in_order_and_gives_back_in_reverse_within_the_applications),
		cmocka_unit_test(test_fork_child_finds_locks_free_and_what_they_guard_whole),
	};

	pthread_atfork(application_prepare, application_parent, application_child);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
