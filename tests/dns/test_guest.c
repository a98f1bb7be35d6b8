/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing waits for what it doesn't need: files on dead disks, silent servers, changes meanwhile. Servers: liar, NSD. A FIFO
 * stands for a file on a dead disk: whoever opens it waits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "../unit/least.h"
#include "user.h"

#define LIAR "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n"
#define NSD "nameserver 127.0.0.2\noptions timeout:1 attempts:1\n"
#define HOSTS "127.0.0.1 localhost\n::1 localhost\n192.0.2.77 inhosts\n"
#define RESOLV "/etc/resolv.conf"

static int set_up(void **state)
{
	(void)state;
	user_write(RESOLV, NSD);
	user_write("/etc/hosts", HOSTS);
	return 0;
}

static void disk_dies(const char *path)
{
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
}

/* With what the file says, for whoever stands in it, too: at no time is it empty or gone. */
static void disk_comes_back(const char *path, const char *text)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	assert_true(fd >= 0);
	user_write(path, text);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static double ms_of_fork(void *arg)
{
	uint64_t start = user_now();
	pid_t pid = fork();
	double took;

	(void)arg;
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	took = (double)(user_now() - start) / 1e6;
	waitpid(pid, NULL, 0);
	return took;
}

static void assert_answer(struct user *u, const char *node, const char *text, unsigned max_ms)
{
	user_start(u, node, NULL, NULL);
	assert_true(user_wait(u, max_ms * SLOW));
	assert_int_equal(u->status, 0);
	if (text)
		assert_string_equal(u->text, text);
}

static void test_resolv_conf_on_a_dead_disk_delays_neither_names_nor_a_fork(void **state)
{
	struct user u = { 0 };

	(void)state;
	assert_answer(&u, "v4.rai.test", "192.0.2.4", 5000);
	disk_dies(RESOLV);
	assert_answer(&u, "inhosts", "192.0.2.77", 500);
	assert_true(least(ms_of_fork, NULL, 100 * SLOW) <= 100 * SLOW);
	/* By the server that was read of before. */
	assert_answer(&u, "v4.rai.test", "192.0.2.4", 500);
	disk_comes_back(RESOLV, NSD);
	assert_answer(&u, "v4.rai.test", "192.0.2.4", 5000);
	user_destroy(&u);
}

