/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread: a good guest, exactly one completion for each request, and a fork in the middle. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"
#include "base/limits.h"
#include "base/tell.h"
#include "fake_dns.h"
#include "resolve/engine.h"
#include "test.h"
#include "asleep.h"

static int teardown(void **state)
{
	(void)state;
	return rcm_fake_dns_under_way() != 0;
}

/* ---- The engine's thread, held where it wakes ---- */

static atomic_int hold;
enum { HOLD_NOT, HOLD_NEXT, HOLD_ON, HOLD_LOOK };
static int looked_wait_ms;			/* how long it would sleep after the turn that followed, */
static unsigned looked_started;			/* and how many lookups were started by then */

int __real_epoll_wait(int epfd, struct epoll_event *events, int max, int wait_ms);
int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int wait_ms);

int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int wait_ms)
{
	int n;

	if (atomic_load(&hold) == HOLD_LOOK) {
		looked_wait_ms = wait_ms;
		looked_started = rcm_fake_dns_started();
		atomic_store(&hold, HOLD_NOT);
	}
	n = __real_epoll_wait(epfd, events, max, wait_ms);
	if (atomic_load(&hold) == HOLD_NEXT)
		atomic_store(&hold, HOLD_ON);
	while (atomic_load(&hold) == HOLD_ON)
		sched_yield();
	return n;
}

/* The rest waits for the answers that came, but for nothing else. */
static void test_engine_begins_so_many_of_a_burst_and_goes_on_without_a_pause(void **state)
{
	static struct rcm_asker askers[RCM_TURN_REQUESTS + 1];
	static char names[RCM_TURN_REQUESTS + 1][32];
	struct rcm_question q = rcm_question_name("before.example");

	(void)state;
	assert_int_equal(rcm_asker_ask(&askers[0], &q), 0);
	while (!atomic_load(&rcm_engine_the()->asleep))
		sched_yield();
	rcm_fake_dns_reset();
	atomic_store(&hold, HOLD_NEXT);
	for (unsigned i = 0; i <= RCM_TURN_REQUESTS; i++) {
		/* No two are shared, and none has an answer to wake for. */
		snprintf(names[i], sizeof(names[i]), "burst%u.hold.example", i);
		q = rcm_question_name(names[i]);
		assert_int_equal(rcm_asker_start(&askers[i], &q), 0);
		/* Before the others come. */
		while (atomic_load(&hold) != HOLD_ON)
			sched_yield();
	}
	atomic_store(&hold, HOLD_LOOK);
	for (unsigned i = 0; i <= RCM_TURN_REQUESTS; i++) {
		rcm_fake_dns_release(names[i]);
		assert_true(rcm_asker_wait(&askers[i]));
		assert_int_equal(askers[i].outcome.status, 0);
		rcm_asker_done(&askers[i]);
	}
	assert_int_equal(looked_started, RCM_TURN_REQUESTS);
	assert_int_equal(looked_wait_ms, 0);
	assert_int_equal(rcm_fake_dns_started(), RCM_TURN_REQUESTS + 1);
}

/* Reads a line of /proc/self/task/TID/status; false where there is none. */
static bool thread_line(const char *tid, const char *key, char *value, size_t len)
{
	char path[64], line[128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", tid);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, key, strlen(key));
		if (found)
			snprintf(value, len, "%s", line + strlen(key) + 2);
	}
	if (f)
		fclose(f);
	return found;
}

/* How many threads of that name there are; the blocked signals of the last. */
static unsigned threads_named(const char *name, unsigned long long *ret_blocked)
{
	char value[64], want[64];
	struct dirent *e;
	unsigned count = 0;
	DIR *d = opendir("/proc/self/task");

	snprintf(want, sizeof(want), "%s\n", name);
	while (d && (e = readdir(d))) {
		if (!thread_line(e->d_name, "Name", value, sizeof(value)) || strcmp(value, want))
			continue;
		count++;
		assert_true(thread_line(e->d_name, "SigBlk", value, sizeof(value)));
		*ret_blocked = strtoull(value, NULL, 16);
	}
	if (d)
		closedir(d);
	return count;
}

