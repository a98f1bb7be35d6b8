/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by scripted name servers, a clock that stands still, and a hosts file of one line. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "dns/lookup.h"
#include "fake_cares.h"
#include "fake_clock.h"
#include "loop/timer.h"
#include "names_asker.h"
#include "test.h"

static void test_names_both_families_are_one_answer(void **state)
{
	struct rcm_exchange *x;
	struct result r;

	(void)state;
	start(&r, "two.test");
	turn();
	x = fake_cares_take("two.test", true, true);
	fake_cares_found(x, ns_t_aaaa, "two.test", "::1");
	assert_int_equal(r.done, 0);
	fake_cares_found(x, ns_t_a, "two.test", "127.0.0.1");
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.ttl, 60);
	assert_string_equal(r.canonname, "two.test");
}

static void test_names_wanted_family_only_is_asked_for(void **state)
{
	struct result r;

	(void)state;
	start_as(&r, "a.test", AF_INET6, RCM_DNS_CONFIGURED, 0);
	turn();
	fake_cares_fail(fake_cares_take("a.test", false, true), ns_t_aaaa, RCM_DNS_NODATA);
	assert_int_equal(r.done, 0);
	turn();
	assert_int_equal(r.status, -ENODATA);
	assert_int_equal(r.code, EAI_NODATA);
}

static void test_names_search_list_is_walked_and_res_search_s_choice_told(void **state)
{
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv("x.test", 0), NULL);
	start(&r, "short");
	turn();
	fail_both("short.x.test", RCM_DNS_NODATA);
	assert_int_equal(r.done, 0);
	fail_both("short", RCM_DNS_REFUSED);
	assert_int_equal(r.status, -ENODATA);
	/* The name as it is, asked first: its end is what counts. */
	start(&r, "a.b");
	turn();
	fail_both("a.b", RCM_DNS_NXDOMAIN);
	fail_both("a.b.x.test", RCM_DNS_NODATA);
	assert_int_equal(r.status, -ENOENT);
	/* A domain that can't be asked ends the search, but for the name as it is. */
	start(&r, "short");
	turn();
	fail_both("short.x.test", RCM_DNS_TIMEOUT);
	fail_both("short", RCM_DNS_NXDOMAIN);
	assert_int_equal(r.done, 1);
}

static void test_names_hosts_file_comes_first_and_asks_nobody(void **state)
{
	struct result r;

	(void)state;
	start(&r, "inhosts");
	turn();
	assert_int_equal(r.done, 1);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.ttl, 0);
	assert_string_equal(r.canonname, "inhosts");
}

static void test_names_hosts_file_comes_last_where_dns_is_first(void **state)
{
	struct result r;

	(void)state;
	rcm_names_configure(names, dns_files, NULL, NULL);
	start(&r, "inhosts");
	turn();
	fail_both("inhosts", RCM_DNS_TIMEOUT);
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, 0);
}

static void test_names_source_hosts_or_servers_only(void **state)
{
	struct result r;

	(void)state;
	start_as(&r, "a.test", AF_UNSPEC, RCM_DNS_HOSTS, 0);
	turn();
	assert_int_equal(r.status, -ENOENT);
	assert_string_equal(r.text, "the hosts file has no such name");
	start_as(&r, "inhosts", AF_UNSPEC, RCM_DNS_SERVERS, 0);
	turn();
	fail_both("inhosts", RCM_DNS_NXDOMAIN);
	assert_int_equal(r.status, -ENOENT);
}

static void test_names_half_an_answer_is_given_when_the_other_half_stays_out(void **state)
{
	struct result r;

	(void)state;
	start(&r, "two.test");
	turn();
	fake_cares_found(fake_cares_take("two.test", true, true), ns_t_a, "two.test", "127.0.0.1");
	advance_ms(999);
	assert_int_equal(r.done, 0);
	advance_ms(1);
	assert_int_equal(r.done, 1);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.ttl, 0);
	start_as(&r, "two.test", AF_UNSPEC, RCM_DNS_CONFIGURED, 200);
	turn();
	fake_cares_found(fake_cares_take("two.test", true, true), ns_t_aaaa, "two.test", "::1");
	advance_ms(100);
	assert_int_equal(r.done, 1);
}

static void start_many(struct result *results, unsigned count)
{
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		start(&results[i], name);
	}
	turn();
}

static void answer_in_order(unsigned from, unsigned to)
{
	char name[32];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		struct rcm_exchange *x = fake_cares_take(name, true, true);

		fake_cares_found(x, ns_t_a, name, "127.0.0.1");
		fake_cares_found(x, ns_t_aaaa, name, "::1");
	}
}

static void test_names_window_bounds_those_in_flight_and_keeps_the_order(void **state)
{
	enum { MANY = 3 * RCM_DNS_WINDOW };
	static struct result r[MANY];

	(void)state;
	start_many(r, MANY);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fake_cares_out(), RCM_DNS_WINDOW);
		answer_in_order(i * RCM_DNS_WINDOW, (i + 1) * RCM_DNS_WINDOW);
		turn();
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(r[i].done, 1);
}

/* F7, F34: silent names give up their places; a window of new ones each patience. */
static void test_names_silent_ones_give_up_their_places_to_those_waiting(void **state)
{
	enum { MANY = 4 * RCM_DNS_WINDOW };
	static struct result r[MANY];

	(void)state;
	start_many(r, MANY);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(fake_cares_out(), i * RCM_DNS_WINDOW);
		advance_ms(10);
		turn();
	}
	assert_int_equal(fake_cares_out(), MANY);
	answer_in_order(0, MANY);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(r[i].done, 1);
}

