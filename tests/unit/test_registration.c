/* SPDX-License-Identifier: BSD-2-Clause */
/* One service at an SA that answers, is silent, forgets, refuses, or has another's record in its place. */
#include "publish/registration.h"

#include <errno.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "publishing.h"
#include "test.h"

static struct rcm_publishing one;

/* Started and registered. */
static void registered(void)
{
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(0);
	assert_told(&one, 0);
}

static void finish(void)
{
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_publishing_stop(&one);
	rcm_model_sa_run(5 * RCM_TEST_S);
	assert_true(one.over);
}

static void test_registration_sets_all_of_its_record(void **state)
{
	struct rcm_model_record *found;

	(void)state;
	registered();
	assert_string_equal(one.text, "registered");
	found = rcm_model_sa_find(0x77);
	assert_non_null(found);
	assert_string_equal(found->record.name, "storage");
	assert_int_equal(found->record.gid.raw[15], 1);
	assert_int_equal(found->record.pkey, 0xffff);
	assert_int_equal(found->record.lease, 120);
	assert_int_equal(found->record.data[15], 9);
	assert_int_equal(rcm_model_sets, 1);
	assert_int_equal(rcm_model_gets, 0);
	finish();
}

static void test_registration_is_renewed_at_a_third_of_its_lease(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_run(40 * RCM_TEST_S - 1);
	assert_int_equal(rcm_model_sets, 1);
	rcm_model_sa_run(1);
	assert_int_equal(rcm_model_sets, 2);
	rcm_model_sa_run(3600 * RCM_TEST_S);
	assert_int_equal(rcm_model_sets, 2 + 90);
	assert_int_equal(rcm_model_sa_count(), 1);
	assert_told(&one, 0);
	finish();
}

static void test_registration_in_another_partition_is_set_there(void **state)
{
	(void)state;
	rcm_publishing_prepare(&one, 0x77);
	one.published.registration.offer.pkey = 0x8001;
	rcm_publishing_begin(&one);
	rcm_model_sa_run(0);
	assert_int_equal(rcm_model_sa_find(0x77)->record.pkey, 0x8001);
	finish();
}

static void test_registration_that_is_stopped_removes_its_record(void **state)
{
	(void)state;
	registered();
	rcm_publishing_stop(&one);
	rcm_model_sa_run(0);
	assert_true(one.over);
	assert_int_equal(rcm_model_sa_count(), 0);
	assert_int_equal(rcm_model_deletes, 1);
	assert_told(&one, 0);
}

static void test_registration_that_is_stopped_before_its_first_turn_asks_nothing(void **state)
{
	(void)state;
	rcm_publishing_start(&one, 0x77);
	rcm_publishing_stop(&one);
	rcm_model_sa_run(0);
	assert_true(one.over);
	assert_int_equal(rcm_model_sets + rcm_model_deletes + rcm_model_gets, 0);
	assert_int_equal(one.told, 0);
}

/* What is asked after the Set is answered can't overtake it. */
static void test_registration_that_is_stopped_while_it_is_set_removes_it_afterwards(void **state)
{
	(void)state;
	rcm_publishing_start(&one, 0x77);
	rcm_timers_fire(&rcm_publishing_loop, rcm_publishing_loop.now);
	assert_int_equal(rcm_model_sa_pending(), 1);
	rcm_publishing_stop(&one);
	assert_int_equal(rcm_model_sa_pending(), 1);
	rcm_model_sa_run(0);
	assert_true(one.over);
	assert_int_equal(rcm_model_sets, 1);
	assert_int_equal(rcm_model_sa_count(), 0);
	assert_int_equal(one.told, 0);
}

static void put_other(const char *name)
{
	struct rcm_sa_service_record record = rcm_model_sa_find(0x77)->record;

	memset(record.name, 0, sizeof(record.name));
	strcpy(record.name, name);
	rcm_model_sa_put(&record, (const uint8_t[16]){ 0xee });
}

static void test_registration_that_is_stopped_leaves_anothers_record_alone(void **state)
{
	(void)state;
	registered();
	put_other("storage");
	rcm_publishing_stop(&one);
	rcm_model_sa_run(0);
	assert_true(one.over);
	assert_int_equal(rcm_model_deletes, 0);
	assert_int_equal(rcm_model_sa_count(), 1);
}

static void test_registration_that_is_stopped_at_a_silent_sa_ends_all_the_same(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_publishing_stop(&one);
	rcm_model_sa_run(4 * RCM_TEST_S);
	assert_true(one.over);
	assert_int_equal(rcm_model_deletes, 0);
}

static void test_registration_that_was_deleted_is_told_and_set_again(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_forget();
	rcm_model_sa_run(40 * RCM_TEST_S);
	assert_told(&one, 0, -ENOENT, 0);
	assert_string_equal(one.text, "registered again, after: the SA doesn't have the record any more");
	assert_int_equal(rcm_model_sa_count(), 1);
	finish();
}

