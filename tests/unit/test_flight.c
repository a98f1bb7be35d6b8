/* SPDX-License-Identifier: BSD-2-Clause */
/* Equal requests share a lookup, later ones a kept answer. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "asker.h"
#include "base/clock.h"
#include "base/limits.h"
#include "fake_dns.h"
#include "fake_time.h"
#include "resolve/engine.h"
#include "test.h"

enum { MANY = 50 };

static struct rcm_asker askers[MANY];

static int setup(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		rcm_asker_done(&askers[i]);
	return rcm_fake_dns_under_way() != 0;
}

static int ask(unsigned i, const char *node)
{
	struct rcm_question q = rcm_question_name(node);

	return rcm_asker_ask(&askers[i], &q);
}

static void start(unsigned i, const char *node, uint32_t deadline_ms)
{
	struct rcm_question q = rcm_question_name(node);

	q.deadline_ms = deadline_ms;
	assert_int_equal(rcm_asker_start(&askers[i], &q), 0);
}

static void test_flight_is_shared_by_equal_requests_whatever_their_case(void **state)
{
	(void)state;
	start(0, "equal.hold.example", RCM_DEADLINE_DEFAULT);
	rcm_fake_dns_wait_started(1);
	for (unsigned i = 1; i < MANY - 1; i++)
		start(i, i % 2 ? "EQUAL.hold.Example" : "equal.hold.example", RCM_DEADLINE_DEFAULT);
	/* One more, of another name: when it is answered, all before it were begun. */
	assert_int_equal(ask(MANY - 1, "marker.example"), 0);
	rcm_fake_dns_release("equal.hold.example");
	for (unsigned i = 0; i < MANY - 1; i++) {
		assert_true(rcm_asker_wait(&askers[i]));
		assert_int_equal(askers[i].outcome.status, 0);
		assert_ptr_equal(askers[i].outcome.answer, askers[0].outcome.answer);
	}
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static void test_flight_is_not_shared_between_families(void **state)
{
	struct rcm_question q = rcm_question_name("families.hold.example");

	(void)state;
	start(0, "families.hold.example", RCM_DEADLINE_DEFAULT);
	q.hints.family = AF_INET6;
	assert_int_equal(rcm_asker_start(&askers[1], &q), 0);
	rcm_fake_dns_wait_started(2);
	rcm_fake_dns_release("families.hold.example");
	rcm_fake_dns_release("families.hold.example");
	assert_true(rcm_asker_wait(&askers[0]) && rcm_asker_wait(&askers[1]));
	assert_int_equal(rcm_answer_first(askers[0].outcome.answer)->sa.sa_family, AF_INET);
	assert_int_equal(rcm_answer_first(askers[1].outcome.answer)->sa.sa_family, AF_INET6);
}

static void test_flight_goes_on_when_one_of_its_requests_is_cancelled(void **state)
{
	(void)state;
	start(0, "leave.hold.example", RCM_DEADLINE_DEFAULT);
	start(1, "leave.hold.example", RCM_DEADLINE_DEFAULT);
	rcm_fake_dns_wait_started(1);
	rcm_request_cancel(askers[0].request);
	assert_true(rcm_asker_wait(&askers[0]));
	assert_int_equal(askers[0].outcome.status, -ECANCELED);
	assert_int_equal(rcm_fake_dns_cancelled(), 0);
	rcm_fake_dns_release("leave.hold.example");
	assert_true(rcm_asker_wait(&askers[1]));
	assert_int_equal(askers[1].outcome.status, 0);
}

/* A lookup of names is given no deadline: what it gave up after is resolv.conf's time, which is all that others have, too. */
static void test_flight_of_a_name_that_ran_out_of_time_ends_all_whatever_their_deadlines(void **state)
{
	(void)state;
	rcm_fake_time_freeze();
	start(0, "again.ms295.e110.example", 300);
	start(1, "again.ms295.e110.example", 9000);
	start(2, "again.ms295.e110.example", 0);
	rcm_fake_time_leap(RCM_NS_PER_S);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rcm_asker_wait(&askers[i]));
		assert_int_equal(askers[i].outcome.status, -ETIMEDOUT);
	}
	rcm_fake_time_thaw();
	assert_int_equal(rcm_fake_dns_started(), 1);
}

