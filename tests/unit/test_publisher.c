/* SPDX-License-Identifier: BSD-2-Clause */
/* Many services of one process: turns, ports that change, places that two want. */
#include "publish/publisher.h"

#include <errno.h>

#include "publishing.h"
#include "test.h"

static struct rcm_publishing one, two, many[1000];

static void stop_all(struct rcm_publishing *list, unsigned count)
{
	rcm_publishing_port_gone = false;
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	for (unsigned i = 0; i < count; i++)
		rcm_publishing_stop(&list[i]);
	rcm_model_sa_run(10 * RCM_TEST_S);
	for (unsigned i = 0; i < count; i++)
		assert_true(list[i].over);
}

static void registered(void)
{
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(0);
	assert_told(&one, 0);
}

static void test_publisher_of_a_thousand_asks_a_few_at_a_time(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		rcm_publishing_start(&many[i], 1 + i);
	rcm_model_sa_run(0);
	assert_int_equal(rcm_model_sa_count(), 1000);
	assert_int_equal(rcm_model_most, RCM_PUBLISH_WINDOW);
	for (unsigned i = 0; i < 1000; i++)
		assert_told(&many[i], 0);
	rcm_model_sa_run(3600 * RCM_TEST_S);
	assert_int_equal(rcm_model_sa_count(), 1000);
	assert_int_equal(rcm_model_most, RCM_PUBLISH_WINDOW);
	stop_all(many, 1000);
	assert_int_equal(rcm_model_sa_count(), 0);
}

/* Of a silent SA nobody's questions are waited for longer than its own few. */
static void test_publisher_of_a_thousand_loses_none_at_an_sa_that_comes_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		rcm_publishing_start(&many[i], 1 + i);
	rcm_model_sa_run(RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_SILENT);
	rcm_model_sa_run(60 * RCM_TEST_S);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(30 * RCM_TEST_S);
	assert_int_equal(rcm_model_sa_count(), 1000);
	for (unsigned i = 0; i < 1000; i++)
		assert_told(&many[i], 0);
	stop_all(many, 1000);
}

static void test_publisher_sets_again_at_once_where_the_sm_is_another(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_run(5 * RCM_TEST_S);
	rcm_model_sa_forget();
	rcm_publishing_port.sm_lid = 9;
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, 0, -ENOENT, 0);
	assert_string_equal(one.text, "registered again, after: there is another subnet manager, which doesn't have the record");
	assert_int_equal(rcm_model_sa_count(), 1);
	stop_all(&one, 1);
}

static void test_publisher_asks_nothing_of_an_sm_that_stays(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_run(35 * RCM_TEST_S);
	assert_int_equal(rcm_model_gets, 0);
	assert_int_equal(rcm_model_sets, 1);
	stop_all(&one, 1);
}

/* A restart of the SM shows at the first renewal, and then is known of all. */
static void test_publisher_that_finds_one_lost_asks_for_the_others_at_once(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_run(30 * RCM_TEST_S);
	for (unsigned i = 0; i < 1000; i++)
		rcm_publishing_start(&many[i], 1000 + i);
	rcm_model_sa_run(5 * RCM_TEST_S);
	rcm_model_sa_forget();
	rcm_model_sa_run(5 * RCM_TEST_S);
	assert_int_equal(rcm_model_sa_count(), 1001);
	assert_told(&many[0], 0, -ENOENT, 0);
	assert_told(&one, 0, -ENOENT, 0);
	/* Each was asked for by its key and without, and none twice. */
	assert_int_equal(rcm_model_gets, 2 * 1001);
	stop_all(&one, 1);
	stop_all(many, 1000);
}

/* Somebody who deletes one record again and again has not all of them asked for each time. */
static void test_publisher_that_loses_one_often_asks_for_the_others_now_and_then(void **state)
{
	(void)state;
	registered();
	rcm_publishing_prepare(&two, 0x78);
	two.published.registration.offer.lease_s = 3;
	rcm_publishing_begin(&two);
	rcm_model_sa_run(RCM_NS_PER_MS);
	for (unsigned s = 0; s < 9; s++) {
		struct rcm_model_record *victim = rcm_model_sa_find(0x78);

		if (victim)
			victim->until = 0;
		rcm_model_sa_run(RCM_TEST_S);
	}
	/* Of two: with its key and without, nine times; of one: once. */
	assert_int_equal(rcm_model_gets, 2 * 9 + 1);
	two.told = 0;
	stop_all(&one, 1);
	stop_all(&two, 1);
}

