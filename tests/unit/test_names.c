/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by scripted name servers, a clock that stands still, and a hosts file of one line. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "base/clock.h"
#include "dns/lookup.h"
#include "fake_families.h"
#include "fake_clock.h"
#include "loop/timer.h"
#include "names_asker.h"
#include "test.h"

static void test_names_found_with_all_addresses_and_the_name_asked_for(void **state)
{
	struct result r;

	(void)state;
	start(&r, "two.test");
	turn();
	assert_int_equal(r.done, 0);
	fake_families_found(fake_families_take("two.test", AF_UNSPEC), "127.0.0.1", "::1");
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.ttl, 60);
	assert_int_equal(r.missing, 0);
	assert_string_equal(r.canonname, "two.test");
}

static void test_names_wanted_family_only_is_asked_for(void **state)
{
	struct result r;

	(void)state;
	start_as(&r, "a.test", AF_INET6, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("a.test", AF_INET6), RCM_DNS_NODATA);
	assert_int_equal(r.done, 0);
	turn();
	assert_int_equal(r.status, -ENODATA);
	assert_int_equal(r.code, EAI_NODATA);
}

static void test_names_search_list_is_walked_and_res_search_s_choice_told(void **state)
{
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
	start(&r, "short");
	turn();
	fail_next("short.x.test", RCM_DNS_NODATA);
	assert_int_equal(r.done, 0);
	fail_next("short", RCM_DNS_REFUSED);
	assert_int_equal(r.status, -ENODATA);
	/* The name as it is, asked first: its end is what counts. */
	start(&r, "a.b");
	turn();
	fail_next("a.b", RCM_DNS_NXDOMAIN);
	fail_next("a.b.x.test", RCM_DNS_NODATA);
	assert_int_equal(r.status, -ENOENT);
	/* A domain that can't be asked ends the search, but for the name as it is. */
	start(&r, "short");
	turn();
	fail_next("short.x.test", RCM_DNS_TIMEOUT);
	fail_next("short", RCM_DNS_NXDOMAIN);
	assert_int_equal(r.done, 1);
}

static void assert_no_of_two_is_kept_for(uint32_t first, uint32_t last, uint32_t ttl)
{
	struct result r;

	start(&r, "short");
	turn();
	fake_families_fail_for(fake_families_take("short.x.test", AF_UNSPEC), RCM_DNS_NXDOMAIN, first);
	turn();
	fake_families_fail_for(fake_families_take("short", AF_UNSPEC), RCM_DNS_NODATA, last);
	turn();
	assert_int_equal(r.status, -ENODATA);
	assert_int_equal(r.ttl, ttl);
}

/* RFC 2308, section 5; and a failure that the search hides, half of one, and nobody asked at all. */
static void test_names_no_is_kept_as_long_as_every_zone_that_was_asked_says(void **state)
{
	struct rcm_families *half;
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
	assert_no_of_two_is_kept_for(60, 30, 30);
	assert_no_of_two_is_kept_for(20, 30, 20);
	assert_no_of_two_is_kept_for(0, 30, 0);
	assert_no_of_two_is_kept_for(UINT32_MAX, 30, 0);
	assert_no_of_two_is_kept_for(30, UINT32_MAX, 0);
	start(&r, "short");
	turn();
	fake_families_fail_for(fake_families_take("short.x.test", AF_UNSPEC), RCM_DNS_NODATA, 60);
	turn();
	fail_next("short", RCM_DNS_REFUSED);
	assert_int_equal(r.status, -ENODATA);
	assert_int_equal(r.ttl, 0);
	start(&r, "short.");
	turn();
	half = fake_families_take("short.", AF_UNSPEC);
	half->half = true;
	fake_families_fail_for(half, RCM_DNS_NODATA, 60);
	turn();
	assert_int_equal(r.ttl, 0);
	start_as(&r, "short", AF_UNSPEC, RCM_DNS_HOSTS);
	turn();
	assert_int_equal(r.status, -ENOENT);
	assert_int_equal(r.ttl, 0);
}

/* No label of it may be empty: it is not asked for, and the search goes on. */
static void test_names_candidate_that_is_no_name_is_one_that_is_not_found(void **state)
{
	struct result r;

	(void)state;
	start(&r, "a..test");
	turn();
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, -ENOENT);
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
	fail_next("inhosts", RCM_DNS_TIMEOUT);
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, 0);
}

