/* SPDX-License-Identifier: BSD-2-Clause */
/* A wall clock that is set an hour forth and back all the time: no resolution ends by it, and no answer is kept by it. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall_clock_that_is_set_answers_names_all_the_same),
		cmocka_unit_test(test_wall_clock_that_is_set_moves_no_deadline),
		cmocka_unit_test(test_wall_clock_that_is_set_keeps_answers_for_as_long_as_they_say),
	};

	rcm_engine_use(&(struct rcm_backends){ &rcm_fake_dns, &rcm_fake_sa, rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