/* The SM asked for it: all is set again, though nothing shows. */
static void test_publisher_sets_all_again_on_client_reregister(void **state)
{
	(void)state;
	registered();
	rcm_model_sa_forget();
	rcm_publisher_ports_changed(&rcm_publishing_publisher, true);
	rcm_model_sa_run(0);
	assert_told(&one, 0, -ENOENT, 0);
	stop_all(&one, 1);
}

/* What is under way may have been asked of the SM before. */
static void test_publisher_asks_again_where_its_port_changed_meanwhile(void **state)
{
	(void)state;
	rcm_publishing_start(&one, 0x77);
	rcm_timers_fire(&rcm_publishing_loop, rcm_publishing_loop.now);
	assert_int_equal(rcm_model_sa_pending(), 1);
	rcm_publisher_ports_changed(&rcm_publishing_publisher, true);
	assert_int_equal(rcm_model_sa_pending(), 1);
	rcm_model_sa_run(0);
	assert_int_equal(rcm_model_gets, 1);
	assert_told(&one, 0);
	stop_all(&one, 1);
}

static void test_publisher_sets_again_when_its_port_comes_up(void **state)
{
	(void)state;
	rcm_publishing_port.active = false;
	rcm_model_sa_mood(RCM_MODEL_DOWN);
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(30 * RCM_TEST_S);
	assert_told(&one, -ENETDOWN);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_publishing_port.active = true;
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, -ENETDOWN, 0);
	stop_all(&one, 1);
}

static void test_publisher_moves_the_record_where_the_default_membership_changes(void **state)
{
	(void)state;
	registered();
	rcm_publishing_port.pkey = 0x7fff;
	rcm_publishing_port.pkeys++;
	rcm_publisher_ports_changed(&rcm_publishing_publisher, false);
	rcm_model_sa_run(0);
	assert_int_equal(rcm_model_sa_count(), 1);
	assert_int_equal(rcm_model_sa_find(0x77)->record.pkey, 0x7fff);
	assert_told(&one, 0);
	stop_all(&one, 1);
}

/* The word came before the table. */
static void test_publisher_that_was_told_too_early_looks_again_in_a_second(void **state)
{
	(void)state;
	registered();
	rcm_publisher_ports_changed(&rcm_publishing_publisher, false);
	rcm_publishing_port.pkey = 0x7fff;
	rcm_publishing_port.pkeys++;
	rcm_model_sa_run(RCM_PUBLISH_LOOK_MS * RCM_NS_PER_MS);
	assert_int_equal(rcm_model_sa_find(0x77)->record.pkey, 0x7fff);
	stop_all(&one, 1);
}

static void test_publisher_sees_p_keys_change_without_being_told(void **state)
{
	(void)state;
	rcm_model_sa_mood(RCM_MODEL_REFUSES);
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, -EIO);
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_publishing_port.pkeys++;
	rcm_model_sa_run(RCM_PUBLISH_LOOK_PKEYS_MS / 1000 * RCM_TEST_S);
	assert_told(&one, -EIO, 0);
	stop_all(&one, 1);
}

static void test_publisher_moves_the_record_where_the_prefix_changes(void **state)
{
	(void)state;
	registered();
	rcm_publishing_port.gid.raw[1] = 0xc0;
	rcm_model_sa_run(RCM_TEST_S);
	assert_int_equal(rcm_model_sa_count(), 1);
	assert_int_equal(rcm_model_sa_find(0x77)->record.gid.raw[1], 0xc0);
	stop_all(&one, 1);
	assert_int_equal(rcm_model_sa_count(), 0);
}

static void test_publisher_without_the_port_tells_when_the_lease_has_ended(void **state)
{
	(void)state;
	registered();
	rcm_publishing_port_gone = true;
	rcm_model_sa_run(119 * RCM_TEST_S);
	assert_told(&one, 0);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, 0, -ENODEV);
	rcm_publishing_port_gone = false;
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, 0, -ENODEV, 0);
	stop_all(&one, 1);
}

/* A process that is out of descriptors for a while has its record, and its port, as before. */
static void test_publisher_without_means_to_look_goes_by_what_it_saw(void **state)
{
	(void)state;
	registered();
	rcm_publishing_look_fails = -EMFILE;
	rcm_publisher_ports_changed(&rcm_publishing_publisher, false);
	rcm_model_sa_run(300 * RCM_TEST_S);
	assert_told(&one, 0);
	assert_int_equal(rcm_model_sa_count(), 1);
	/* What it was told of meanwhile it looks at as soon as it can. */
	rcm_publishing_port.pkey = 0x7fff;
	rcm_publishing_port.pkeys++;
	rcm_publishing_look_fails = 0;
	rcm_model_sa_run(2 * RCM_TEST_S);
	assert_int_equal(rcm_model_sa_find(0x77)->record.pkey, 0x7fff);
	stop_all(&one, 1);
}