static void test_names_source_hosts_or_servers_only(void **state)
{
	struct result r;

	(void)state;
	start_as(&r, "a.test", AF_UNSPEC, RCM_DNS_HOSTS);
	turn();
	assert_int_equal(r.status, -ENOENT);
	assert_string_equal(r.text, "the hosts file has no such name");
	start_as(&r, "inhosts", AF_UNSPEC, RCM_DNS_SERVERS);
	turn();
	fail_next("inhosts", RCM_DNS_NXDOMAIN);
	assert_int_equal(r.status, -ENOENT);
}

static void test_names_half_an_answer_is_not_to_be_kept_and_says_what_is_missing(void **state)
{
	struct result r;

	(void)state;
	start(&r, "two.test");
	turn();
	fake_families_half(fake_families_take("two.test", AF_UNSPEC), "127.0.0.1", AF_INET6);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.ttl, 0);
	assert_int_equal(r.missing, AF_INET6);
	/* One that failed is no news: getaddrinfo() doesn't tell either. */
	start(&r, "two.test");
	turn();
	fake_families_half(fake_families_take("two.test", AF_UNSPEC), "127.0.0.1", 0);
	assert_int_equal(r.ttl, 0);
	assert_int_equal(r.missing, 0);
}

/* B5: whoever has time goes on waiting. */
static void test_names_part_is_told_to_who_asks_and_the_lookup_goes_on(void **state)
{
	struct rcm_families *f;
	struct result r, part = { 0 };

	(void)state;
	start(&r, "two.test");
	turn();
	f = fake_families_take("two.test", AF_UNSPEC);
	assert_false(r.lookup->ops->partial(r.lookup, done, &part));
	fake_families_found_so_far(f, "::1");
	assert_true(r.lookup->ops->partial(r.lookup, done, &part));
	assert_int_equal(part.done, 1);
	assert_int_equal(part.count, 1);
	assert_int_equal(part.ttl, 0);
	assert_int_equal(part.missing, AF_INET);
	assert_int_equal(r.done, 0);
	fake_families_found(f, "127.0.0.1", NULL);
	assert_int_equal(r.count, 2);
	assert_int_equal(part.done, 1);
}

enum { MANY = 300 };

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
		fake_families_found(fake_families_take(name, AF_UNSPEC), "127.0.0.1", "::1");
	}
}

/* Those that wait for a place, from the oldest to the newest, and how many got one. */
struct waiting {
	unsigned oldest, behind_newest, turns;
};

/* As many of them get a place in this order. */
static void answer_waiting(struct waiting *waiting, unsigned count)
{
	for (; count; count--) {
		unsigned i = waiting->turns++ % RCM_DNS_NEWEST ? waiting->oldest++ : --waiting->behind_newest;

		answer_in_order(i, i + 1);
	}
}

static void test_names_without_room_wait_in_order_and_are_asked_when_there_is_some(void **state)
{
	struct waiting waiting = { .oldest = 100, .behind_newest = MANY };
	static struct result r[MANY];

	(void)state;
	fake_families_room(100);
	start_many(r, MANY);
	answer_in_order(0, 100);
	for (unsigned i = 0; i < 2; i++) {
		turn();
		assert_int_equal(fake_families_out(), 100);
		answer_waiting(&waiting, 100);
	}
	turn();
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(r[i].done, 1);
}

/* A name of one family needs a place less. */
static void test_names_without_room_none_that_comes_is_asked_before_those_that_wait(void **state)
{
	struct result both, one;

	(void)state;
	fake_families_tight(true);
	start(&both, "two.test");
	turn();
	start_as(&one, "one.test", AF_INET, RCM_DNS_CONFIGURED);
	turn();
	assert_int_equal(fake_families_out(), 0);
	fake_families_tight(false);
	turn();
	/* The newest has the first turn. */
	fake_families_found(fake_families_take("one.test", AF_INET), "127.0.0.1", NULL);
	fake_families_found(fake_families_take("two.test", AF_UNSPEC), "127.0.0.1", "::1");
	assert_int_equal(one.done + both.done, 2);
}