static void test_engine_starts_one_thread_at_the_first_request_with_all_signals_blocked(void **state)
{
	struct rcm_question q = rcm_question_name("first.example");
	unsigned long long blocked = 0;
	struct rcm_asker asker = { 0 };
	sigset_t before = { 0 }, after = { 0 };

	(void)state;
	if (emulated())
		skip();	/* /proc has the emulator's mask */
	assert_int_equal(threads_named("rai-resolver", &blocked), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(threads_named("rai-resolver", &blocked), 1);
	/* All but SIGKILL, SIGSTOP, and the two that the C library keeps for itself. */
	for (int s = 1; s < SIGRTMIN - 2; s++)
		if (s != SIGKILL && s != SIGSTOP)
			assert_true(blocked & 1ULL << (s - 1));
	rcm_asker_done(&asker);
}

/* F18: a descriptor that a program started from here would inherit would be a leak. */
static void test_engine_descriptors_are_close_on_exec(void **state)
{
	char path[64], line[128];
	struct dirent *e;
	unsigned flags;
	DIR *d = opendir("/proc/self/fdinfo");

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		FILE *f;

		if (atoi(e->d_name) <= 2 || atoi(e->d_name) == dirfd(d))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", e->d_name);
		memset(line, 0, sizeof(line));
		if (readlink(path, line, sizeof(line) - 1) < 0 || strncmp(line, "anon_inode:", 11))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%.20s", e->d_name);
		f = fopen(path, "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "flags: %o", &flags) == 1)
				assert_true(flags & 02000000);
		fclose(f);
	}
	closedir(d);
}

/* Of one whose descriptors are closed: until a thread that was woken is late, nobody looks. */
static void test_engine_that_was_woken_lately_is_whole_without_a_look(void **state)
{
	static const struct rcm_source closed = { .fd = -1 };
	static struct rcm_engine engine = { .life = RCM_ENGINE_RUNNING, .waits = true, .loop.witness = &closed };

	(void)state;
	atomic_store(&engine.proven_at, UINT64_MAX / 2);
	assert_true(rcm_engine_is_whole(&engine));
	atomic_store(&engine.proven_at, 0);
	assert_false(rcm_engine_is_whole(&engine));
	assert_true(atomic_load(&engine.proven_at) > 0);
	atomic_store(&engine.proven_at, UINT64_MAX / 2);
	atomic_store(&engine.asleep, true);
	assert_false(rcm_engine_is_whole(&engine));
	atomic_store(&engine.waits, false);
	assert_true(rcm_engine_is_whole(&engine));
}

/* ---- Exactly one completion ---- */

enum { SLOTS = 512 };

struct slot {
	struct rcm_request *request;
	atomic_uint starts, completions;
};

static struct slot slots[SLOTS];
static atomic_uint completed;

static void count(void *arg, struct rcm_outcome *outcome)
{
	struct slot *slot = arg;

	assert((outcome->status == 0) == (outcome->answer != NULL));
	rcm_answer_put(outcome->answer);
	free(outcome->text);
	atomic_fetch_add(&slot->completions, 1);
	atomic_fetch_add(&completed, 1);
}

/* Names that are answered at once, later, never, badly, and not even started; some equal to others in flight. */
static void random_question(struct rcm_question *q, char *node, size_t len)
{
	static const char *const kinds[] = {
		"x", "ms1", "ms3", "never", "e2", "e110", "start24", "ttl60", "a9", "ttl1.e2", "e12",
	};
	unsigned kind = (unsigned)rand() % (sizeof(kinds) / sizeof(*kinds));

	snprintf(node, len, "n%u.%s.example", (unsigned)rand() % 200, kinds[kind]);
	*q = rcm_question_name(node);
	q->deadline_ms = rand() % 3 || !strcmp(kinds[kind], "never") ? 1 + (unsigned)rand() % 5 : 0;
	q->fresh = !(rand() % 4);
	q->hints.family = rand() % 4 ? AF_UNSPEC : AF_INET6;
	if (!(rand() % 20))
		q->node = rand() % 2 ? "192.0.2.1" : NULL;
	q->service = rand() % 4 ? "7471" : rand() % 2 ? "http" : "no-such-service";
}

static void start_one(struct slot *slot)
{
	struct rcm_question q;
	char node[64];

	random_question(&q, node, sizeof(node));
	rcm_request_put(slot->request);
	slot->request = NULL;
	assert_int_equal(rcm_request_start(&q, count, slot, &slot->request), 0);
	atomic_fetch_add(&slot->starts, 1);
}

static void settle(unsigned total)
{
	/* Ten seconds are for a machine that is asleep: nothing here waits longer than 5 ms. */
	for (int i = 0; i < 10000 && atomic_load(&completed) < total; i++)
		usleep(1000);
	for (unsigned i = 0; i < SLOTS; i++)
		assert_int_equal(atomic_load(&slots[i].completions), atomic_load(&slots[i].starts));
	assert_int_equal(atomic_load(&completed), total);
}

/* The same a million times over: start, and now and then cancel, what may or may not have ended. */
static void test_engine_completes_each_of_a_million_random_requests_once(void **state)
{
	const char *ops = getenv("RAI_TEST_OPERATIONS");
	unsigned total = ops ? (unsigned)atoi(ops) : 1000000, started = 0;
	struct rai_stats before, after;

	(void)state;
	srand(7);
	rcm_engine_stats(&before);
	for (unsigned i = 0; i < total; i++) {
		struct slot *slot = &slots[(unsigned)rand() % SLOTS];

		if (slot->request && rand() % 2) {
			rcm_request_cancel(slot->request);
		} else {
			start_one(slot);
			started++;
		}
		/* Bounded, as the memory of a test should be. */
		while (started - atomic_load(&completed) > 5000)
			usleep(100);
	}
	settle(started);
	for (unsigned i = 0; i < SLOTS; i++) {
		rcm_request_put(slots[i].request);
		slots[i].request = NULL;
	}
	rcm_engine_stats(&after);
	assert_int_equal(after.started - before.started, started);
	assert_int_equal(after.resolved + after.failed + after.cancelled -
			 before.resolved - before.failed - before.cancelled, started);
	assert_int_equal(after.outstanding, 0);
	assert_int_equal(rcm_fake_dns_under_way(), 0);
}

/* ---- Fork ---- */

/* TSan refuses threads in the child of a threaded process. */
#ifndef __SANITIZE_THREAD__
/* What the child finds, as its exit status: 0 all well. */
static int child(struct rcm_asker *waiting, unsigned n)
{
	struct rcm_question q = rcm_question_name("child.example");
	struct rcm_asker own = { 0 };
	unsigned long long blocked;

	if (threads_named("rai-resolver", &blocked))
		return 1;
	for (unsigned i = 0; i < n; i++)
		if (rcm_asker_again(&waiting[i]))
			return 5;
	if (threads_named("rai-resolver", &blocked) != 1)
		return 2;
	for (unsigned i = 0; i < n; i++)
		rcm_fake_dns_release("fork.hold.example");
	for (unsigned i = 0; i < n; i++)
		if (!rcm_asker_wait(&waiting[i]) || waiting[i].outcome.status || waiting[i].times != 1)
			return 3;
	if (rcm_asker_ask(&own, &q))
		return 4;
	return 0;
}

static void start_waiting(struct rcm_asker *askers, unsigned n)
{
	struct rcm_question q = rcm_question_name("fork.hold.example");

	rcm_fake_dns_reset();
	for (unsigned i = 0; i < n; i++) {
		q.hints.family = i % 2 ? AF_INET : AF_INET6;
		assert_int_equal(rcm_asker_start(&askers[i], &q), 0);
	}
	rcm_fake_dns_wait_started(n < 2 ? n : 2);
}

static int exit_status(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void assert_child_ends_with_0(int (*run)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(run());
	assert_int_equal(exit_status(pid), 0);
}

static void test_engine_forked_goes_on_in_the_child_and_in_the_parent(void **state)
{
	struct rcm_asker askers[2] = { 0 };
	pid_t pid;

	(void)state;
	start_waiting(askers, 2);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child(askers, 2));
	assert_int_equal(exit_status(pid), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rcm_asker_times(&askers[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		rcm_fake_dns_release("fork.hold.example");
	for (unsigned i = 0; i < 2; i++) {
		assert_true(rcm_asker_wait(&askers[i]));
		assert_int_equal(askers[i].outcome.status, 0);
		rcm_asker_done(&askers[i]);
	}
}

/* A request cancelled in the child before its engine is there again ends there, and only there. */
static struct rcm_asker gave_up, waits;

static bool is_waiting(const void *asker)
{
	return asker == &waits;
}

static int child_of_one_that_gave_up(void)
{
	rcm_askers_drop(is_waiting);
	if (rcm_asker_times(&gave_up) != 1 || gave_up.outcome.status != -ECANCELED || rcm_asker_times(&waits))
		return 1;
	if (rcm_asker_again(&waits))
		return 2;
	rcm_fake_dns_release("fork.hold.example");
	return rcm_asker_wait(&waits) && !waits.outcome.status ? 0 : 3;
}

/* The parent's engine had not seen it yet: in the child nobody else would end it. */
static void test_engine_forked_ends_what_was_given_up_and_nothing_else(void **state)
{
	struct rcm_question q = rcm_question_name("fork.hold.example");

	(void)state;
	rcm_fake_dns_reset();
	assert_int_equal(rcm_asker_start(&gave_up, &q), 0);
	assert_int_equal(rcm_asker_start(&waits, &q), 0);
	rcm_fake_dns_wait_started(1);
	assert_child_ends_with_0(child_of_one_that_gave_up);
	rcm_fake_dns_release("fork.hold.example");
	assert_true(rcm_asker_wait(&gave_up) && rcm_asker_wait(&waits));
	rcm_asker_done(&gave_up);
	rcm_asker_done(&waits);
}

static void test_engine_forked_takes_what_the_child_posts_before_it_enters(void **state)
{
	struct rcm_asker asker = { 0 };
	pid_t pid;

	(void)state;
	start_waiting(&asker, 1);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		rcm_engine_leave_parent();
		rcm_request_cancel(asker.request);
		_exit(!rcm_asker_wait(&asker) || asker.outcome.status != -ECANCELED);
	}
	assert_int_equal(exit_status(pid), 0);
	rcm_fake_dns_release("fork.hold.example");
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, 0);
	rcm_asker_done(&asker);
}

static void *getaddrinfo_waits(void *unused)
{
	struct rdma_addrinfo *list = NULL;

	(void)unused;
	assert_int_equal(rdma_getaddrinfo("gai.hold.example", NULL, NULL, &list), 0);
	rdma_freeaddrinfo(list);
	return NULL;
}

/* What an id has under way goes on in the child; what a thread waits for, which isn't there, doesn't count. */
static void test_engine_forked_counts_no_resolution_of_a_thread_that_the_child_has_not(void **state)
{
	struct rcm_asker asker = { 0 };
	struct rai_stats before, now;
	pthread_t thread;
	pid_t pid;

	(void)state;
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	assert_int_equal(before.outstanding, 0);
	start_waiting(&asker, 1);
	assert_int_equal(pthread_create(&thread, NULL, getaddrinfo_waits, NULL), 0);
	rcm_fake_dns_wait_started(2);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (rai_get_stats(&now, sizeof(now)) || now.outstanding != 1 || now.in_flight)
			_exit(1);
		if (now.cancelled != before.cancelled + 1)
			_exit(2);
		rcm_request_cancel(asker.request);
		_exit(rai_get_stats(&now, sizeof(now)) || now.outstanding ? 3 : 0);
	}
	assert_int_equal(exit_status(pid), 0);
	assert_int_equal(rai_get_stats(&now, sizeof(now)), 0);
	assert_int_equal(now.outstanding, 2);
	rcm_fake_dns_release("gai.hold.example");
	rcm_fake_dns_release("fork.hold.example");
	pthread_join(thread, NULL);
	assert_true(rcm_asker_wait(&asker));
	rcm_asker_done(&asker);
}

enum { FILES = 24 };

static bool open_own(int fds[FILES], struct stat before[FILES])
{
	closefrom(STDERR_FILENO + 1);
	for (int i = 0; i < FILES; i++) {
		fds[i] = memfd_create("own", MFD_CLOEXEC);
		if (fds[i] < 0 || fstat(fds[i], &before[i]))
			return false;
	}
	return true;
}

static bool are_own_untouched(const int fds[FILES], const struct stat before[FILES])
{
	struct stat after;

	for (int i = 0; i < FILES; i++)
		if (fstat(fds[i], &after) || after.st_ino != before[i].st_ino || after.st_size)
			return false;
	return true;
}

/* A daemon's way: all descriptors are closed, and files of its own opened, before the library is entered again. */
static int daemon_child(void)
{
	struct rcm_question q = rcm_question_name("daemon.example");
	struct rcm_asker asker = { 0 };
	struct stat before[FILES];
	int fds[FILES];

	if (!open_own(fds, before))
		return 1;
	if (rcm_asker_ask(&asker, &q))
		return 2;
	return are_own_untouched(fds, before) ? 0 : 3;
}

/* It closes all once its engine runs, before what its parent had under way goes on. */
static int child_that_loses_its_engine(void)
{
	struct rcm_question q = rcm_question_name("daemon.example");
	struct rcm_asker asker = { 0 };
	struct stat before[FILES];
	int fds[FILES], status;

	alarm(30);
	if (rcm_asker_ask(&asker, &q))
		return 1;
	if (!open_own(fds, before))
		return 2;
	status = rcm_asker_ask(&asker, &q);
	if (status && (status != -EBADF || rcm_asker_ask(&asker, &q)))
		return 3;
	/* Held until it is released, so it is there yet, unless it ended with the lost one. */
	if (rcm_asker_again(&waits) || rcm_asker_times(&waits))
		return 4;
	rcm_fake_dns_release("fork.hold.example");
	return rcm_asker_wait(&waits) && !waits.outcome.status && waits.times == 1 ? 0 : 5;
}

static void test_engine_forked_that_is_lost_goes_on_with_its_parents_in_the_next(void **state)
{
	struct rcm_question q = rcm_question_name("fork.hold.example");

	(void)state;
	rcm_fake_dns_reset();
	assert_int_equal(rcm_asker_start(&waits, &q), 0);
	rcm_fake_dns_wait_started(1);
	assert_child_ends_with_0(child_that_loses_its_engine);
	rcm_fake_dns_release("fork.hold.example");
	assert_true(rcm_asker_wait(&waits));
	rcm_asker_done(&waits);
}

/* ---- A program that closes all, and goes on in the same process ---- */

/* Found by who asks next, or by the engine, which a timer wakes. */
static int closing_child(bool timer)
{
	struct rcm_question held = rcm_question_name("fork.hold.example"), q = rcm_question_name("after.example");
	struct rcm_asker waiting = { 0 }, timed = { 0 }, asker = { 0 };
	struct stat before[FILES];
	struct rcm_engine *lost;
	int fds[FILES], status;

	alarm(30);
	rcm_fake_dns_reset();
	if (rcm_asker_start(&waiting, &held))
		return 1;
	held.deadline_ms = 100;
	held.hints.family = AF_INET6;
	if (timer && rcm_asker_start(&timed, &held))
		return 1;
	rcm_fake_dns_wait_started(timer ? 2 : 1);
	lost = rcm_engine_the();
	if (!open_own(fds, before))
		return 2;
	if (timer && (!rcm_asker_wait(&waiting) || waiting.outcome.status != -EBADF))
		return 3;
	/* One that comes while the engine is at work, and hasn't seen it, ends with the others. */
	status = rcm_asker_ask(&asker, &q);
	if (status && (status != -EBADF || rcm_asker_ask(&asker, &q)))
		return 4;
	if (!rcm_asker_wait(&waiting) || waiting.outcome.status != -EBADF || waiting.times != 1)
		return 5;
	if (!are_own_untouched(fds, before))
		return 6;
	/* Its thread, which may sleep still, has nothing more to do when it wakes. */
	if (rcm_engine_the() == lost || lost->loop.epfd >= 0)
		return 8;
	/* Nor does a fork close what they are by now. */
	fflush(NULL);
	if (!fork())
		_exit(!are_own_untouched(fds, before));
	wait(&status);
	return status ? 7 : 0;
}

static void test_engine_whose_descriptors_are_closed_ends_what_is_under_way_and_another_resolves(void **state)
{
	(void)state;
	for (int timer = 0; timer < 2; timer++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(closing_child(timer));
		assert_int_equal(exit_status(pid), 0);
	}
}

/* ---- One that is lost to a caller with a lock that the watcher takes ---- */

static pthread_mutex_t callers = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint loss_told;

static void watch_loss(const void *watcher, const struct rcm_tell_step *step)
{
	(void)watcher;
	if (strncmp(step->text, "told (status EBADF", 18) != 0)
		return;
	pthread_mutex_lock(&callers);
	atomic_fetch_add(&loss_told, 1);
	pthread_mutex_unlock(&callers);
}

static void await_idle(struct rcm_engine *engine)
{
	while (!atomic_load(&engine->waits) || !atomic_load(&engine->asleep))
		sched_yield();
}

static int losing_child(void)
{
	struct rcm_question held = rcm_question_name("fork.hold.example"), q = rcm_question_name("after.example");
	struct rcm_tell_list steps = STAILQ_HEAD_INITIALIZER(steps), *outer;
	struct rcm_asker waiting = { 0 }, asker = { 0 };

	alarm(30);
	rcm_fake_dns_reset();
	if (rcm_asker_start(&waiting, &held))
		return 1;
	rcm_fake_dns_wait_started(1);
	await_idle(rcm_engine_the());
	if (rcm_tell_watch(watch_loss, &loss_told))
		return 2;
	closefrom(STDERR_FILENO + 1);
	outer = rcm_tell_hold(&steps);
	pthread_mutex_lock(&callers);
	if (rcm_asker_ask(&asker, &q) || waiting.outcome.status != -EBADF)
		return 3;
	pthread_mutex_unlock(&callers);
	rcm_tell_release(&steps, outer);
	return !outer && STAILQ_EMPTY(&steps) && atomic_load(&loss_told) == 1 ? 0 : 4;
}

static void test_engine_lost_to_a_caller_that_holds_its_steps_tells_them_once_it_lets_go(void **state)
{
	(void)state;
	assert_child_ends_with_0(losing_child);
}

/* Nobody else is there to tell them: by the engine's thread, which a timer wakes. */
static int lone_child(void)
{
	struct rcm_question held = rcm_question_name("fork.hold.example");
	struct rcm_asker waiting = { 0 }, timed = { 0 };

	alarm(30);
	rcm_fake_dns_reset();
	if (rcm_asker_start(&waiting, &held))
		return 1;
	held.deadline_ms = 100;
	held.hints.family = AF_INET6;
	if (rcm_asker_start(&timed, &held))
		return 1;
	rcm_fake_dns_wait_started(2);
	if (rcm_tell_watch(watch_loss, &loss_told))
		return 2;
	closefrom(STDERR_FILENO + 1);
	while (!atomic_load(&loss_told))
		sched_yield();
	return 0;
}

static void test_engine_that_finds_itself_lost_tells_its_steps(void **state)
{
	(void)state;
	assert_child_ends_with_0(lone_child);
}

/* ---- A fork that comes while another engine takes the place of one that was lost ---- */

static atomic_int forker_tid;

static bool is_free(struct rcm_lock *lock)
{
	bool was_free = !rcm_mutex_try_lock(&lock->mutex);

	if (was_free)
		rcm_mutex_unlock(&lock->mutex);
	return was_free;
}

static void *fork_one(void *arg)
{
	struct rcm_question q = rcm_question_name("succeeded.example");
	struct rcm_engine *lost = arg;
	struct rcm_asker asker = { 0 };
	pid_t pid;

	atomic_store(&forker_tid, gettid());
	pid = fork();
	if (!pid) {
		alarm(30);
		_exit(!is_free(&lost->starting) || !is_free(&lost->gate) || rcm_asker_ask(&asker, &q));
	}
	return (void *)(intptr_t)exit_status(pid);
}

static int succeeding_child(void)
{
	struct rcm_question q = rcm_question_name("lost.example");
	struct rcm_engine *lost = rcm_engine_the();
	struct rcm_asker asker = { 0 };
	pthread_t forker;
	char futex[64];
	void *status;

	alarm(30);
	if (rcm_asker_ask(&asker, &q))
		return 1;
	snprintf(futex, sizeof(futex), "%d 0x%lx ", SYS_futex, (unsigned long)(uintptr_t)&lost->starting.mutex);
	rcm_lock_acquire(&lost->starting);
	if (pthread_create(&forker, NULL, fork_one, lost))
		return 2;
	while (!atomic_load(&forker_tid) || !thread_sleeps_in(atomic_load(&forker_tid), futex))
		sched_yield();
	if (rcm_engine_succeed(lost))
		return 3;
	rcm_lock_release(&lost->starting);
	pthread_join(forker, &status);
	if (status)
		return 4;
	return is_free(&lost->starting) && is_free(&lost->gate) && !rcm_asker_ask(&asker, &q) ? 0 : 5;
}

static void test_engine_forked_while_it_is_replaced_leaves_no_lock_held(void **state)
{
	(void)state;
	assert_child_ends_with_0(succeeding_child);
}

static void test_engine_forked_daemon_loses_none_of_its_own_files(void **state)
{
	struct rcm_question q = rcm_question_name("before.example");
	struct rcm_asker asker = { 0 };
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(daemon_child());
	assert_int_equal(exit_status(pid), 0);
	rcm_asker_done(&asker);
}

/* Also what nobody has a reference to any more. */
static void all_again(void)
{
	struct rcm_engine *engine = rcm_engine_the();
	struct rcm_request *request;

	rcm_engine_leave_parent();
	while ((request = TAILQ_FIRST(&engine->resting)))
		assert_int_equal(rcm_request_again(request), 0);
}

/* Forks while the engine is busy: each child finds it between two turns, every request ends once in each of them. */
static void test_engine_forked_under_load_completes_every_request_in_both(void **state)
{
	unsigned started = 0, at_fork;
	pid_t pid;

	(void)state;
	atomic_store(&completed, 0);
	for (unsigned i = 0; i < SLOTS; i++) {
		atomic_store(&slots[i].starts, 0);
		atomic_store(&slots[i].completions, 0);
	}
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 200; i++, started++)
			start_one(&slots[(unsigned)rand() % SLOTS]);
		at_fork = started;
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			all_again();
			settle(at_fork);
			_exit(0);
		}
		assert_int_equal(exit_status(pid), 0);
	}
	settle(started);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_teardown(name, teardown)
		T(test_engine_starts_one_thread_at_the_first_request_with_all_signals_blocked),
		T(test_engine_descriptors_are_close_on_exec),
		T(test_engine_begins_so_many_of_a_burst_and_goes_on_without_a_pause),
		T(test_engine_that_was_woken_lately_is_whole_without_a_look),
		T(test_engine_completes_each_of_a_million_random_requests_once),
#ifndef __SANITIZE_THREAD__
		T(test_engine_forked_goes_on_in_the_child_and_in_the_parent),
		T(test_engine_forked_ends_what_was_given_up_and_nothing_else),
		T(test_engine_forked_takes_what_the_child_posts_before_it_enters),
		T(test_engine_forked_counts_no_resolution_of_a_thread_that_the_child_has_not),
		T(test_engine_whose_descriptors_are_closed_ends_what_is_under_way_and_another_resolves),
		T(test_engine_lost_to_a_caller_that_holds_its_steps_tells_them_once_it_lets_go),
		T(test_engine_that_finds_itself_lost_tells_its_steps),
		T(test_engine_forked_while_it_is_replaced_leaves_no_lock_held),
		T(test_engine_forked_daemon_loses_none_of_its_own_files),
		T(test_engine_forked_that_is_lost_goes_on_with_its_parents_in_the_next),
		T(test_engine_forked_under_load_completes_every_request_in_both),
#endif
	};

	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
