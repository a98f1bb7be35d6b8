/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing waits that needn't: calls, other ids, destroying, exiting. Servers: liar (timeout:1 attempts:1) and NSD. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "../unit/least.h"
#include "user.h"

#define LIAR "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n"
/* A silent name of this one is under way for a minute. */
#define PATIENT "nameserver 127.0.0.5\noptions timeout:60 attempts:1\n"
#define NSD "nameserver 127.0.0.2\noptions timeout:30 attempts:1\n"

static struct user *users(unsigned count)
{
	struct user *u = calloc(count, sizeof(*u));

	assert_non_null(u);
	return u;
}

static void destroy_all(struct user *u, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (u[i].id)
			user_destroy(&u[i]);
	free(u);
}

static void start_many(struct user *u, unsigned count, const char *format)
{
	char name[64];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), format, i);
		user_start(&u[i], name, NULL, NULL);
	}
}

/* Limits: a request that waits takes 1 KiB at most; what c-ares holds for the 128 in flight is within that. */
static void test_resolve_waiting_takes_at_most_1_kib_a_request(void **state)
{
	enum { COUNT = SLOW == 1 ? 100000 : 20000 };
	struct user *u = users(COUNT);
	struct rai_stats stats = { 0 };
	size_t before;

	(void)state;
	user_write("/etc/resolv.conf", NSD);
	user_pause("NSD");
	for (unsigned i = 0; i < COUNT; i++)
		user_create(&u[i], NULL);
	before = mallinfo2().uordblks;
	start_many(u, COUNT, "host%05u.cluster.bench.test");
	for (int i = 0; i < 3000 && stats.in_flight < COUNT; i++) {
		usleep(10000);
		rai_get_stats(&stats, sizeof(stats));
	}
	assert_int_equal(stats.in_flight, COUNT);
	before = (mallinfo2().uordblks - before) / COUNT;
	print_message("%zu bytes a request\n", before);
	if (SLOW == 1)
		assert_uint_in_range(before, 1, 1024);
	destroy_all(u, COUNT);
	user_resume("NSD");
	user_write("/etc/resolv.conf", LIAR);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The p-th per mille of the times inside the call, ns. */
static uint64_t call_time(const struct user *u, unsigned count, unsigned per_mille)
{
	uint64_t *times = calloc(count, sizeof(*times)), time;

	assert_non_null(times);
	for (unsigned i = 0; i < count; i++)
		times[i] = u[i].call_ns;
	qsort(times, count, sizeof(*times), compare_u64);
	time = times[(uint64_t)(count - 1) * per_mille / 1000];
	free(times);
	return time;
}

/* F1: the name server is stopped; calls return in microseconds, and other ids' events keep flowing. */
static void test_f1_resolve_with_server_stopped_returns_at_once_and_others_go_on(void **state)
{
	struct user *u = users(200), other = { 0 };

	(void)state;
	user_write("/etc/resolv.conf", NSD);
	user_pause("NSD");
	start_many(u, 200, "n%04u.bench.test");
	for (int i = 0; i < 100; i++) {
		user_start(&other, i % 2 ? "192.0.2.9" : "inhosts", NULL, NULL);
		assert_true(user_wait(&other, 1000));
		assert_int_equal(other.status, 0);
	}
	print_message("in the call: median %.1f us, most %.1f us\n", call_time(u, 200, 500) / 1e3,
		      call_time(u, 200, 1000) / 1e3);
	assert_uint_in_range(call_time(u, 200, 500), 0, 100000);
	for (int i = 0; i < 200; i++)
		assert_false(u[i].done);
	user_resume("NSD");
	for (int i = 0; i < 200; i++) {
		assert_true(user_wait(&u[i], 35000));
		assert_int_equal(u[i].status, 0);
	}
	user_destroy(&other);
	destroy_all(u, 200);
	user_write("/etc/resolv.conf", LIAR);
}

/* F7: a thousand ids wait for silent names; a live one is done at once, before any of them. */
static void test_f7_resolve_thousand_silent_ids_do_not_hold_up_a_live_one(void **state)
{
	struct user *u = users(1001);

	(void)state;
	start_many(u, 1000, "silent-%u.liar.test");
	user_start(&u[1000], "live.liar.test", NULL, NULL);
	assert_true(user_wait(&u[1000], 5000));
	assert_int_equal(u[1000].status, 0);
	print_message("live after %.1f ms\n", u[1000].took_ms);
	for (int i = 0; i < 1000; i++) {
		assert_true(user_wait(&u[i], 20000));
		assert_int_equal(u[i].status, -ETIMEDOUT);
		assert_true(u[1000].took_ms < u[i].took_ms);
	}
	destroy_all(u, 1001);
}

static double fast_name_ms(void *arg)
{
	struct user *fast = arg;
	static unsigned number;
	char name[64];

	snprintf(name, sizeof(name), "live-f34-%u.liar.test", number++);
	user_ask(fast, name);
	assert_int_equal(fast->status, 0);
	return fast->took_ms;
}

/* F34: a hundred silent names, and a fast one under 10 ms. */
static void test_f34_resolve_fast_name_beside_hundred_silent_under_10_ms(void **state)
{
	struct user *u = users(100), fast = { 0 };

	(void)state;
	user_write("/etc/resolv.conf", PATIENT);
	start_many(u, 100, "silent-f34-%u.liar.test");
	assert_true(least(fast_name_ms, &fast, 10 * SLOW) <= 10 * SLOW);
	user_write("/etc/resolv.conf", LIAR);
	user_destroy(&fast);
	destroy_all(u, 100);
}

/* F9: a reactor turns while a thread's worth of lookups stalls; its heart keeps beating. */
static void test_f9_resolve_from_a_reactor_thread_never_stalls_it(void **state)
{
	enum { BEATS = 2000 };
	struct user *u = users(BEATS);
	uint64_t before = user_now(), now;
	unsigned late = 0;
	char name[64];

	(void)state;
	for (unsigned i = 0; i < BEATS; i++) {
		snprintf(name, sizeof(name), "delay-2000-%u.liar.test", i);
		user_start(&u[i], name, NULL, NULL);
		user_wait(&u[i], 0);
		now = user_now();
		late += now - before > 1000000;
		before = now;
	}
	/* The scheduler may take the processor away from the test, but not often. */
	assert_uint_in_range(late, 0, BEATS / 50 * SLOW);
	destroy_all(u, BEATS);
}

static void set_deadline(struct user *u, uint32_t ms)
{
	assert_int_equal(rdma_set_option(u->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
}

/* F10: one deadline covers everything. */
static void test_f10_resolve_deadline_covers_the_lookup(void **state)
{
	struct user u;

	(void)state;
	user_create(&u, NULL);
	set_deadline(&u, 500);
	user_ask(&u, "delay-3000.liar.test");
	assert_int_equal(u.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(u.status, -ETIMEDOUT);
	assert_true(u.took_ms >= 500);
	user_destroy(&u);
}

struct deadline {
	struct user user;
	uint32_t ms;
};

static double deadline_late_ms(void *arg)
{
	struct deadline *deadline = arg;

	user_ask(&deadline->user, "silent-f31.liar.test");
	assert_int_equal(deadline->user.status, -ETIMEDOUT);
	assert_true(deadline->user.took_ms >= deadline->ms);
	return deadline->user.took_ms - deadline->ms;
}

/* F31: any deadline, and the error comes within 10 ms of it. */
static void test_f31_resolve_error_comes_within_10_ms_of_the_deadline(void **state)
{
	static const uint32_t deadlines[] = { 20, 50, 100, 250, 400 };
	struct deadline d = { 0 };

	(void)state;
	user_create(&d.user, NULL);
	for (size_t i = 0; i < sizeof(deadlines) / sizeof(*deadlines); i++) {
		d.ms = deadlines[i];
		set_deadline(&d.user, d.ms);
		assert_true(least(deadline_late_ms, &d, 10 * SLOW) <= 10 * SLOW);
	}
	user_destroy(&d.user);
}

static double destroy_ms(void *arg)
{
	struct user *u = users(300);
	uint64_t before;

	(void)arg;
	start_many(u, 300, "delay-100-%u.liar.test");
	before = user_now();
	destroy_all(u, 300);
	return (double)(user_now() - before) / 1e6;
}

/* F35: destroying hundreds of ids in mid-lookup takes no time, and nothing comes afterwards. */
static void test_f35_destroy_in_mid_lookup_at_once(void **state)
{
	struct user last = { 0 };

	(void)state;
	user_write("/etc/resolv.conf", PATIENT);
	assert_true(least(destroy_ms, NULL, 50 * SLOW) <= 50 * SLOW);
	user_ask(&last, "delay-150-last.liar.test");
	user_write("/etc/resolv.conf", LIAR);
	assert_int_equal(last.status, 0);
	user_destroy(&last);
}

static void *load_library(void)
{
	Dl_info info;

	assert_true(dladdr((void *)rdma_resolve_addrinfo, &info));
	return dlopen(info.dli_fname, RTLD_NOW);
}

/* Time from fork to the end of a child that starts silent lookups and then ends its way, ms. */
static double run_child(void *arg)
{
	void (*const *end)(void) = arg;
	uint64_t before = user_now();
	struct user *u;
	int status;
	pid_t pid = fork();

	if (!pid) {
		user_close();
		user_channel = rdma_create_event_channel();
		u = users(50);
		start_many(u, 50, "silent-exit-%u.liar.test");
		(*end)();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return (double)(user_now() - before) / 1e6;
}

static void end_by_exit(void)
{
	exit(0);
}

static void end_by_dlclose(void)
{
	void *library = load_library();

	if (!library || dlclose(library))
		_exit(1);
	exit(0);
}

/* F35: exit() and dlclose() in mid-lookup. */
static void test_f35_exit_and_dlclose_in_mid_lookup_at_once(void **state)
{
	void (*ways[])(void) = { end_by_exit, end_by_dlclose };

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_true(least(run_child, &ways[i], 50 * SLOW) <= 50 * SLOW);
}

static void tick(int number)
{
	(void)number;
}

/* F18: signals at 1 kHz, without SA_RESTART: only a blocking rdma_get_cm_event() says EINTR. */
static void test_f18_resolve_under_signals_at_1_khz_only_get_event_is_interrupted(void **state)
{
	const struct itimerval fast = { { 0, 1000 }, { 0, 1000 } }, off = { 0 };
	const struct sigaction action = { .sa_handler = tick };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	unsigned interrupted = 0;
	struct user u;
	char name[64];

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &fast, NULL), 0);
	for (int i = 0; i < 100; i++) {
		user_create(&u, channel);
		snprintf(name, sizeof(name), "delay-10-%d.liar.test", i);
		assert_int_equal(rdma_resolve_addrinfo(u.id, name, NULL, NULL), 0);
		while (rdma_get_cm_event(channel, &event)) {
			assert_int_equal(errno, EINTR);
			interrupted++;
		}
		assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
		assert_int_equal(event->status, 0);
		assert_int_equal(rdma_ack_cm_event(event), 0);
		user_destroy(&u);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	assert_true(interrupted > 0);
	rdma_destroy_event_channel(channel);
}

static void *ask_silent(void *arg)
{
	rdma_resolve_addrinfo(arg, "silent-sync.liar.test", NULL, NULL);
	return NULL;
}

static void resolve_in_the_call(struct rdma_cm_id *id)
{
	struct rdma_addrinfo *list;
	char text[64];

	assert_int_equal(rdma_resolve_addrinfo(id, "live-sync.liar.test", NULL, NULL), 0);
	assert_int_equal(id->event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	user_print(list, text, sizeof(text));
	assert_string_equal(text, "2001:db8::5 192.0.2.5");
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_resolve_addrinfo(id, "nxdomain-sync.liar.test", NULL, NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(rdma_resolve_addrinfo(id, "delay-100-sync.liar.test", NULL, NULL), 0);
}

static void await_one_under_way(void)
{
	struct rai_stats stats;

	do {
		sched_yield();
		assert_int_equal(rai_get_stats(&stats, sizeof(stats)), 0);
	} while (!stats.in_flight);
}

/* F2: an id without a channel waits for its own event, and keeps nobody else waiting. */
static void test_f2_resolve_without_a_channel_completes_in_the_call(void **state)
{
	struct rdma_cm_id *slow, *id;
	uint32_t ms = 60000;
	pthread_t thread;

	(void)state;
	alarm(120);
	user_write("/etc/resolv.conf", PATIENT);
	assert_int_equal(rdma_create_id(NULL, &slow, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_set_option(slow, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
	assert_int_equal(pthread_create(&thread, NULL, ask_silent, slow), 0);
	await_one_under_way();
	resolve_in_the_call(id);
	assert_int_equal(rai_cancel(slow), 0);
	pthread_join(thread, NULL);
	user_write("/etc/resolv.conf", LIAR);
	assert_int_equal(slow->event->event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(slow->event->status, -ECANCELED);
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_int_equal(rdma_destroy_id(slow), 0);
	alarm(0);
}

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);

/* Otherwise it sleeps a second in exit(), of which a test here measures the time. */
const char *__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}
#endif

/* The daemon of a process that ends: what it has in flight starts again in it, whatever it does with its memory. */
static void go_on_in_child(int fd)
{
	static struct user user[202];
	char name[64], *blocks[1000];

	user_open();
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "silent-fork-%d.liar.test", i);
		user_start(&user[i], name, NULL, NULL);
	}
	user_start(&user[200], "delay-300-fork.liar.test", NULL, NULL);
	usleep(50000);
	if (fork())
		_exit(0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++)
			blocks[i] = memset(malloc((size_t)i + 1), 0x55, (size_t)i + 1);
		for (int i = 0; i < 1000; i++)
			free(blocks[i]);
	}
	/* It is on that channel again from here on. */
	user_start(&user[201], "live-fork.liar.test", NULL, NULL);
	if (!user_wait(&user[200], 10000))
		strcpy(user[200].text, "no event");
	(void)!write(fd, user[200].text, strlen(user[200].text) + 1);
	_exit(0);
}

static void test_async_child_of_a_fork_goes_on_with_its_names(void **state)
{
	char text[USER_TEXT] = "";
	int fds[2], status;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (!pid)
			go_on_in_child(fds[1]);
		close(fds[1]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(read(fds[0], text, sizeof(text)) > 0);
		assert_string_equal(text, "2001:db8::5 192.0.2.5");
		close(fds[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f35_exit_and_dlclose_in_mid_lookup_at_once),
		cmocka_unit_test(test_f1_resolve_with_server_stopped_returns_at_once_and_others_go_on),
		cmocka_unit_test(test_f7_resolve_thousand_silent_ids_do_not_hold_up_a_live_one),
		cmocka_unit_test(test_f34_resolve_fast_name_beside_hundred_silent_under_10_ms),
		cmocka_unit_test(test_f9_resolve_from_a_reactor_thread_never_stalls_it),
		cmocka_unit_test(test_f10_resolve_deadline_covers_the_lookup),
		cmocka_unit_test(test_f31_resolve_error_comes_within_10_ms_of_the_deadline),
		cmocka_unit_test(test_f35_destroy_in_mid_lookup_at_once),
		cmocka_unit_test(test_f18_resolve_under_signals_at_1_khz_only_get_event_is_interrupted),
		cmocka_unit_test(test_f2_resolve_without_a_channel_completes_in_the_call),
		cmocka_unit_test(test_async_child_of_a_fork_goes_on_with_its_names),
		/* The last, since it leaves a large heap behind. */
		cmocka_unit_test(test_resolve_waiting_takes_at_most_1_kib_a_request),
	};
	int rc;

	user_open();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	user_close();
	return rc;
}