/* With time left, its running out is the back end's own decision: asking again would ask for ever. */
static void test_flight_that_gave_up_with_time_left_is_not_repeated(void **state)
{
	(void)state;
	start(0, "gaveup.e110.example", 5000);
	assert_true(rcm_asker_wait(&askers[0]));
	assert_int_equal(askers[0].outcome.status, -ETIMEDOUT);
	assert_int_equal(rcm_fake_dns_started(), 1);
}

static void test_flight_without_deadline_that_runs_out_of_time_ends_all(void **state)
{
	(void)state;
	start(0, "all.hold.e110.example", 0);
	start(1, "all.hold.e110.example", 9000);
	assert_int_equal(ask(2, "marker3.example"), 0);
	rcm_fake_dns_release("all.hold.e110.example");
	assert_true(rcm_asker_wait(&askers[0]) && rcm_asker_wait(&askers[1]));
	assert_int_equal(askers[0].outcome.status, -ETIMEDOUT);
	assert_int_equal(askers[1].outcome.status, -ETIMEDOUT);
}

static void test_answer_is_kept_for_its_ttl(void **state)
{
	struct rai_stats before, after;

	(void)state;
	rcm_engine_stats(&before);
	assert_int_equal(ask(0, "kept.ttl100.example"), 0);
	assert_int_equal(ask(1, "Kept.ttl100.example"), 0);
	assert_ptr_equal(askers[0].outcome.answer, askers[1].outcome.answer);
	assert_int_equal(rcm_fake_dns_started(), 1);
	rcm_engine_stats(&after);
	assert_int_equal(after.kept_hits - before.kept_hits, 1);
	assert_int_equal(after.lookups - before.lookups, 1);
	assert_int_equal(after.resolved - before.resolved, 2);
}