/* Between the renewal's question and its Set: the SA doesn't say whether a record was there that is set. */
static void test_registration_that_was_deleted_during_a_renewal_is_set_again_without_a_word(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(40 * RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	assert_int_equal(rcm_model_sa_serve(), 1);
	assert_int_equal(rcm_model_gets, 1);
	assert_int_equal(rcm_model_sa_pending(), 1);
	rcm_model_sa_forget();
	rcm_model_sa_run(0);
	assert_int_equal(rcm_model_sets, 2);
	assert_int_equal(rcm_model_sa_count(), 1);
	assert_told(&one, 0);
	finish();
}

static void test_registration_whose_place_was_taken_is_told_and_takes_it_back(void **state)
{
	(void)state;
	registered();
	put_other("intruder");
	rcm_model_sa_run(40 * RCM_TEST_S);
	assert_told(&one, 0, -EEXIST, 0);
	assert_string_equal(one.text, "registered again, after: another's record was put in its place: \"intruder\"");
	assert_string_equal(rcm_model_sa_find(0x77)->record.name, "storage");
	finish();
}

/* A publisher that was started anew, or an SA that shows nobody's keys. */
static void test_registration_whose_like_is_in_its_place_is_renewed_without_a_word(void **state)
{
	(void)state;
	registered();
	put_other("storage");
	rcm_model_sa_run(40 * RCM_TEST_S);
	assert_told(&one, 0);
	assert_int_equal(rcm_model_sets, 2);
	finish();
}

static void test_registration_that_is_refused_is_told_and_tried_again_at_a_third(void **state)
{
	(void)state;
	rcm_model_sa_mood(RCM_MODEL_REFUSES);
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(39 * RCM_TEST_S);
	assert_told(&one, -EIO);
	assert_string_equal(one.text, "the SA refused: REQ_INVALID");
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, -EIO, 0);
	finish();
}

static void test_registration_at_a_busy_sa_is_told_and_goes_on(void **state)
{
	(void)state;
	rcm_model_sa_mood(RCM_MODEL_BUSY);
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(10 * RCM_TEST_S);
	assert_told(&one, -EBUSY);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(10 * RCM_TEST_S);
	assert_told(&one, -EBUSY, 0);
	finish();
}

static void test_registration_without_an_sm_is_told_at_once(void **state)
{
	(void)state;
	rcm_model_sa_mood(RCM_MODEL_DOWN);
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(0);
	assert_told(&one, -ENETDOWN);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, -ENETDOWN, 0);
	finish();
}

/* The SA has it still, until the lease has run out. */
static void test_registration_at_a_silent_sa_is_lost_when_its_lease_ends_and_not_before(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(120 * RCM_TEST_S - 1);
	assert_told(&one, 0);
	assert_int_equal(rcm_model_sa_count(), 1);
	rcm_model_sa_run(4 * RCM_TEST_S);
	assert_told(&one, 0, -ETIMEDOUT);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(40 * RCM_TEST_S);
	assert_told(&one, 0, -ETIMEDOUT, 0);
	assert_string_equal(one.text, "registered again, after: the SA is silent");
	finish();
}

static void test_registration_at_an_sa_that_was_silent_for_a_while_is_renewed(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(60 * RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(30 * RCM_TEST_S);
	assert_told(&one, 0);
	assert_int_equal(rcm_model_sets, 2);
	finish();
}

/* The pauses begin anew. */
static void test_registration_that_was_renewed_is_tried_again_soon_where_that_fails_later(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(70 * RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	while (rcm_model_sets < 2)
		rcm_model_sa_run(RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_BUSY);
	rcm_model_sa_run(40 * RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(RCM_TEST_S);
	assert_int_equal(rcm_model_sets, 3);
	finish();
}

static void test_registration_that_is_stopped_tells_nothing_of_its_end(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(119 * RCM_TEST_S);
	rcm_publishing_stop(&one);
	rcm_fake_clock_advance(2 * RCM_TEST_S);
	rcm_publishing_loop.now = rcm_clock_now();
	rcm_model_sa_run(10 * RCM_TEST_S);
	assert_true(one.over);
	assert_told(&one, 0);
}

static void test_registration_with_a_lease_of_a_second_stays(void **state)
{
	(void)state;
	rcm_publishing_prepare(&one, 0x77);
	one.published.registration.offer.lease_s = 1;
	rcm_publishing_begin(&one);
	for (unsigned ms = 0; ms < 10000; ms += 10) {
		rcm_model_sa_run(10 * RCM_NS_PER_MS);
		assert_int_equal(rcm_model_sa_count(), 1);
	}
	assert_told(&one, 0);
	finish();
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rcm_publishing_before, rcm_publishing_after)
	const struct CMUnitTest tests[] = {
		T(test_registration_sets_all_of_its_record),
		T(test_registration_is_renewed_at_a_third_of_its_lease),
		T(test_registration_in_another_partition_is_set_there),
		T(test_registration_that_is_stopped_removes_its_record),
		T(test_registration_that_is_stopped_before_its_first_turn_asks_nothing),
		T(test_registration_that_is_stopped_while_it_is_set_removes_it_afterwards),
		T(test_registration_that_is_stopped_leaves_anothers_record_alone),
		T(test_registration_that_is_stopped_at_a_silent_sa_ends_all_the_same),
		T(test_registration_that_was_deleted_is_told_and_set_again),
		T(test_registration_that_was_deleted_during_a_renewal_is_set_again_without_a_word),
		T(test_registration_whose_place_was_taken_is_told_and_takes_it_back),
		T(test_registration_whose_like_is_in_its_place_is_renewed_without_a_word),
		T(test_registration_that_is_refused_is_told_and_tried_again_at_a_third),
		T(test_registration_at_a_busy_sa_is_told_and_goes_on),
		T(test_registration_without_an_sm_is_told_at_once),
		T(test_registration_at_a_silent_sa_is_lost_when_its_lease_ends_and_not_before),
		T(test_registration_at_an_sa_that_was_silent_for_a_while_is_renewed),
		T(test_registration_that_was_renewed_is_tried_again_soon_where_that_fails_later),
		T(test_registration_that_is_stopped_tells_nothing_of_its_end),
		T(test_registration_with_a_lease_of_a_second_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
