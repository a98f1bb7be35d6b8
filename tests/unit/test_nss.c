/* SPDX-License-Identifier: BSD-2-Clause */
/* getaddrinfo() workers, with a getaddrinfo() that waits until the test lets it go. */
#include "dns/nss.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "dns/eai.h"
#include "dns/lookup.h"
#include "test.h"

struct result {
	unsigned done;
	int status;
	int code;
	unsigned count;
	union rcm_dns_address addresses[2];	/* the first ones */
	char canonname[64];
	char text[128];
	struct rcm_dns_lookup *lookup;
};

static struct rcm_loop loop;
static struct rcm_nss *nss;
static sem_t entered, leave;
static atomic_uint asking, asking_most;
static atomic_int signals_open;

static struct addrinfo *one(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_CANONNAME };
	struct addrinfo *list;

	return getaddrinfo(text, NULL, &hints, &list) ? NULL : list;
}

/* Of three addresses the second is of a family that we don't know. */
static int mixed(struct addrinfo **ret_list)
{
	*ret_list = one("127.0.0.1");
	(*ret_list)->ai_next = one("127.0.0.2");
	(*ret_list)->ai_next->ai_family = AF_UNIX;
	(*ret_list)->ai_next->ai_next = one("2001:db8::3");
	return 0;
}

/* One more than is given out. */
static int many(struct addrinfo **ret_list)
{
	for (unsigned i = 0; i <= RCM_RESULTS_MAX; i++) {
		struct addrinfo *next = *ret_list;

		*ret_list = one("127.0.0.1");
		(*ret_list)->ai_next = next;
	}
	return 0;
}

static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
static char asked_name[16];		/* the last one, as getaddrinfo() was given it; under asked_lock */
static atomic_int asked_family;

/* "stuck..." waits for leave; "none" doesn't exist; "broken" is an error of the system's; anything else but the two above
 * is 127.0.0.1 at once. */
static int fake_ask(const char *name, int family, struct addrinfo **ret_list)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_CANONNAME };
	unsigned now = atomic_fetch_add(&asking, 1) + 1;
	sigset_t mask;
	int ret;

	if (now > atomic_load(&asking_most))
		atomic_store(&asking_most, now);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	if (!sigismember(&mask, SIGALRM) || !sigismember(&mask, SIGTERM))
		atomic_store(&signals_open, 1);
	pthread_mutex_lock(&asked_lock);
	snprintf(asked_name, sizeof(asked_name), "%s", name);
	pthread_mutex_unlock(&asked_lock);
	atomic_store(&asked_family, family);
	sem_post(&entered);
	if (!strcmp(name, "broken")) {
		atomic_fetch_sub(&asking, 1);
		errno = EMFILE;
		return EAI_SYSTEM;
	}
	if (!strncmp(name, "stuck", 5))
		while (sem_wait(&leave))
			;
	ret = !strcmp(name, "mixed") ? mixed(ret_list) : !strcmp(name, "many") ? many(ret_list) :
	      strcmp(name, "none") ? getaddrinfo("127.0.0.1", NULL, &hints, ret_list) : EAI_NONAME;
	atomic_fetch_sub(&asking, 1);
	return ret;
}

static int open_nss(void **state)
{
	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	atomic_store(&asking_most, 0);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_nss_open(&loop, fake_ask, &nss), 0);
	return 0;
}

static int close_nss(void **state)
{
	(void)state;
	rcm_nss_close(nss);
	rcm_loop_done(&loop);
	return 0;
}

static void done(void *arg, const struct rcm_dns_answer *answer)
{
	struct result *result = arg;

	result->done++;
	result->status = answer->status;
	result->code = answer->code;
	result->count = answer->count;
	for (unsigned i = 0; i < answer->count && i < 2; i++)
		result->addresses[i] = answer->addresses[i];
	snprintf(result->canonname, sizeof(result->canonname), "%s", answer->canonname ? answer->canonname : "");
	snprintf(result->text, sizeof(result->text), "%s", answer->text ? answer->text : "");
	assert_int_equal(answer->ttl, 0);
}

static void start_query(struct result *result, const struct rcm_dns_query *query)
{
	memset(result, 0, sizeof(*result));
	assert_int_equal(rcm_nss_start(nss, query, done, result, &result->lookup), 0);
	assert_int_equal(result->done, 0);
}

static void start(struct result *result, const char *name)
{
	start_query(result, &(struct rcm_dns_query){ .name = name, .family = AF_INET });
}

static void wait_done(const struct result *result)
{
	while (!result->done)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
}

static void wait_entered(unsigned count)
{
	while (count--)
		while (sem_wait(&entered))
			;
}

static void let_go(unsigned count)
{
	while (count--)
		sem_post(&leave);
}