static void test_answer_is_kept_no_longer_than_the_limit(void **state)
{
	(void)state;
	assert_int_equal(ask(0, "long.ttl9000.example"), 0);
	rcm_fake_time_advance((RCM_TTL_MAX_S - 1) * RCM_NS_PER_S);
	assert_int_equal(ask(1, "long.ttl9000.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	rcm_fake_time_advance(RCM_NS_PER_S);
	assert_int_equal(ask(1, "long.ttl9000.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static void test_answer_without_ttl_is_not_kept(void **state)
{
	(void)state;
	assert_int_equal(ask(0, "unkept.example"), 0);
	assert_int_equal(ask(1, "unkept.example"), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static void test_answer_kept_is_not_given_to_who_wants_a_fresh_one(void **state)
{
	struct rcm_question q = rcm_question_name("fresh.ttl100.example");

	(void)state;
	assert_int_equal(ask(0, "fresh.ttl100.example"), 0);
	q.fresh = true;
	assert_int_equal(rcm_asker_ask(&askers[1], &q), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static void test_answer_that_says_no_is_kept_briefly_a_failure_is_not(void **state)
{
	(void)state;
	assert_int_equal(ask(0, "neg.e2.ttl100.example"), -ENOENT);
	assert_int_equal(ask(1, "neg.e2.ttl100.example"), -ENOENT);
	assert_int_equal(rcm_fake_dns_started(), 1);
	assert_int_equal(ask(0, "neg.e11.ttl100.example"), -EAGAIN);
	assert_int_equal(ask(1, "neg.e11.ttl100.example"), -EAGAIN);
	assert_int_equal(rcm_fake_dns_started(), 3);
}

static void test_answer_that_says_no_is_kept_no_longer_than_that(void **state)
{
	(void)state;
	assert_int_equal(ask(0, "late.e61.ttl100.example"), -ENODATA);
	rcm_fake_time_advance(RCM_TTL_NEGATIVE_S * RCM_NS_PER_S);
	assert_int_equal(ask(1, "late.e61.ttl100.example"), -ENODATA);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

/* RFC 2308, section 5. */
static void test_answer_that_says_no_and_not_for_how_long_is_not_kept(void **state)
{
	(void)state;
	assert_int_equal(ask(0, "neg.e2.example"), -ENOENT);
	assert_int_equal(ask(1, "neg.e2.example"), -ENOENT);
	assert_int_equal(ask(1, "neg.e61.example"), -ENODATA);
	assert_int_equal(ask(1, "neg.e61.example"), -ENODATA);
	assert_int_equal(rcm_fake_dns_started(), 4);
}

/* F7, F34: many silent names keep nobody waiting. */
static void test_flight_of_a_live_name_is_done_among_silent_ones(void **state)
{
	struct rcm_asker silent[200] = { 0 };
	char name[40];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct rcm_question q = rcm_question_name(name);

		snprintf(name, sizeof(name), "s%u.never.example", i);
		q.deadline_ms = 0;
		assert_int_equal(rcm_asker_start(&silent[i], &q), 0);
	}
	assert_int_equal(ask(0, "live.example"), 0);
	for (unsigned i = 0; i < 200; i++)
		rcm_request_cancel(silent[i].request);
	for (unsigned i = 0; i < 200; i++) {
		assert_true(rcm_asker_wait(&silent[i]));
		assert_int_equal(rcm_asker_times(&silent[i]), 1);
		rcm_asker_done(&silent[i]);
	}
	assert_int_equal(rcm_fake_dns_cancelled(), 200);
}

static atomic_bool stop;
static atomic_uint hits;

static void count_hit(void *arg, struct rcm_outcome *outcome)
{
	(void)arg;
	rcm_answer_put(outcome->answer);
	free(outcome->text);
	atomic_fetch_add(&hits, 1);
}

/* Asks for what is kept, without a pause. */
static void *flood(void *arg)
{
	struct rcm_question q = rcm_question_name("flood.ttl100.example");
	struct rcm_request *request;
	unsigned asked = 0;

	(void)arg;
	while (!atomic_load(&stop)) {
		if (asked - atomic_load(&hits) > 1000)
			continue;
		assert_int_equal(rcm_request_start(&q, count_hit, NULL, &request), 0);
		rcm_request_put(request);
		asked++;
	}
	while (atomic_load(&hits) < asked)
		sched_yield();
	return NULL;
}

/* F9: who asks without a pause for what is kept doesn't keep the answers of others from coming in. */
static void test_flight_lands_while_others_ask_without_a_pause(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(ask(0, "flood.ttl100.example"), 0);
	assert_int_equal(pthread_create(&thread, NULL, flood, NULL), 0);
	for (unsigned i = 1; i < 20; i++)
		assert_int_equal(ask(i, "through.ms2.example"), 0);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}

/* The key of a flight is held by its first request: it must go on when that one leaves. */
static void test_flight_is_found_by_later_ones_when_its_first_request_has_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		start(i, "handed.on.hold.example", RCM_DEADLINE_DEFAULT);
	rcm_fake_dns_wait_started(1);
	for (unsigned i = 0; i < 2; i++) {
		rcm_request_cancel(askers[i].request);
		assert_true(rcm_asker_wait(&askers[i]));
		rcm_asker_done(&askers[i]);
	}
	start(3, "handed.on.hold.example", RCM_DEADLINE_DEFAULT);
	assert_int_equal(ask(4, "marker4.example"), 0);
	rcm_fake_dns_release("handed.on.hold.example");
	assert_true(rcm_asker_wait(&askers[2]) && rcm_asker_wait(&askers[3]));
	assert_int_equal(rcm_fake_dns_started(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_flight_is_shared_by_equal_requests_whatever_their_case),
		T(test_flight_is_not_shared_between_families),
		T(test_flight_goes_on_when_one_of_its_requests_is_cancelled),
		T(test_flight_of_a_name_that_ran_out_of_time_ends_all_whatever_their_deadlines),
		T(test_flight_that_gave_up_with_time_left_is_not_repeated),
		T(test_flight_without_deadline_that_runs_out_of_time_ends_all),
		T(test_answer_is_kept_for_its_ttl),
		T(test_answer_is_kept_no_longer_than_the_limit),
		T(test_answer_without_ttl_is_not_kept),
		T(test_answer_kept_is_not_given_to_who_wants_a_fresh_one),
		T(test_answer_that_says_no_is_kept_briefly_a_failure_is_not),
		T(test_answer_that_says_no_is_kept_no_longer_than_that),
		T(test_answer_that_says_no_and_not_for_how_long_is_not_kept),
		T(test_flight_lands_while_others_ask_without_a_pause),
		T(test_flight_is_found_by_later_ones_when_its_first_request_has_left),
		T(test_flight_of_a_live_name_is_done_among_silent_ones),
	};

	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns });
	rcm_fake_time_use();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
