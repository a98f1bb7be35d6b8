/* SPDX-License-Identifier: BSD-2-Clause */
/* A record's removal, asked of a scripted SA. */
#include <errno.h>

#include "asker.h"
#include "base/clock.h"
#include "fake_sa.h"
#include "fake_time.h"
#include "resolve/answer.h"
#include "resolve/engine.h"
#include "test.h"

static struct rcm_asker asker, other;
static struct rcm_listing listing;
static struct rcm_question question;

#define SCRIPT(...) \
	static const struct rcm_fake_sa_step script[] = { __VA_ARGS__ }; \
	rcm_fake_sa_script(script, sizeof(script) / sizeof(*script))
#define STEP .remove = true, .port = 1, .gid = 5, .id = 7, .pkey = 0x8001

static int setup(void **state)
{
	(void)state;
	listing = (struct rcm_listing){
		.remove = true, .by_gid = true, .gid = rcm_fake_sa_gid(5), .by_pkey = true, .pkey = 0x8001,
	};
	question = (struct rcm_question){
		.hints = { .flags = RAI_SA | RAI_NOROUTE, .listing = true, .by_id = true, .service_id = 7 },
		.port = rcm_fake_sa_gid(1), .listing = &listing, .deadline_ms = RCM_DEADLINE_DEFAULT,
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_asker_done(&other);
	return !rcm_fake_sa_verify();
}

static void test_removal_of_a_record_ends_without_results(void **state)
{
	(void)state;
	SCRIPT({ STEP });
	assert_int_equal(rcm_asker_ask(&asker, &question), 0);
	assert_int_equal(asker.outcome.arg, 0);
	assert_null(asker.outcome.text);
}

static void test_removal_that_the_sa_refuses_tells_its_status_and_words(void **state)
{
	(void)state;
	SCRIPT({ STEP, .status = -EIO, .mad_status = 0x0700, .text = "REQ_DENIED" });
	assert_int_equal(rcm_asker_ask(&asker, &question), -EIO);
	assert_int_equal(asker.outcome.arg, 0x0700);
	assert_string_equal(asker.outcome.text, "services at the SA: REQ_DENIED");
}

static void test_removal_refused_for_its_pkey_is_asked_without_once(void **state)
{
	(void)state;
	SCRIPT({ STEP, .status = -EIO, .mad_status = 0x0200, .text = "REQ_INVALID" }, { STEP, .loose = true });
	assert_int_equal(rcm_asker_ask(&asker, &question), 0);
}

static void test_removal_refused_without_its_pkey_too_is_refused(void **state)
{
	(void)state;
	SCRIPT({ STEP, .status = -EIO, .mad_status = 0x0200, .text = "REQ_INVALID" },
	       { STEP, .loose = true, .status = -EIO, .mad_status = 0x0200, .text = "REQ_INVALID" });
	assert_int_equal(rcm_asker_ask(&asker, &question), -EIO);
}

static void test_removal_of_a_record_without_a_pkey_never_says_that_it_counts(void **state)
{
	(void)state;
	SCRIPT({ .remove = true, .port = 1, .gid = 5, .id = 7, .loose = true, .status = -ENOENT, .text = "none" });
	listing.pkey = 0;
	assert_int_equal(rcm_asker_ask(&asker, &question), -ENOENT);
}

static void test_removal_at_a_port_that_can_not_be_used_fails_with_that(void **state)
{
	(void)state;
	SCRIPT({ STEP, .start = -EACCES });
	assert_int_equal(rcm_asker_ask(&asker, &question), -EACCES);
}

static void test_removal_cancelled_cancels_its_question(void **state)
{
	(void)state;
	SCRIPT({ STEP, .ms = RCM_FAKE_SA_NEVER });
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_fake_sa_wait_asked(1);
	rcm_request_cancel(asker.request);
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ECANCELED);
	assert_int_equal(rcm_fake_sa_cancelled(), 1);
}

/* In time that passes by itself a machine that is busy may not have asked by then. */
static int ask_for_20_ms(struct rcm_asker *of)
{
	question.deadline_ms = 20;
	rcm_fake_time_freeze();
	assert_int_equal(rcm_asker_start(of, &question), 0);
	rcm_fake_time_leap(RCM_NS_PER_S);
	assert_true(rcm_asker_wait(of));
	rcm_fake_time_thaw();
	return of->outcome.status;
}

static void test_removal_at_a_silent_sa_ends_at_its_deadline(void **state)
{
	(void)state;
	SCRIPT({ STEP, .ms = RCM_FAKE_SA_NEVER });
	assert_int_equal(ask_for_20_ms(&asker), -ETIMEDOUT);
}

/* Equal ones share a question; a listing of the same record is another. */
static void test_removal_that_is_equal_is_shared_and_no_listing(void **state)
{
	struct rcm_listing shown = listing;

	(void)state;
	SCRIPT({ STEP, .ms = RCM_FAKE_SA_NEVER },
	       { .port = 1, .listing = true, .gid = 5, .id = 7, .pkey = 0x8001, .status = -ENOENT });
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_fake_sa_wait_asked(1);
	shown.remove = false;
	question.listing = &shown;
	assert_int_equal(rcm_asker_ask(&other, &question), -ENOENT);
	question.listing = &listing;
	assert_int_equal(ask_for_20_ms(&other), -ETIMEDOUT);
	assert_int_equal(rcm_fake_sa_asked(), 2);
	rcm_request_cancel(asker.request);
	assert_true(rcm_asker_wait(&asker));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_removal_of_a_record_ends_without_results),
		T(test_removal_that_the_sa_refuses_tells_its_status_and_words),
		T(test_removal_refused_for_its_pkey_is_asked_without_once),
		T(test_removal_refused_without_its_pkey_too_is_refused),
		T(test_removal_of_a_record_without_a_pkey_never_says_that_it_counts),
		T(test_removal_at_a_port_that_can_not_be_used_fails_with_that),
		T(test_removal_cancelled_cancels_its_question),
		T(test_removal_at_a_silent_sa_ends_at_its_deadline),
		T(test_removal_that_is_equal_is_shared_and_no_listing),
	};

	rcm_fake_time_use();
	rcm_engine_use(&(struct rcm_backends){ .sa = &rcm_fake_sa, .sa_ports = rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