static void test_names_patience_follows_the_round_trip_within_its_bounds(void **state)
{
	enum { MANY = RCM_DNS_WINDOW + 1 };
	static struct result r[MANY];

	(void)state;
	/* A round trip of 8 ms makes it 32 ms. */
	start(&r[0], "n0.test");
	turn();
	rcm_fake_clock_advance(8 * RCM_NS_PER_MS);
	turn();
	answer_in_order(0, 1);
	start_many(r, MANY);
	advance_ms(31);
	turn();
	assert_int_equal(fake_cares_out(), RCM_DNS_WINDOW);
	advance_ms(1);
	turn();
	assert_int_equal(fake_cares_out(), MANY);
	answer_in_order(0, MANY);
}

static void test_names_without_room_wait_and_are_asked_when_there_is_some(void **state)
{
	static struct result r[3];

	(void)state;
	fake_cares_room(1);
	start_many(r, 3);
	assert_int_equal(fake_cares_out(), 1);
	turn();
	assert_int_equal(fake_cares_out(), 1);
	answer_in_order(0, 1);
	turn();
	answer_in_order(1, 2);
	turn();
	answer_in_order(2, 3);
	assert_int_equal(r[2].done, 1);
}

/* No room and nothing that would say when: the loop must not spin. */
static void test_names_without_room_the_loop_sleeps(void **state)
{
	static struct result r[2];

	(void)state;
	fake_cares_room(1);
	start_many(r, 2);
	turn();
	assert_true(rcm_timers_wait_ms(&loop, rcm_clock_now(), -1) > 0);
	rcm_names_configure(names, files_dns, NULL, NULL);
	fake_cares_room(2);
	advance_ms(5);
	assert_int_equal(fake_cares_out(), 2);
	answer_in_order(0, 2);
}

static void test_names_cancelled_anywhere_are_not_completed(void **state)
{
	static struct result r[RCM_DNS_WINDOW + 2];

	(void)state;
	start_many(r, RCM_DNS_WINDOW + 2);
	r[0].lookup->cancel(r[0].lookup);
	r[RCM_DNS_WINDOW + 1].lookup->cancel(r[RCM_DNS_WINDOW + 1].lookup);
	turn();
	assert_int_equal(fake_cares_out(), RCM_DNS_WINDOW);
	answer_in_order(1, RCM_DNS_WINDOW + 1);
	assert_int_equal(r[0].done, 0);
	assert_int_equal(r[1].done, 1);
	assert_int_equal(r[RCM_DNS_WINDOW + 1].done, 0);
}

static struct result *victim;

static void done_and_cancel(void *arg, const struct rcm_dns_answer *answer)
{
	done(arg, answer);
	victim->lookup->cancel(victim->lookup);
}

static void test_names_completion_may_cancel_another_and_start_one(void **state)
{
	const struct rcm_dns_query query = { .name = "first.test", .family = AF_INET };
	struct result first = { 0 }, second;

	(void)state;
	assert_int_equal(rcm_names_start(names, &query, done_and_cancel, &first, &first.lookup), 0);
	start(&second, "second.test");
	victim = &second;
	turn();
	fake_cares_found(fake_cares_take("first.test", true, false), ns_t_a, "first.test", "127.0.0.1");
	assert_int_equal(first.done, 1);
	turn();
	assert_int_equal(second.done, 0);
}

static void test_names_closed_with_lookups_in_every_state_frees_all(void **state)
{
	static struct result r[2 * RCM_DNS_WINDOW + 5];

	(void)state;
	start_many(r, 2 * RCM_DNS_WINDOW + 5);
	advance_ms(10);
	turn();
	rcm_names_close(names);
	assert_int_equal(rcm_names_open(&loop, &fake_cares, &names), 0);
	rcm_names_configure(names, files_dns, make_resolv(NULL, 0), make_hosts());
	for (unsigned i = 0; i < 2 * RCM_DNS_WINDOW + 5; i++)
		assert_int_equal(r[i].done, 0);
}

#define NAMES_TEST(f) cmocka_unit_test_setup_teardown(f, open_names, close_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMES_TEST(test_names_both_families_are_one_answer),
		NAMES_TEST(test_names_wanted_family_only_is_asked_for),
		NAMES_TEST(test_names_search_list_is_walked_and_res_search_s_choice_told),
		NAMES_TEST(test_names_hosts_file_comes_first_and_asks_nobody),
		NAMES_TEST(test_names_hosts_file_comes_last_where_dns_is_first),
		NAMES_TEST(test_names_source_hosts_or_servers_only),
		NAMES_TEST(test_names_half_an_answer_is_given_when_the_other_half_stays_out),
		NAMES_TEST(test_names_window_bounds_those_in_flight_and_keeps_the_order),
		NAMES_TEST(test_names_silent_ones_give_up_their_places_to_those_waiting),
		NAMES_TEST(test_names_patience_follows_the_round_trip_within_its_bounds),
		NAMES_TEST(test_names_without_room_wait_and_are_asked_when_there_is_some),
		NAMES_TEST(test_names_without_room_the_loop_sleeps),
		NAMES_TEST(test_names_cancelled_anywhere_are_not_completed),
		NAMES_TEST(test_names_completion_may_cancel_another_and_start_one),
		NAMES_TEST(test_names_closed_with_lookups_in_every_state_frees_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
