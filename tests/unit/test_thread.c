/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the library's own, started by threads of all kinds. */
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "test.h"
#include "asleep.h"

/* What the started thread found; started: it may end, as rcm_thread_start() has. */
static struct {
	atomic_bool started, done;
	void *arg;
	char name[16];
	sigset_t blocked;
	cpu_set_t processors;
	int policy;
} found;

static void *look(void *arg)
{
	found.arg = arg;
	while (!atomic_load(&found.started))
		usleep(100);
	pthread_getname_np(pthread_self(), found.name, sizeof(found.name));
	pthread_sigmask(SIG_SETMASK, NULL, &found.blocked);
	sched_getaffinity(0, sizeof(found.processors), &found.processors);
	found.policy = sched_getscheduler(0);
	atomic_store(&found.done, true);
	return NULL;
}

/* Without ever sleeping, as a program does that polls. */
static bool spin_until_done(void)
{
	time_t until = time(NULL) + 60;

	while (!atomic_load(&found.done) && time(NULL) < until)
		;
	return atomic_load(&found.done);
}

static int start(void *(*fn)(void *))
{
	int ret;

	memset(&found, 0, sizeof(found));
	ret = rcm_thread_start("rai-test", RCM_THREAD_STACK, fn, &found);
	atomic_store(&found.started, true);
	return ret;
}

static void test_thread_has_its_name_and_takes_no_signals(void **state)
{
	sigset_t before, after;

	(void)state;
	if (emulated())
		skip();	/* qemu keeps some signals for itself */
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(start(look), 0);
	assert_true(spin_until_done());
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int s = 1; s < SIGRTMAX; s++) {
		assert_int_equal(sigismember(&before, s), sigismember(&after, s));
		if (s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN))
			assert_int_equal(sigismember(&found.blocked, s), 1);
	}
	assert_string_equal(found.name, "rai-test");
	assert_ptr_equal(found.arg, &found);
}

static unsigned first_processor(const cpu_set_t *set)
{
	unsigned i = 0;

	while (!CPU_ISSET(i, set))
		i++;
	return i;
}

/* A reactor: pinned to a processor, of a real-time policy where it may, and never asleep. */
static void *be_a_reactor(void *arg)
{
	bool *came = arg;
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(first_processor(&all), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	(void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	*came = !start(look) && spin_until_done();
	return NULL;
}

static void test_thread_started_by_a_pinned_one_that_spins_runs_elsewhere(void **state)
{
	cpu_set_t all;
	pthread_t thread;
	bool came = false;

	(void)state;
	sched_getaffinity(0, sizeof(all), &all);
	if (CPU_COUNT(&all) < 2)
		skip();
	assert_int_equal(pthread_create(&thread, NULL, be_a_reactor, &came), 0);
	pthread_join(thread, NULL);
	assert_true(came);
	assert_int_equal(found.policy, SCHED_OTHER);
	assert_true(CPU_EQUAL(&found.processors, &all));
}

/* The C library takes them out of the stack of each thread. */
static _Thread_local char thread_local_bytes[2 * RCM_THREAD_STACK];

static void *use_the_stack(void *arg)
{
	volatile char bytes[RCM_THREAD_STACK / 2];

	(void)arg;
	for (size_t i = 0; i < sizeof(bytes); i += 1024)
		bytes[i] = thread_local_bytes[i];
	while (!atomic_load(&found.started))
		usleep(100);
	atomic_store(&found.done, true);
	return NULL;
}

static void test_thread_has_its_stack_beside_thread_local_variables(void **state)
{
	(void)state;
	assert_int_equal(start(use_the_stack), 0);
	assert_true(spin_until_done());
}

static unsigned creations, refusals;
static int inherits;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	creations++;
	if (refusals) {
		refusals--;
		return EPERM;
	}
	if (attr)
		pthread_attr_getinheritsched(attr, &inherits);
	return __real_pthread_create(thread, attr, fn, arg);
}

static void *start_in_a_batch(void *arg)
{
	const struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &none))
		return NULL;
	creations = 0;
	return start(look) || !spin_until_done() ? NULL : arg;
}

/* As a filter of system calls does. */
static void test_thread_whose_scheduling_is_refused_has_its_creators(void **state)
{
	pthread_t thread;
	void *done;

	(void)state;
	for (refusals = 0; refusals < 2; refusals++) {
		unsigned refused = refusals;

		assert_int_equal(__real_pthread_create(&thread, NULL, start_in_a_batch, &thread), 0);
		pthread_join(thread, &done);
		assert_ptr_equal(done, &thread);
		assert_int_equal(creations, 1 + refused);
		assert_int_equal(inherits, refused ? PTHREAD_INHERIT_SCHED : PTHREAD_EXPLICIT_SCHED);
		assert_int_equal(found.policy, refused ? SCHED_BATCH : SCHED_OTHER);
		refusals = refused;
	}
	refusals = 2;
	assert_int_equal(rcm_thread_start("rai-test", RCM_THREAD_STACK, look, NULL), -EPERM);
	refusals = 0;
}