/* Those before it may all stay silent. */
static void test_names_without_room_the_newest_has_a_share_of_the_places(void **state)
{
	struct waiting waiting = { .oldest = 99 + RCM_DNS_NEWEST, .behind_newest = MANY, .turns = RCM_DNS_NEWEST };
	static struct result r[MANY], live;

	(void)state;
	fake_families_room(100);
	start_many(r, MANY);
	turn();
	start(&live, "live.test");
	turn();
	assert_int_equal(fake_families_out(), 100);
	fake_families_room(100 + RCM_DNS_NEWEST);
	turn();
	answer_in_order(0, 100);
	fake_families_found(fake_families_take("live.test", AF_UNSPEC), "127.0.0.1", "::1");
	assert_int_equal(live.done, 1);
	answer_in_order(100, 99 + RCM_DNS_NEWEST);
	/* And no more than that. */
	fake_families_room(MANY);
	turn();
	answer_waiting(&waiting, MANY - waiting.oldest);
}

/* And nobody waits until they lose their places. */
static void test_names_without_room_now_and_then_the_newest_is_asked_beyond_it(void **state)
{
	static struct result r[4], live;
	struct rcm_families *n0, *n3;
	static const char *const asked[] = { "n0.test", "n1.test", "n2.test", "n3.test" };

	(void)state;
	fake_families_room(1);
	fake_families_go_beyond(true);
	for (int i = 0; i < 4; i++)
		start(&r[i], asked[i]);
	turn();
	assert_int_equal(fake_families_out(), 2);
	n0 = fake_families_take("n0.test", AF_UNSPEC);
	n3 = fake_families_take("n3.test", AF_UNSPEC);
	start(&live, "live.test");
	turn();
	assert_int_equal(fake_families_out(), 2);
	rcm_fake_clock_advance(RCM_DNS_NEWEST_US * 1000);
	turn();
	assert_int_equal(fake_families_out(), 3);
	fake_families_found(fake_families_take("live.test", AF_UNSPEC), "127.0.0.1", "::1");
	assert_int_equal(live.done, 1);
	/* Once for each: the others don't go beyond it. */
	rcm_fake_clock_advance(RCM_DNS_NEWEST_US * 1000);
	turn();
	assert_int_equal(fake_families_out(), 2);
	fake_families_go_beyond(false);
	fake_families_fail(n0, RCM_DNS_NXDOMAIN);
	fake_families_fail(n3, RCM_DNS_NXDOMAIN);
	turn();
	fake_families_room(4);
	turn();
	fake_families_fail(fake_families_take("n2.test", AF_UNSPEC), RCM_DNS_NXDOMAIN);
	fake_families_fail(fake_families_take("n1.test", AF_UNSPEC), RCM_DNS_NXDOMAIN);
	turn();
}

/* A4: what is on this host waits for no name server, nor for those who do. */
static void test_names_of_the_hosts_file_go_before_those_that_wait_for_room(void **state)
{
	struct waiting waiting = { .oldest = 0, .behind_newest = MANY };
	static struct result r[MANY], hosts, only;

	(void)state;
	fake_families_room(0);
	start_many(r, MANY);
	start(&hosts, "inhosts");
	start_as(&only, "a.test", AF_UNSPEC, RCM_DNS_HOSTS);
	turn();
	assert_int_equal(hosts.count, 1);
	assert_int_equal(only.status, -ENOENT);
	assert_int_equal(r[0].done, 0);
	fake_families_room(MANY);
	turn();
	answer_waiting(&waiting, MANY);
}

static void test_names_without_room_the_loop_sleeps(void **state)
{
	static struct result r[2];

	(void)state;
	fake_families_room(1);
	start_many(r, 2);
	turn();
	assert_int_equal(rcm_timers_wait_ms(&loop, rcm_clock_now(), -1), -1);
	fake_families_room(2);
	turn();
	answer_in_order(0, 2);
}

/* B8: nobody waits for a server that is no longer asked. */
static void test_names_at_a_server_that_is_gone_are_asked_about_anew(void **state)
{
	static struct result r[3];

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv("nameserver 127.0.0.1\nnameserver 127.0.0.2\n"), NULL);
	fake_families_room(2);
	start_many(r, 3);
	fake_families_take("n0.test", AF_UNSPEC);
	fail_next("n1.test", RCM_DNS_TIMEOUT);
	assert_int_equal(r[1].done, 1);
	/* The order of servers and the search list may change under it. */
	rcm_names_configure(names, files_dns, make_resolv("nameserver 127.0.0.2\nnameserver 127.0.0.1\nsearch x.test\n"),
			    NULL);
	turn();
	assert_int_equal(fake_families_out(), 2);
	fake_families_take("n2.test", AF_UNSPEC);
	rcm_names_configure(names, files_dns, make_resolv("nameserver 127.0.0.2\n"), NULL);
	assert_int_equal(fake_families_out(), 0);
	turn();
	fake_families_found(fake_families_take("n0.test", AF_UNSPEC), "127.0.0.1", NULL);
	fake_families_found(fake_families_take("n2.test", AF_UNSPEC), "127.0.0.1", NULL);
	assert_int_equal(r[0].done, 1);
	assert_int_equal(r[2].done, 1);
}

