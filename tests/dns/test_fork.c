/* SPDX-License-Identifier: BSD-2-Clause */
/* Forks while thousands of names are in flight: no child dies, hangs or finds anything of its own touched, and the parent
 * goes on. Server: liar. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "user.h"

enum { LOAD = 2000, CHILDREN = 100, FILES = 32, BLOCKS = 256, CHILD_S = 60 };

/* ---- A child. No assertion: it is not to go on with other tests ---- */

static struct { dev_t dev; ino_t ino; } opened[FILES];

/* As daemons do: what the parent had is closed, and its numbers become files of the child's. */
static bool open_files(void)
{
	char path[128];
	struct stat st;
	int fd;

	if (close_range(3, ~0U, 0))
		return false;
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/child-%d-%d", getenv("RAI_WORLD_DIR"), (int)getpid(), i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd != 3 + i || unlink(path) || fstat(fd, &st))
			return false;
		opened[i].dev = st.st_dev;
		opened[i].ino = st.st_ino;
	}
	return true;
}

/* And nothing was written to them. */
static bool are_files_untouched(void)
{
	struct stat st;

	for (int i = 0; i < FILES; i++)
		if (fstat(3 + i, &st) || st.st_dev != opened[i].dev || st.st_ino != opened[i].ino || st.st_size)
			return false;
	return true;
}

/* A heap that was left broken is found out by who uses it. */
static bool allocate(unsigned seed)
{
	static unsigned char *blocks[BLOCKS];

	for (int i = 0; i < 20 * BLOCKS; i++) {
		unsigned at = (unsigned)rand_r(&seed) % BLOCKS, size = 1 + (unsigned)rand_r(&seed) % 3000;

		if (blocks[at] && blocks[at][0] != (unsigned char)at)
			return false;
		free(blocks[at]);
		blocks[at] = malloc(size);
		if (!blocks[at])
			return false;
		memset(blocks[at], (int)at, size);
	}
	return true;
}

static int resolve_own(unsigned number)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char name[64];

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return 11;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "live-%u-%u.liar.test", number, i);
		if (rdma_resolve_addrinfo(id, name, NULL, NULL) || rdma_get_cm_event(channel, &event))
			return 12;
		if (event->status)
			return 13;
		rdma_ack_cm_event(event);
	}
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}