static void test_thread_that_cannot_be_had_is_eagain(void **state)
{
	(void)state;
	assert_int_equal(rcm_thread_start("rai-test", SIZE_MAX / 4 * 3, look, NULL), -EAGAIN);
}

/* ---- Rights ---- */

enum { NOBODY = 65534 };

static struct {
	uid_t uid, fs_uid;
	gid_t gid, fs_gid;
	int groups;
} rights;

static void *look_at_rights(void *arg)
{
	while (!atomic_load(&found.started))
		usleep(100);
	rights.uid = geteuid();
	rights.gid = getegid();
	/* What no user has is refused, and what there is, told. */
	rights.fs_uid = (uid_t)syscall(SYS_setfsuid, -1);
	rights.fs_gid = (gid_t)syscall(SYS_setfsgid, -1);
	rights.groups = getgroups(0, NULL);
	atomic_store(&found.done, true);
	return arg;
}

/* As file servers do: by the system call, for this thread alone. */
static void *start_as_nobody(void *arg)
{
	const gid_t groups[] = { NOBODY, NOBODY - 1, NOBODY - 2 };

	if (syscall(SYS_setgroups, 3, groups) || syscall(SYS_setresgid, -1, NOBODY, -1) ||
	    syscall(SYS_setresuid, -1, NOBODY, -1))
		return NULL;
	return start(look_at_rights) || !spin_until_done() ? NULL : arg;
}

static void test_thread_started_by_one_with_another_users_rights_has_those_of_the_process(void **state)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int groups = getgroups(0, NULL);
	void *well = NULL;
	pthread_t thread;

	(void)state;
	/* In a user namespace there may be no such user. */
	if (emulated() || uid != 0 || groups == 3 || syscall(SYS_setresuid, -1, NOBODY, -1) ||
	    syscall(SYS_setresuid, -1, 0, -1))
		skip();
	assert_int_equal(pthread_create(&thread, NULL, start_as_nobody, &rights), 0);
	pthread_join(thread, &well);
	if (!well)
		skip();
	assert_int_equal(rights.uid, uid);
	assert_int_equal(rights.gid, gid);
	assert_int_equal(rights.groups, groups);
	assert_int_equal(rights.fs_uid, uid);
	assert_int_equal(rights.fs_gid, gid);
}

/* The process's own are not what follows from its user and group. */
static void test_thread_started_by_one_with_another_users_rights_has_the_processs_to_files(void **state)
{
	void *well = NULL;
	pthread_t thread;

	(void)state;
	if (emulated() || geteuid() != 0)
		skip();
	syscall(SYS_setfsgid, NOBODY - 1);
	syscall(SYS_setfsuid, NOBODY - 2);
	if (syscall(SYS_setfsuid, -1) == NOBODY - 2 &&
	    !pthread_create(&thread, NULL, start_as_nobody, &rights))
		pthread_join(thread, &well);
	syscall(SYS_setfsuid, 0);
	syscall(SYS_setfsgid, getegid());
	if (!well)
		skip();
	assert_int_equal(rights.uid, 0);
	assert_int_equal(rights.fs_uid, NOBODY - 2);
	assert_int_equal(rights.fs_gid, NOBODY - 1);
}

/* Who gave up a right for good can't have it back. */
static void *start_as_nobody_for_good(void *arg)
{
	if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
		return NULL;
	return start(look_at_rights) || !spin_until_done() ? NULL : arg;
}

/* In a process of its own, which reads the environment: what it logs. */
static bool logs(void *(*starter)(void *), const char *what)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int fd = memfd_create("log", MFD_CLOEXEC);
		char text[200] = "";
		void *well = NULL;
		pthread_t thread;

		setenv("RAI_LOG", "error", 1);
		unsetenv("RAI_LOG_FILE");
		dup2(fd, STDERR_FILENO);
		if (!pthread_create(&thread, NULL, starter, text))
			pthread_join(thread, &well);
		_exit(!well || pread(fd, text, sizeof(text) - 1, 0) < 0 ? 2 : strstr(text, what) != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip();
	return WEXITSTATUS(status);
}

static void test_thread_that_can_not_have_the_rights_of_the_process_is_told_of(void **state)
{
	(void)state;
	if (emulated() || geteuid() != 0)
		skip();
	assert_false(logs(start_as_nobody, "keeps the user"));
	assert_true(logs(start_as_nobody_for_good, "keeps the user"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_has_its_name_and_takes_no_signals),
		cmocka_unit_test(test_thread_started_by_a_pinned_one_that_spins_runs_elsewhere),
		cmocka_unit_test(test_thread_has_its_stack_beside_thread_local_variables),
		cmocka_unit_test(test_thread_whose_scheduling_is_refused_has_its_creators),
		cmocka_unit_test(test_thread_that_cannot_be_had_is_eagain),
		cmocka_unit_test(test_thread_started_by_one_with_another_users_rights_has_those_of_the_process),
		cmocka_unit_test(test_thread_started_by_one_with_another_users_rights_has_the_processs_to_files),
		cmocka_unit_test(test_thread_that_can_not_have_the_rights_of_the_process_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