static void test_publisher_that_never_had_the_means_to_look_says_so(void **state)
{
	(void)state;
	rcm_publishing_look_fails = -EMFILE;
	rcm_publishing_start(&one, 0x77);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&one, -EMFILE);
	rcm_publishing_look_fails = 0;
	rcm_model_sa_run(30 * RCM_TEST_S);
	assert_told(&one, -EMFILE, 0);
	stop_all(&one, 1);
}

static void test_publisher_gives_a_place_to_one_of_two(void **state)
{
	(void)state;
	registered();
	rcm_publishing_start(&two, 0x77);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&two, -EEXIST);
	assert_int_equal(rcm_model_sets, 1);
	rcm_publishing_stop(&one);
	rcm_model_sa_run(0);
	assert_true(one.over);
	assert_told(&two, -EEXIST, 0);
	assert_string_equal(two.text,
			    "registered, after: this process publishes that id at that port in that partition already");
	assert_int_equal(rcm_model_sa_count(), 1);
	stop_all(&two, 1);
}

static void test_publisher_ends_one_that_waits_for_anothers_place(void **state)
{
	(void)state;
	registered();
	rcm_publishing_start(&two, 0x77);
	rcm_model_sa_run(RCM_TEST_S);
	assert_told(&two, -EEXIST);
	rcm_publishing_stop(&two);
	rcm_model_sa_run(0);
	assert_true(two.over);
	assert_int_equal(rcm_model_sa_count(), 1);
	stop_all(&one, 1);
}

static void started_in(struct rcm_publishing *publishing, uint16_t pkey)
{
	struct rcm_gid port = rcm_publishing_port.gid;

	rcm_publishing_prepare(publishing, 0x77);
	port.raw[1] = 0x80;
	publishing->published.registration.offer.port = port;
	publishing->published.registration.offer.pkey = pkey;
	rcm_publishing_begin(publishing);
	rcm_model_sa_run(0);
}

static void default_becomes(uint16_t pkey)
{
	rcm_publishing_port.pkey = pkey;
	rcm_publishing_port.pkeys++;
	rcm_publisher_ports_changed(&rcm_publishing_publisher, false);
	rcm_model_sa_run(0);
}

static void test_publisher_gives_a_place_that_its_holder_moves_from_to_the_other(void **state)
{
	(void)state;
	rcm_publishing_port.pkey = 0x8001;
	started_in(&one, 0);
	started_in(&two, 0x8001);
	assert_told(&two, -EEXIST);
	default_becomes(0xffff);
	assert_told(&one, 0);
	assert_told(&two, -EEXIST, 0);
	assert_int_equal(rcm_model_sa_count(), 2);
	stop_all(&one, 1);
	stop_all(&two, 1);
}

static void test_publisher_leaves_no_record_where_the_next_place_is_anothers(void **state)
{
	(void)state;
	started_in(&one, 0);
	started_in(&two, 0x8001);
	default_becomes(0x8001);
	assert_told(&one, 0, -EEXIST);
	assert_int_equal(rcm_model_sa_count(), 1);
	default_becomes(0xffff);
	assert_told(&one, 0, -EEXIST, 0);
	assert_told(&two, 0);
	assert_int_equal(rcm_model_sa_count(), 2);
	stop_all(&one, 1);
	stop_all(&two, 1);
}

static void test_publisher_of_two_that_move_to_one_place_has_one_there(void **state)
{
	(void)state;
	started_in(&one, 0);
	started_in(&two, 0x7fff);
	rcm_publishing_port.gid.raw[1] = 0xc0;
	default_becomes(0x7fff);
	assert_int_equal(rcm_model_sets, 3);
	for (unsigned i = 0; i < 3; i++) {
		rcm_publisher_ports_changed(&rcm_publishing_publisher, true);
		rcm_model_sa_run(100 * RCM_TEST_S);
		assert_int_equal(rcm_model_sa_count(), 1);
		assert_int_equal(one.told + two.told, 3);
	}
	stop_all(&one, 1);
	stop_all(&two, 1);
}

/* Whoever sees it first: the timer's look would find nothing new. */
static void test_publisher_moves_all_where_a_turn_finds_the_port_changed(void **state)
{
	(void)state;
	started_in(&one, 0);
	rcm_model_sa_run(RCM_TEST_S / 2);
	rcm_publishing_port.gid.raw[1] = 0xc0;
	started_in(&two, 0x8001);
	assert_int_equal(rcm_model_sa_count(), 2);
	assert_int_equal(one.published.registration.place.gid.raw[1], 0xc0);
	assert_int_equal(two.published.registration.place.gid.raw[1], 0xc0);
	stop_all(&one, 1);
	stop_all(&two, 1);
}