/* nsswitch.conf(5) may have other sources, another order or, for a moment, nothing in it. */
static void test_names_under_way_go_on_by_the_sources_that_they_began_with(void **state)
{
	static const enum rcm_pick_step none[RCM_PICK_STEPS], files[RCM_PICK_STEPS] = { RCM_PICK_FILES };
	static const enum rcm_pick_step *const others[] = { none, files, dns_files };

	(void)state;
	for (int i = 0; i < 3; i++) {
		static struct result r[2];
		struct rcm_families *first;

		rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
		fake_families_room(1);
		start(&r[0], "short");
		start(&r[1], "waits.");
		turn();
		first = fake_families_take("short.x.test", AF_UNSPEC);
		rcm_names_configure(names, others[i], NULL, NULL);
		fake_families_room(MANY);
		turn();
		assert_int_equal(r[1].done, 0);
		fake_families_found(fake_families_take("waits.", AF_UNSPEC), "127.0.0.1", NULL);
		assert_int_equal(r[1].status, 0);
		fake_families_fail(first, RCM_DNS_NXDOMAIN);
		turn();
		assert_int_equal(r[0].done, 0);
		fake_families_found(fake_families_take("short", AF_UNSPEC), "127.0.0.1", NULL);
		assert_int_equal(r[0].status, 0);
	}
}

static void test_names_cancelled_anywhere_are_not_completed(void **state)
{
	struct waiting waiting = { .oldest = 100, .behind_newest = MANY - 1 };
	static struct result r[MANY];

	(void)state;
	fake_families_room(100);
	start_many(r, MANY);
	r[0].lookup->ops->cancel(r[0].lookup);
	r[MANY - 1].lookup->ops->cancel(r[MANY - 1].lookup);
	start(&r[0], "fresh.test");
	r[0].lookup->ops->cancel(r[0].lookup);
	fake_families_room(MANY);
	turn();
	assert_int_equal(fake_families_out(), MANY - 2);
	answer_in_order(1, 100);
	answer_waiting(&waiting, MANY - 1 - 100);
	assert_int_equal(r[0].done, 0);
	assert_int_equal(r[1].done, 1);
	assert_int_equal(r[MANY - 1].done, 0);
}

static struct result *victim;

static void done_and_cancel(void *arg, const struct rcm_dns_answer *answer)
{
	done(arg, answer);
	victim->lookup->ops->cancel(victim->lookup);
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
	fake_families_found(fake_families_take("first.test", AF_INET), "127.0.0.1", NULL);
	assert_int_equal(first.done, 1);
	turn();
	assert_int_equal(second.done, 0);
}

static void test_names_closed_with_lookups_in_every_state_frees_all(void **state)
{
	static struct result r[MANY], fresh;

	(void)state;
	fake_families_room(100);
	fake_families_go_beyond(true);
	start_many(r, MANY);
	turn();
	/* It waits for its turn to go beyond it. */
	start(&fresh, "fresh.test");
	turn();
	rcm_names_close(names);
	fake_families_go_beyond(false);
	rcm_fake_clock_advance(RCM_DNS_NEWEST_US * 1000);
	turn();
	assert_int_equal(rcm_names_open(&loop, &fake_families, &names), 0);
	rcm_names_configure(names, files_dns, make_resolv(LOCAL), make_hosts());
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(r[i].done, 0);
}

/* The search list is for what is behind the labels of service and protocol; hosts files have no such records. */
static void test_names_srv_records_are_searched_for_and_told(void **state)
{
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), make_hosts());
	start_srv(&r, "_nfs._tcp.inhosts", false, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("_nfs._tcp.inhosts.x.test", RCM_FAMILIES_SRV), RCM_DNS_NXDOMAIN);
	turn();
	assert_int_equal(r.done, 0);
	fake_families_found_srv(fake_families_take("_nfs._tcp.inhosts", RCM_FAMILIES_SRV), "a.y.test", 2049, "192.0.2.1");
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.srv_count, 1);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.ttl, 60);
	assert_string_equal(r.target, "a.y.test:2049");
	start_srv(&r, "_nfs._tcp.inhosts", false, RCM_DNS_CONFIGURED);
	turn();
	fake_families_found_srv(fake_families_take("_nfs._tcp.inhosts.x.test", RCM_FAMILIES_SRV), "b.y.test", 1, NULL);
	assert_int_equal(r.srv_count, 1);
	assert_int_equal(r.count, 0);
	assert_string_equal(r.target, "b.y.test:1");
}