static void test_services_file_on_a_dead_disk_delays_no_other_and_keeps_deadlines(void **state)
{
	struct user u = { 0 }, stuck = { 0 };
	uint32_t ms = 300;
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen("/etc/services", "r");

	(void)state;
	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	assert_answer(&u, "v4.rai.test", "192.0.2.4", 5000);
	disk_dies("/etc/services");
	user_create(&stuck, NULL);
	assert_int_equal(rdma_set_option(stuck.id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
	user_start(&stuck, "192.0.2.1", "no-such-service-here", NULL);
	assert_answer(&u, "inhosts", "192.0.2.77", 500);
	assert_answer(&u, "v4.rai.test", "192.0.2.4", 500);
	assert_true(least(ms_of_fork, NULL, 100 * SLOW) <= 100 * SLOW);
	assert_true(user_wait(&stuck, 5000));
	assert_int_equal(stuck.status, -ETIMEDOUT);
	disk_comes_back("/etc/services", text);
	free(text);
	user_destroy(&stuck);
	user_destroy(&u);
}

enum { SILENT = 2500 };

static void test_names_of_the_hosts_file_do_not_wait_behind_silent_ones(void **state)
{
	struct user *silent = calloc(SILENT, sizeof(*silent)), u = { 0 };
	char name[64];

	(void)state;
	user_write(RESOLV, LIAR);
	for (int i = 0; i < SILENT; i++) {
		snprintf(name, sizeof(name), "silent-%d.liar.test", i);
		user_start(&silent[i], name, NULL, NULL);
	}
	assert_answer(&u, "inhosts", "192.0.2.77", 500);
	/* And once more when the files count as not looked at. */
	user_write("/etc/hosts", HOSTS "192.0.2.78 added\n");
	assert_answer(&u, "added", "192.0.2.78", 500);
	for (int i = 0; i < SILENT; i++)
		user_destroy(&silent[i]);
	user_destroy(&u);
	free(silent);
}

static void test_name_asked_at_a_dead_server_is_asked_anew_once_that_is_set_right(void **state)
{
	struct user dead = { 0 }, live = { 0 };

	(void)state;
	user_write(RESOLV, "nameserver 127.0.0.5\noptions timeout:5 attempts:2\n");
	user_pause("LIAR");
	user_start(&dead, "v4.rai.test", NULL, NULL);
	assert_false(user_wait(&dead, 50));
	user_write(RESOLV, NSD);
	user_start(&live, "v4.rai.test", NULL, NULL);
	user_wait(&live, 1000 * SLOW);
	user_resume("LIAR");
	assert_true(live.done);
	assert_string_equal(live.text, "192.0.2.4");
	user_destroy(&dead);
	user_destroy(&live);
}

static void test_slow_answer_does_not_hide_what_the_hosts_file_says_since(void **state)
{
	struct user slow = { 0 }, u = { 0 };

	(void)state;
	user_write(RESOLV, LIAR);
	user_start(&slow, "delay-300-x.liar.test", NULL, NULL);
	assert_false(user_wait(&slow, 50));
	user_write("/etc/hosts", HOSTS "192.0.2.99 delay-300-x.liar.test\n");
	assert_answer(&u, "inhosts", "192.0.2.77", 500);
	assert_true(user_wait(&slow, 5000));
	for (int i = 0; i < 3; i++)
		assert_answer(&u, "delay-300-x.liar.test", "192.0.2.99", 500);
	user_destroy(&slow);
	user_destroy(&u);
}

static void test_file_changed_before_a_call_is_seen_by_that_call(void **state)
{
	char line[128], address[32];
	struct user u = { 0 };

	(void)state;
	assert_answer(&u, "inhosts", "192.0.2.77", 5000);
	for (int i = 1; i < 100; i++) {
		snprintf(address, sizeof(address), "192.0.2.%d", i);
		snprintf(line, sizeof(line), "%s inhosts\n", address);
		user_write("/etc/hosts", line);
		assert_answer(&u, "inhosts", address, 1000);
		/* By now on the caller's own thread. */
		assert_answer(&u, "inhosts", address, 1000);
	}
	user_destroy(&u);
}

/* TSan refuses threads in the child of a threaded process. */
#ifndef __SANITIZE_THREAD__
/* ---- What the parent's threads wait for is none of the child's business ---- */

enum { BIG_STACK = 64 << 20 };

static void *ask_in_vain(void *arg)
{
	struct rdma_addrinfo *list;

	if (!rdma_getaddrinfo(arg, NULL, NULL, &list))
		rdma_freeaddrinfo(list);
	return NULL;
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* In the child the C library gives back the stacks of the parent's threads, once it has one of its own. */
static int outlive_the_parents_thread(void)
{
	struct rdma_addrinfo *list;
	pthread_t thread;

	alarm(30 * SLOW);
	if (pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL))
		return 1;
	if (rdma_getaddrinfo("192.0.2.1", NULL, NULL, &list))
		return 2;
	rdma_freeaddrinfo(list);
	/* Takes as long as the parent's, which began before. */
	return rdma_getaddrinfo("silent-own.liar.test", NULL, NULL, &list) == 0;
}

static void test_fork_beside_a_thread_in_getaddrinfo_leaves_its_stack_alone(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	int status = -1;
	pid_t child;

	(void)state;
	user_write(RESOLV, LIAR);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, BIG_STACK);
	assert_int_equal(pthread_create(&thread, &attr, ask_in_vain, "silent-theirs.liar.test"), 0);
	usleep(100000);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(outlive_the_parents_thread());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static void test_fork_child_that_asks_for_itself_shows_nothing_on_its_parents_channel(void **state)
{
	struct pollfd p = { .fd = user_channel->fd, .events = POLLIN };
	struct user u = { 0 };
	int status = -1;
	pid_t child;

	(void)state;
	user_write(RESOLV, LIAR);
	user_start(&u, "silent-in-flight.liar.test", NULL, NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(outlive_the_parents_thread());
	assert_int_equal(rai_cancel(u.id), 0);
	assert_true(user_wait(&u, 1000 * SLOW));
	assert_int_equal(u.status, -ECANCELED);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	user_destroy(&u);
}
#endif

/* The last, since it takes IPv6 away. */
static void test_kept_answer_has_the_order_that_routes_give_it_today(void **state)
{
	struct rai_stats before, after;
	struct user u = { 0 };

	(void)state;
	user_write(RESOLV, LIAR);
	assert_answer(&u, "live-kept.liar.test", "2001:db8::5 192.0.2.5", 5000);
	assert_int_equal(system("ip -6 route flush dev rai0; ip -6 addr flush dev rai0"), 0);
	rai_get_stats(&before, sizeof(before));
	assert_answer(&u, "live-kept.liar.test", "192.0.2.5 2001:db8::5", 500);
	rai_get_stats(&after, sizeof(after));
	assert_int_equal(after.kept_hits, before.kept_hits + 1);
	user_destroy(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, set_up)
		T(test_resolv_conf_on_a_dead_disk_delays_neither_names_nor_a_fork),
		T(test_services_file_on_a_dead_disk_delays_no_other_and_keeps_deadlines),
		T(test_names_of_the_hosts_file_do_not_wait_behind_silent_ones),
		T(test_name_asked_at_a_dead_server_is_asked_anew_once_that_is_set_right),
		T(test_slow_answer_does_not_hide_what_the_hosts_file_says_since),
		T(test_file_changed_before_a_call_is_seen_by_that_call),
#ifndef __SANITIZE_THREAD__
		T(test_fork_beside_a_thread_in_getaddrinfo_leaves_its_stack_alone),
		T(test_fork_child_that_asks_for_itself_shows_nothing_on_its_parents_channel),
#endif
		T(test_kept_answer_has_the_order_that_routes_give_it_today),
	};
	int failed;

	user_open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	user_close();
	return failed;
}