/* What was in flight at the fork comes to the child, too, where it goes on with the channel. */
static int take_inherited(void)
{
	struct pollfd pfd = { .fd = user_channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	for (int taken = 0; taken < 10;) {
		if (rdma_get_cm_event(user_channel, &event)) {
			if (errno != EAGAIN)
				return 21;
			poll(&pfd, 1, 1000);
			continue;
		}
		if (event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED)
			taken++;
		rdma_ack_cm_event(event);
	}
	return 0;
}

static void live_as_child(unsigned number)
{
	int ret = 0;

	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	alarm(CHILD_S * SLOW);
	if (!allocate(number))
		_exit(1);
	if (number % 3 == 0)
		ret = take_inherited();
	else if (number % 3 == 1 && !open_files())
		ret = 2;
	if (!ret)
		ret = resolve_own(number);
	if (!ret && number % 3 == 1 && !are_files_untouched())
		ret = 3;
	if (!ret && !allocate(number + 1))
		ret = 4;
	_exit(ret);
}

/* ---- The parent ---- */

static void start_load(struct user *load, unsigned round)
{
	char name[64];

	for (unsigned i = 0; i < LOAD; i++) {
		if (load[i].id && !load[i].done)
			continue;
		snprintf(name, sizeof(name), "delay-%u-%u-%u.liar.test", 1 + i % 200, round, i);
		user_start(&load[i], name, NULL, NULL);
	}
}

static void test_fork_with_thousands_of_names_in_flight_leaves_children_that_live_and_resolve(void **state)
{
	struct user *load = calloc(LOAD, sizeof(*load));
	pid_t children[CHILDREN];
	int status, failed = 0;

	(void)state;
	assert_non_null(load);
	/* The server is a busy one: no name is to fail for that. */
	user_write("/etc/resolv.conf", "nameserver 127.0.0.5\noptions timeout:30 attempts:5\n");
	for (unsigned c = 0; c < CHILDREN; c++) {
		start_load(load, c);
		fflush(NULL);
		children[c] = fork();
		assert_true(children[c] >= 0);
		if (!children[c])
			live_as_child(c);
		user_wait(&load[c % LOAD], 10);
		/* Some at a time. */
		if (c >= 8 && waitpid(children[c - 8], &status, 0) == children[c - 8] && status && ++failed)
			print_error("child %u: status %x\n", c - 8, status);
	}
	for (unsigned c = CHILDREN - 8; c < CHILDREN; c++) {
		assert_int_equal(waitpid(children[c], &status, 0), children[c]);
		if (status && ++failed)
			print_error("child %u: status %x\n", c, status);
	}
	assert_int_equal(failed, 0);
	for (unsigned i = 0; i < LOAD; i++) {
		assert_true(user_wait(&load[i], CHILD_S * 1000 * SLOW));
		assert_int_equal(load[i].status, 0);
		user_destroy(&load[i]);
	}
	free(load);
}

/* ---- A watcher that waits for a lock of the program's, which a fork takes before any of the library's ---- */

enum { WATCHED_FORKS = 300 };

static pthread_mutex_t program = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool program_forks, asked_enough;
static atomic_uint steps_seen;

static void program_prepare(void)
{
	if (atomic_load(&program_forks))
		pthread_mutex_lock(&program);
}

static void program_over(void)
{
	if (atomic_load(&program_forks))
		pthread_mutex_unlock(&program);
}

static void watch_step(void *arg, const struct rai_step *step)
{
	(void)arg;
	(void)step;
	pthread_mutex_lock(&program);
	atomic_fetch_add(&steps_seen, 1);
	pthread_mutex_unlock(&program);
}

static void *ask_on(void *arg)
{
	struct rdma_addrinfo *list;
	char name[64];

	for (unsigned i = 0; !atomic_load(&asked_enough); i++) {
		snprintf(name, sizeof(name), "live-watched-%u.liar.test", i);
		if (!rdma_getaddrinfo(name, NULL, NULL, &list))
			rdma_freeaddrinfo(list);
	}
	return arg;
}

static void live_watched(unsigned number)
{
	unsigned before = atomic_load(&steps_seen);
	int ret;

	alarm(CHILD_S * SLOW);
	ret = resolve_own(number);
	_exit(ret ? ret : atomic_load(&steps_seen) == before);
}

static void test_fork_while_a_watcher_waits_for_what_the_forking_thread_holds_goes_on(void **state)
{
	static const struct rai_watcher watcher = { .step = watch_step };
	pthread_t thread;
	int status;

	(void)state;
	user_write("/etc/resolv.conf", "nameserver 127.0.0.5\noptions timeout:30 attempts:5\n");
	assert_int_equal(pthread_atfork(program_prepare, program_over, program_over), 0);
	atomic_store(&program_forks, true);
	assert_int_equal(rai_watch_steps(&watcher), 0);
	assert_int_equal(pthread_create(&thread, NULL, ask_on, NULL), 0);
	alarm(CHILD_S * SLOW);
	/* Not while a sanitizer's runtime makes itself at home in the new thread: it would leave the child its locks. */
	while (!atomic_load(&steps_seen))
		sched_yield();
	for (unsigned i = 0; i < WATCHED_FORKS; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child && i % 10 == 0)
			live_watched(i);
		if (!child)
			_exit(0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	alarm(0);
	atomic_store(&asked_enough, true);
	pthread_join(thread, NULL);
	assert_int_equal(rai_watch_steps(NULL), 0);
	atomic_store(&program_forks, false);
	assert_true(atomic_load(&steps_seen) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_with_thousands_of_names_in_flight_leaves_children_that_live_and_resolve),
		cmocka_unit_test(test_fork_while_a_watcher_waits_for_what_the_forking_thread_holds_goes_on),
	};
	int failed;

	user_open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	user_close();
	return failed;
}