static void test_names_srv_records_of_a_full_name_are_asked_for_there_alone(void **state)
{
	static const char *const full[] = { "_nfs._tcp.short", "_nfs._tcp.short." };
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
	for (unsigned i = 0; i < 2; i++) {
		start_srv(&r, full[i], true, RCM_DNS_CONFIGURED);
		turn();
		fake_families_fail(fake_families_take("_nfs._tcp.short.", RCM_FAMILIES_SRV), RCM_DNS_NXDOMAIN);
		turn();
		assert_int_equal(r.done, 1);
		assert_int_equal(r.status, -ENOENT);
	}
}

/* RFC 2782: a target of "." alone. No other domain has a say. */
static void test_names_srv_service_that_is_decidedly_not_there_ends_the_search(void **state)
{
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test y.test\n"), NULL);
	start_srv(&r, "_nfs._tcp.short", false, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("_nfs._tcp.short.x.test", RCM_FAMILIES_SRV), RCM_DNS_DECLINED);
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, -ENOENT);
	assert_int_equal(r.code, EAI_NONAME);
	assert_non_null(strstr(r.text, "decidedly not available"));
}

static void test_names_srv_records_by_the_hosts_file_alone_are_none(void **state)
{
	struct result r;

	(void)state;
	start_srv(&r, "inhosts", false, RCM_DNS_HOSTS);
	turn();
	assert_int_equal(r.done, 1);
	assert_int_equal(r.status, -ENOENT);
}

#define NAMES_TEST(f) cmocka_unit_test_setup_teardown(f, open_names, close_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMES_TEST(test_names_found_with_all_addresses_and_the_name_asked_for),
		NAMES_TEST(test_names_wanted_family_only_is_asked_for),
		NAMES_TEST(test_names_search_list_is_walked_and_res_search_s_choice_told),
		NAMES_TEST(test_names_no_is_kept_as_long_as_every_zone_that_was_asked_says),
		NAMES_TEST(test_names_candidate_that_is_no_name_is_one_that_is_not_found),
		NAMES_TEST(test_names_hosts_file_comes_first_and_asks_nobody),
		NAMES_TEST(test_names_hosts_file_comes_last_where_dns_is_first),
		NAMES_TEST(test_names_source_hosts_or_servers_only),
		NAMES_TEST(test_names_half_an_answer_is_not_to_be_kept_and_says_what_is_missing),
		NAMES_TEST(test_names_part_is_told_to_who_asks_and_the_lookup_goes_on),
		NAMES_TEST(test_names_without_room_wait_in_order_and_are_asked_when_there_is_some),
		NAMES_TEST(test_names_without_room_none_that_comes_is_asked_before_those_that_wait),
		NAMES_TEST(test_names_without_room_the_newest_has_a_share_of_the_places),
		NAMES_TEST(test_names_without_room_now_and_then_the_newest_is_asked_beyond_it),
		NAMES_TEST(test_names_of_the_hosts_file_go_before_those_that_wait_for_room),
		NAMES_TEST(test_names_without_room_the_loop_sleeps),
		NAMES_TEST(test_names_at_a_server_that_is_gone_are_asked_about_anew),
		NAMES_TEST(test_names_under_way_go_on_by_the_sources_that_they_began_with),
		NAMES_TEST(test_names_cancelled_anywhere_are_not_completed),
		NAMES_TEST(test_names_completion_may_cancel_another_and_start_one),
		NAMES_TEST(test_names_closed_with_lookups_in_every_state_frees_all),
		NAMES_TEST(test_names_srv_records_are_searched_for_and_told),
		NAMES_TEST(test_names_srv_records_of_a_full_name_are_asked_for_there_alone),
		NAMES_TEST(test_names_srv_service_that_is_decidedly_not_there_ends_the_search),
		NAMES_TEST(test_names_srv_records_by_the_hosts_file_alone_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