static void test_nss_address_and_failure_come_as_getaddrinfo_says(void **state)
{
	struct result r;

	(void)state;
	start(&r, "name");
	wait_done(&r);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.count, 1);
	assert_string_equal(r.canonname, "127.0.0.1");
	start(&r, "none");
	wait_done(&r);
	assert_int_equal(r.status, -ENOENT);
	assert_int_equal(r.code, EAI_NONAME);
	assert_int_equal(r.count, 0);
	assert_string_equal(r.text, "getaddrinfo: Name or service not known");
	assert_int_equal(atomic_load(&signals_open), 0);
	start(&r, "broken");
	wait_done(&r);
	assert_int_equal(r.status, rcm_eai_errno(EAI_SYSTEM, EMFILE));
	assert_int_not_equal(r.status, rcm_eai_errno(EAI_SYSTEM, 0));
	assert_int_equal(r.code, EAI_SYSTEM);
}

/* A full name has a dot at its end, and nothing has two. */
static void test_nss_name_and_family_are_asked_for_as_they_were_given(void **state)
{
	static const struct {
		const char *name;
		bool full;
		int family;
		const char *asked;
	} rows[] = {
		{ "a.test", false, AF_INET, "a.test" }, { "a.test", true, AF_UNSPEC, "a.test." },
		{ "a.test.", true, AF_INET, "a.test." }, { "a.test.", false, AF_UNSPEC, "a.test." },
		{ "", true, AF_INET, "" }, { "x", true, AF_INET, "x." }, { ".", true, AF_INET, "." },
	};
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		start_query(&r, &(struct rcm_dns_query){ .name = rows[i].name, .full = rows[i].full,
							 .family = rows[i].family });
		assert_false(r.lookup->ops->partial(r.lookup, done, &r));
		assert_int_equal(r.done, 0);
		wait_done(&r);
		assert_string_equal(asked_name, rows[i].asked);
		assert_int_equal(atomic_load(&asked_family), rows[i].family);
	}
}

static void test_nss_asks_getaddrinfo_for_one_of_each_address_and_its_name(void **state)
{
	struct addrinfo *list;

	(void)state;
	assert_int_equal(rcm_nss_ask("127.0.0.1", AF_INET, &list), 0);
	assert_null(list->ai_next);
	assert_int_equal(list->ai_family, AF_INET);
	assert_string_equal(list->ai_canonname, "127.0.0.1");
	freeaddrinfo(list);
	assert_int_equal(rcm_nss_ask("::1", AF_UNSPEC, &list), 0);
	assert_int_equal(list->ai_family, AF_INET6);
	freeaddrinfo(list);
	assert_int_not_equal(rcm_nss_ask("127.0.0.1", AF_INET6, &list), 0);
}

static void test_nss_no_more_threads_than_the_limit_and_the_rest_waits_in_order(void **state)
{
	enum { MANY = 3 * RCM_NSS_WORKERS };
	struct result r[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++)
		start(&r[i], "stuck");
	wait_entered(RCM_NSS_WORKERS);
	let_go(1);
	wait_entered(1);
	let_go(MANY);
	for (int i = 0; i < MANY; i++)
		wait_done(&r[i]);
	assert_int_equal(atomic_load(&asking_most), RCM_NSS_WORKERS);
}

/* each of a burst has a thread of its own, also where one was idle before. */
static void test_nss_burst_after_an_idle_worker_is_asked_for_at_once(void **state)
{
	struct result first, r[RCM_NSS_WORKERS];

	(void)state;
	start(&first, "name");
	wait_entered(1);
	wait_done(&first);
	for (int i = 0; i < RCM_NSS_WORKERS; i++)
		start(&r[i], "stuck");
	/* All are in it before the first comes back. */
	wait_entered(RCM_NSS_WORKERS);
	let_go(RCM_NSS_WORKERS);
	for (int i = 0; i < RCM_NSS_WORKERS; i++)
		wait_done(&r[i]);
}

/* names past their deadline don't hold up a live one. */
static void test_nss_name_given_up_gives_its_place_to_the_next(void **state)
{
	struct result stuck[2 * RCM_NSS_WORKERS], live;

	(void)state;
	for (int i = 0; i < 2 * RCM_NSS_WORKERS; i++)
		start(&stuck[i], "stuck");
	wait_entered(RCM_NSS_WORKERS);
	start(&live, "name");
	for (int i = 0; i < 2 * RCM_NSS_WORKERS; i++)
		stuck[i].lookup->ops->cancel(stuck[i].lookup);
	wait_done(&live);
	assert_int_equal(live.status, 0);
	let_go(2 * RCM_NSS_WORKERS);
	while (atomic_load(&asking))
		sched_yield();
	for (int i = 0; i < 2 * RCM_NSS_WORKERS; i++)
		assert_int_equal(stuck[i].done, 0);
}