static void test_publisher_asks_nothing_of_a_port_that_went_down(void **state)
{
	(void)state;
	registered();
	rcm_publishing_port.active = false;
	rcm_model_sa_run(30 * RCM_TEST_S);
	assert_int_equal(rcm_model_gets, 0);
	rcm_publishing_port.active = true;
	rcm_model_sa_run(RCM_TEST_S);
	assert_int_equal(rcm_model_gets, 1);
	stop_all(&one, 1);
}

/* The Delete of the one can't meet the record of the other. */
static void test_publisher_sets_after_the_one_before_has_been_deleted(void **state)
{
	(void)state;
	registered();
	rcm_publishing_stop(&one);
	rcm_publishing_start(&two, 0x77);
	rcm_model_sa_run(RCM_TEST_S);
	assert_true(one.over);
	assert_told(&two, 0);
	assert_int_equal(rcm_model_sa_count(), 1);
	assert_int_equal(rcm_model_sa_find(0x77)->key[1], two.published.registration.key[1]);
	stop_all(&two, 1);
}

static void test_publisher_with_nothing_left_looks_at_no_port(void **state)
{
	unsigned looks;

	(void)state;
	registered();
	rcm_model_sa_run(10 * RCM_TEST_S);
	assert_true(rcm_publishing_looks >= 10);
	stop_all(&one, 1);
	looks = rcm_publishing_looks;
	rcm_model_sa_run(100 * RCM_TEST_S);
	assert_int_equal(rcm_publishing_looks, looks);
	assert_int_equal(rcm_publishing_publisher.look_timer.state, RCM_TIMER_IDLE);
}

static unsigned forgotten;

static void forget(struct rcm_published *published)
{
	(void)published;
	forgotten++;
	one.published.over(published);
}

static void test_publisher_of_the_parent_is_forgotten_without_a_question(void **state)
{
	unsigned asked;

	(void)state;
	registered();
	rcm_publishing_start(&two, 0x78);
	rcm_model_sa_run(0);
	asked = rcm_model_sets + rcm_model_gets + rcm_model_deletes;
	rcm_publisher_abandon(&rcm_publishing_publisher, forget);
	assert_int_equal(forgotten, 2);
	assert_int_equal(rcm_model_sets + rcm_model_gets + rcm_model_deletes, asked);
	assert_int_equal(rcm_model_sa_count(), 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rcm_publishing_before, rcm_publishing_after)
	const struct CMUnitTest tests[] = {
		T(test_publisher_of_a_thousand_asks_a_few_at_a_time),
		T(test_publisher_of_a_thousand_loses_none_at_an_sa_that_comes_back),
		T(test_publisher_sets_again_at_once_where_the_sm_is_another),
		T(test_publisher_asks_nothing_of_an_sm_that_stays),
		T(test_publisher_that_finds_one_lost_asks_for_the_others_at_once),
		T(test_publisher_that_loses_one_often_asks_for_the_others_now_and_then),
		T(test_publisher_sets_all_again_on_client_reregister),
		T(test_publisher_asks_again_where_its_port_changed_meanwhile),
		T(test_publisher_sets_again_when_its_port_comes_up),
		T(test_publisher_moves_the_record_where_the_default_membership_changes),
		T(test_publisher_that_was_told_too_early_looks_again_in_a_second),
		T(test_publisher_sees_p_keys_change_without_being_told),
		T(test_publisher_moves_the_record_where_the_prefix_changes),
		T(test_publisher_without_the_port_tells_when_the_lease_has_ended),
		T(test_publisher_without_means_to_look_goes_by_what_it_saw),
		T(test_publisher_that_never_had_the_means_to_look_says_so),
		T(test_publisher_gives_a_place_to_one_of_two),
		T(test_publisher_ends_one_that_waits_for_anothers_place),
		T(test_publisher_gives_a_place_that_its_holder_moves_from_to_the_other),
		T(test_publisher_leaves_no_record_where_the_next_place_is_anothers),
		T(test_publisher_of_two_that_move_to_one_place_has_one_there),
		T(test_publisher_moves_all_where_a_turn_finds_the_port_changed),
		T(test_publisher_asks_nothing_of_a_port_that_went_down),
		T(test_publisher_sets_after_the_one_before_has_been_deleted),
		T(test_publisher_with_nothing_left_looks_at_no_port),
		T(test_publisher_of_the_parent_is_forgotten_without_a_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
