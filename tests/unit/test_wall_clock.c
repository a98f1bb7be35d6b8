/* SPDX-License-Identifier: BSD-2-Clause */
/* A wall clock that is set an hour forth and back all the time: no resolution ends by it, and no answer is kept by it.
 * And a host that was suspended. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#include "asker.h"
#include "base/clock.h"
#include "fake_dns.h"
#include "fake_sa.h"
#include "resolve/engine.h"
#include "test.h"

enum { DEADLINE_MS = 200, HOUR = 3600 };

/* ---- Each look at the wall clock sees it set anew ---- */

static atomic_uint looks;

/* So long the host was suspended. */
static _Atomic(time_t) slept_s;

static time_t ahead(void)
{
	return atomic_fetch_add(&looks, 1) % 2 ? HOUR : -HOUR;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
time_t __real_time(time_t *now);
time_t __wrap_time(time_t *now);
int __real_gettimeofday(struct timeval *now, void *zone);
int __wrap_gettimeofday(struct timeval *now, void *zone);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);

	if (clock == CLOCK_BOOTTIME)
		now->tv_sec += atomic_load(&slept_s);
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		now->tv_sec += ahead();
	return ret;
}

time_t __wrap_time(time_t *now)
{
	time_t moved = __real_time(NULL) + ahead();

	if (now)
		*now = moved;
	return moved;
}

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
	int ret = __real_gettimeofday(now, zone);

	now->tv_sec += ahead();
	return ret;
}

/* ---- What it changes ---- */

static int ask(const char *node)
{
	struct rcm_question q = rcm_question_name(node);
	struct rcm_asker asker = { 0 };
	int status = rcm_asker_ask(&asker, &q);

	rcm_asker_done(&asker);
	return status;
}

static void test_wall_clock_that_is_set_answers_names_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(ask("now.a2.example"), 0);
	assert_int_equal(ask("ms30.a2.example"), 0);
}

static void test_wall_clock_that_is_set_moves_no_deadline(void **state)
{
	struct rcm_question q = rcm_question_name("never.example");
	struct rcm_asker asker = { 0 };
	uint64_t start = rcm_clock_now();

	(void)state;
	q.deadline_ms = DEADLINE_MS;
	assert_int_equal(rcm_asker_ask(&asker, &q), -ETIMEDOUT);
	assert_true(asker.at - start >= DEADLINE_MS * RCM_NS_PER_MS);
	rcm_asker_done(&asker);
}

static void test_wall_clock_that_is_set_keeps_answers_for_as_long_as_they_say(void **state)
{
	uint64_t start;

	(void)state;
	rcm_fake_dns_reset();
	assert_int_equal(ask("long.a1.ttl60.example"), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ask("long.a1.ttl60.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	rcm_fake_dns_reset();
	start = rcm_clock_now();
	while (rcm_fake_dns_started() < 2 && rcm_clock_now() - start < 30 * RCM_NS_PER_S)
		assert_int_equal(ask("short.a1.ttl1.example"), 0);
	assert_true(rcm_clock_now() - start >= RCM_NS_PER_S);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

/* ---- What a suspend changes, over which CLOCK_MONOTONIC stands still ---- */

static void test_suspend_makes_what_is_kept_older(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	assert_int_equal(ask("slept.a1.ttl600.example"), 0);
	slept_s += 500;
	assert_int_equal(ask("slept.a1.ttl600.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	slept_s += 500;
	assert_int_equal(ask("slept.a1.ttl600.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
	assert_int_equal(ask("slept.a1.ttl600.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

/* A service's records don't look here for what is kept, but on the library's thread. */
static void test_suspend_makes_what_the_librarys_thread_finds_kept_older(void **state)
{
	const struct rcm_fake_sa_step step = {
		.name = "storage", .port = 1, .count = 1, .total = 1,
		.services = { { .gid = rcm_fake_sa_gid(5), .pkey = 0x8001, .id = 1, .name = "storage" } },
	}, script[] = { step, step };
	const struct rcm_sa_port port = { .device = "mlx5_0", .number = 1, .infiniband = true, .active = true,
					  .gid = rcm_fake_sa_gid(1) };
	struct rcm_question q = {
		.service = "storage", .hints.flags = RAI_SA | RAI_NOROUTE, .port = rcm_fake_sa_gid(1),
		.deadline_ms = RCM_DEADLINE_DEFAULT,
	};
	struct rcm_asker asker = { 0 };

	(void)state;
	rcm_fake_sa_set_ports(&port, 1);
	rcm_fake_sa_script(script, 2);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(rcm_asker_ask(&asker, &q), 0);
		rcm_asker_done(&asker);
		asker = (struct rcm_asker){ 0 };
		assert_int_equal(rcm_fake_sa_asked(), 1 + i / 2);
		slept_s += i == 1 ? 3600 : 0;
	}
	assert_true(rcm_fake_sa_verify());
}

static void test_suspend_moves_no_deadline(void **state)
{
	struct rcm_question q = rcm_question_name("never.example");
	struct rcm_asker asker = { 0 };
	uint64_t start = rcm_clock_now();

	(void)state;
	q.deadline_ms = DEADLINE_MS;
	rcm_fake_dns_reset();
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_started(1);
	slept_s += 3600;
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ETIMEDOUT);
	assert_true(asker.at - start >= DEADLINE_MS * RCM_NS_PER_MS);
	rcm_asker_done(&asker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall_clock_that_is_set_answers_names_all_the_same),
		cmocka_unit_test(test_wall_clock_that_is_set_moves_no_deadline),
		cmocka_unit_test(test_wall_clock_that_is_set_keeps_answers_for_as_long_as_they_say),
		cmocka_unit_test(test_suspend_makes_what_is_kept_older),
		cmocka_unit_test(test_suspend_makes_what_the_librarys_thread_finds_kept_older),
		cmocka_unit_test(test_suspend_moves_no_deadline),
	};

	setenv("RAI_SA_KEEP_MS", "60000", 1);
	rcm_engine_use(&(struct rcm_backends){ &rcm_fake_dns, &rcm_fake_sa, rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