static void test_nss_with_all_threads_stuck_says_so_until_one_comes_back(void **state)
{
	struct result stuck[RCM_NSS_THREADS], r;

	(void)state;
	for (int i = 0; i < RCM_NSS_THREADS; i++) {
		start(&stuck[i], "stuck");
		wait_entered(1);
		if (i < RCM_NSS_THREADS - 1)
			stuck[i].lookup->ops->cancel(stuck[i].lookup);
	}
	start(&r, "name");
	stuck[RCM_NSS_THREADS - 1].lookup->ops->cancel(stuck[RCM_NSS_THREADS - 1].lookup);
	wait_done(&r);
	assert_int_equal(r.status, -EAGAIN);
	assert_int_equal(r.code, EAI_AGAIN);
	assert_string_equal(r.text, rcm_nss_refusal(-EBUSY));
	assert_non_null(strstr(r.text, "have not come back"));
	assert_non_null(strstr(rcm_nss_refusal(-EAGAIN), "no thread"));
	start(&r, "name");
	wait_done(&r);
	assert_int_equal(r.status, -EAGAIN);
	let_go(1);
	do {
		start(&r, "name");
		wait_done(&r);
	} while (r.status == -EAGAIN);
	assert_int_equal(r.status, 0);
	let_go(RCM_NSS_THREADS - 1);
	while (atomic_load(&asking))
		sched_yield();
}

static void test_nss_cancelled_while_stuck_queued_or_answered_is_not_completed(void **state)
{
	struct result stuck[RCM_NSS_WORKERS], queued, last;

	(void)state;
	for (int i = 0; i < RCM_NSS_WORKERS; i++)
		start(&stuck[i], "stuck");
	wait_entered(RCM_NSS_WORKERS);
	start(&queued, "name");
	stuck[0].lookup->ops->cancel(stuck[0].lookup);
	queued.lookup->ops->cancel(queued.lookup);
	start(&last, "last");
	let_go(RCM_NSS_WORKERS);
	wait_done(&last);
	for (int i = 1; i < RCM_NSS_WORKERS; i++)
		wait_done(&stuck[i]);
	assert_int_equal(stuck[0].done, 0);
	assert_int_equal(queued.done, 0);
	/* Answered, its completion not yet run. */
	start(&queued, "name");
	wait_entered(1);
	while (atomic_load(&asking))
		sched_yield();
	queued.lookup->ops->cancel(queued.lookup);
	start(&last, "last");
	wait_done(&last);
	assert_int_equal(queued.done, 0);
}

/* F35: a thread that getaddrinfo() doesn't return to holds up nobody, and finds nothing to touch when it does. */
static void test_f35_nss_closed_with_stuck_workers_returns_at_once(void **state)
{
	struct result r[2 * RCM_NSS_WORKERS];

	(void)state;
	for (int i = 0; i < 2 * RCM_NSS_WORKERS; i++)
		start(&r[i], "stuck");
	wait_entered(RCM_NSS_WORKERS);
	rcm_nss_close(nss);
	for (int i = 0; i < 2 * RCM_NSS_WORKERS; i++)
		assert_int_equal(r[i].done, 0);
	let_go(RCM_NSS_WORKERS);
	while (atomic_load(&asking))
		sched_yield();
	assert_int_equal(rcm_nss_open(&loop, fake_ask, &nss), 0);
}

static void test_nss_abandoned_in_a_child_while_workers_are_stuck(void **state)
{
	struct result r;
	int status;
	pid_t pid;

	(void)state;
	start(&r, "stuck");
	wait_entered(1);
	pid = fork();
	if (!pid) {
		rcm_nss_abandon(nss);
		rcm_nss_abandon(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	let_go(1);
	wait_done(&r);
	assert_int_equal(r.status, 0);
}

#define NSS_TEST(f) cmocka_unit_test_setup_teardown(f, open_nss, close_nss)

static void test_nss_gives_the_addresses_that_were_found_and_no_others(void **state)
{
	struct result r;

	(void)state;
	start(&r, "mixed");
	wait_done(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.addresses[0].in.sin_family, AF_INET);
	assert_int_equal(r.addresses[0].in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(r.addresses[1].in6.sin6_family, AF_INET6);
	assert_int_equal(r.addresses[1].in6.sin6_addr.s6_addr[15], 3);
	start(&r, "many");
	wait_done(&r);
	assert_int_equal(r.count, RCM_RESULTS_MAX);
	assert_int_equal(r.addresses[1].in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NSS_TEST(test_nss_gives_the_addresses_that_were_found_and_no_others),
		NSS_TEST(test_nss_address_and_failure_come_as_getaddrinfo_says),
		NSS_TEST(test_nss_name_and_family_are_asked_for_as_they_were_given),
		NSS_TEST(test_nss_asks_getaddrinfo_for_one_of_each_address_and_its_name),
		NSS_TEST(test_nss_no_more_threads_than_the_limit_and_the_rest_waits_in_order),
		NSS_TEST(test_nss_burst_after_an_idle_worker_is_asked_for_at_once),
		NSS_TEST(test_nss_name_given_up_gives_its_place_to_the_next),
		NSS_TEST(test_nss_with_all_threads_stuck_says_so_until_one_comes_back),
		NSS_TEST(test_nss_cancelled_while_stuck_queued_or_answered_is_not_completed),
		NSS_TEST(test_f35_nss_closed_with_stuck_workers_returns_at_once),
		NSS_TEST(test_nss_abandoned_in_a_child_while_workers_are_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
