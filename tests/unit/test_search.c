/* SPDX-License-Identifier: BSD-2-Clause */
/* Which names are asked for instead of a short one. */
#include "dns/search.h"

#include "test.h"

/* The candidates for name, "a b c"; search ends with a NULL. */
static void check(unsigned ndots, bool no_tld_query, const char *const *search, const char *name, const char *expected)
{
	struct rcm_resolv resolv = { .ndots = ndots, .no_tld_query = no_tld_query, .search = (char **)search };
	char text[512] = "", candidate[RCM_SEARCH_NAME_MAX];

	while (search[resolv.search_count])
		resolv.search_count++;
	for (unsigned i = 0; rcm_search_name(&resolv, name, i, candidate) != RCM_SEARCH_END; i++)
		strcat(strcat(text, i ? " " : ""), candidate);
	assert_string_equal(text, expected);
}

static const char *const two[] = { "x.test", "y.test", NULL };
static const char *const root[] = { ".", "x.test", NULL };
static const char *const one_of_all[] = { "x.test", "y.test", "", NULL };
static const char *const letter[] = { "x", NULL };
static const char *const none[] = { NULL };

static void test_search_short_name_tries_domains_first(void **state)
{
	(void)state;
	check(1, false, two, "a", "a.x.test a.y.test a");
	check(1, true, two, "a", "a.x.test a.y.test");
	check(1, true, none, "a", "a");
	check(1, false, none, "a", "a");
	check(1, false, letter, "a", "a.x a");
}

static void test_search_name_with_enough_dots_is_tried_first(void **state)
{
	(void)state;
	check(1, false, two, "a.b", "a.b a.b.x.test a.b.y.test");
	check(2, false, two, "a.b", "a.b.x.test a.b.y.test a.b");
	check(2, true, two, "a.b", "a.b.x.test a.b.y.test a.b");
	check(0, false, two, "a", "a a.x.test a.y.test");
}

static void test_search_trailing_dot_is_no_search(void **state)
{
	(void)state;
	check(1, false, two, "a.", "a.");
	check(15, false, two, "a.b.", "a.b.");
}

static void test_search_root_in_the_list_takes_the_place_of_the_last_try(void **state)
{
	(void)state;
	check(1, false, root, "a", "a a.x.test");
	check(1, true, one_of_all, "a", "a.x.test a.y.test a");
}

static void fail_at(struct rcm_search *search, const struct rcm_resolv *resolv, const char *expected,
		    enum rcm_dns_verdict verdict)
{
	char candidate[RCM_SEARCH_NAME_MAX];

	assert_true(rcm_search_next(search, resolv, "a", candidate));
	assert_string_equal(candidate, expected);
	rcm_search_fail(search, resolv, "a", verdict, NULL);
}

static void test_search_a_domain_that_can_not_be_asked_leads_to_the_name_as_it_is(void **state)
{
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)two, .search_count = 2 };
	struct rcm_search search = { 0 };
	char candidate[RCM_SEARCH_NAME_MAX];

	(void)state;
	fail_at(&search, &resolv, "a.x.test", RCM_DNS_TIMEOUT);
	fail_at(&search, &resolv, "a", RCM_DNS_NXDOMAIN);
	assert_false(rcm_search_next(&search, &resolv, "a", candidate));
	search = (struct rcm_search){ 0 };
	fail_at(&search, &resolv, "a.x.test", RCM_DNS_SERVFAIL);
	fail_at(&search, &resolv, "a.y.test", RCM_DNS_NODATA);
	fail_at(&search, &resolv, "a", RCM_DNS_REFUSED);
	assert_int_equal(search.verdict, RCM_DNS_NODATA);
}

static void test_search_a_root_behind_a_domain_that_can_not_be_asked_is_not_reached(void **state)
{
	static const char *const domains[] = { "x.test", "." };
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)domains, .search_count = 2 };
	struct rcm_search search = { 0 };
	char candidate[RCM_SEARCH_NAME_MAX];

	(void)state;
	fail_at(&search, &resolv, "a.x.test", RCM_DNS_REFUSED);
	fail_at(&search, &resolv, "a", RCM_DNS_NXDOMAIN);
	assert_false(rcm_search_next(&search, &resolv, "a", candidate));
}

static void test_search_a_root_before_a_domain_that_can_not_be_asked_was_the_name_as_it_is(void **state)
{
	static const char *const domains[] = { ".", "x.test", "y.test" };

	(void)state;
	for (unsigned count = 2; count <= 3; count++) {
		const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)domains, .search_count = count };
		struct rcm_search search = { 0 };
		char candidate[RCM_SEARCH_NAME_MAX];

		fail_at(&search, &resolv, "a", RCM_DNS_NXDOMAIN);
		fail_at(&search, &resolv, "a.x.test", RCM_DNS_REFUSED);
		assert_false(rcm_search_next(&search, &resolv, "a", candidate));
	}
}

/* Of three candidates' ends that one is told which res_search(3) would tell. */
static void test_search_tells_the_end_that_says_most(void **state)
{
	enum { NONE = RCM_DNS_NXDOMAIN, NODATA = RCM_DNS_NODATA, SERVFAIL = RCM_DNS_SERVFAIL, REFUSED = RCM_DNS_REFUSED };
	/* ndots 1: x.test, y.test, as it is; 0: as it is, x.test, y.test. */
	static const struct { unsigned ndots, ends[3], told; } rows[] = {
		{ 1, { NONE, NONE, NONE }, 2 }, { 1, { NODATA, NONE, NONE }, 0 }, { 1, { NONE, NODATA, NONE }, 1 },
		{ 1, { NODATA, NODATA, REFUSED }, 0 }, { 1, { SERVFAIL, NONE, NONE }, 0 }, { 1, { NONE, SERVFAIL, NONE }, 1 },
		{ 1, { SERVFAIL, NODATA, NONE }, 1 }, { 1, { SERVFAIL, SERVFAIL, NODATA }, 2 },
		{ 1, { SERVFAIL, NONE, REFUSED }, 0 }, { 1, { NONE, NONE, REFUSED }, 2 },
		{ 0, { NONE, NODATA, NODATA }, 0 }, { 0, { NONE, SERVFAIL, SERVFAIL }, 0 }, { 0, { REFUSED, NODATA, NONE }, 0 },
	};
	static const union rcm_dns_address speakers[3];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct rcm_resolv resolv = { .ndots = rows[i].ndots, .search = (char **)two, .search_count = 2 };
		struct rcm_search search = { 0 };
		char candidate[RCM_SEARCH_NAME_MAX];

		for (unsigned j = 0; j < 3; j++) {
			assert_true(rcm_search_next(&search, &resolv, "a", candidate));
			rcm_search_fail(&search, &resolv, "a", rows[i].ends[j], &speakers[j]);
		}
		assert_false(rcm_search_next(&search, &resolv, "a", candidate));
		assert_true(search.known);
		assert_int_equal(search.verdict, rows[i].ends[rows[i].told]);
		assert_ptr_equal(search.server, &speakers[rows[i].told]);
	}
}

static void test_search_goes_on_to_the_next_domain_where_one_says_no_or_can_not_for_now(void **state)
{
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)two, .search_count = 2 };

	(void)state;
	for (int verdict = 0; verdict < RCM_DNS_FOUND; verdict++) {
		bool soft = verdict == RCM_DNS_NXDOMAIN || verdict == RCM_DNS_NO_HOST || verdict == RCM_DNS_NODATA ||
			    verdict == RCM_DNS_SERVFAIL;
		struct rcm_search search = { 0 };

		fail_at(&search, &resolv, "a.x.test", verdict);
		if (soft)
			fail_at(&search, &resolv, "a.y.test", RCM_DNS_NXDOMAIN);
		fail_at(&search, &resolv, "a", RCM_DNS_NXDOMAIN);
	}
}

static void test_search_passes_over_what_no_host_is_called(void **state)
{
	static const char *const domains[] = { "x test", "y.test", NULL };
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)domains, .search_count = 2 };
	struct rcm_search search = { 0 };
	char candidate[RCM_SEARCH_NAME_MAX];

	(void)state;
	assert_true(rcm_search_next(&search, &resolv, "a", candidate));
	assert_string_equal(candidate, "a.y.test");
	search = (struct rcm_search){ 0 };
	assert_false(rcm_search_next(&search, &resolv, "a b", candidate));
	assert_int_equal(search.verdict, RCM_DNS_NO_HOST);
	assert_null(search.server);
}

static void test_search_name_that_has_no_room_for_a_domain_is_as_it_is(void **state)
{
	enum { LEN = RCM_SEARCH_NAME_MAX - 2 - 6 };
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)two, .search_count = 2 };
	static char name[RCM_SEARCH_NAME_MAX], candidate[RCM_SEARCH_NAME_MAX];

	(void)state;
	memset(name, 'n', LEN);
	assert_int_equal(rcm_search_name(&resolv, name, 0, candidate), RCM_SEARCH_DOMAIN);
	assert_int_equal(strlen(candidate), RCM_SEARCH_NAME_MAX - 1);
	name[LEN] = 'n';
	assert_int_equal(rcm_search_name(&resolv, name, 0, candidate), RCM_SEARCH_AS_IS);
	assert_string_equal(candidate, name);
}

static void test_search_prefix_is_all_labels_of_service_and_protocol(void **state)
{
	static const struct { const char *name; unsigned len; } rows[] = {
		{ "_nfs._tcp.example.com", 10 }, { "_a.b", 3 }, { "host.example.com", 0 }, { "_nfs", 0 }, { "", 0 },
		{ "_nfs._tcp", 5 }, { "_nfs._tcp.", 10 }, { "a._tcp.example", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(rcm_search_prefix(rows[i].name), rows[i].len);
}

static void test_search_prints_a_candidate_without_the_dot_at_its_end(void **state)
{
	static const struct { const char *name, *printed; } rows[] = {
		{ "a", "a.x.test" }, { "a.", "a" }, { "a.b.", "a.b" }, { ".", "." }, { "a.b", "a.b" },
	};
	const struct rcm_resolv resolv = { .ndots = 1, .search = (char **)two, .search_count = 2 };
	struct rcm_search search = { 0 };
	char candidate[RCM_SEARCH_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rcm_search_print(&search, &resolv, rows[i].name, candidate);
		assert_string_equal(candidate, rows[i].printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_short_name_tries_domains_first),
		cmocka_unit_test(test_search_name_with_enough_dots_is_tried_first),
		cmocka_unit_test(test_search_trailing_dot_is_no_search),
		cmocka_unit_test(test_search_root_in_the_list_takes_the_place_of_the_last_try),
		cmocka_unit_test(test_search_a_domain_that_can_not_be_asked_leads_to_the_name_as_it_is),
		cmocka_unit_test(test_search_a_root_behind_a_domain_that_can_not_be_asked_is_not_reached),
		cmocka_unit_test(test_search_a_root_before_a_domain_that_can_not_be_asked_was_the_name_as_it_is),
		cmocka_unit_test(test_search_tells_the_end_that_says_most),
		cmocka_unit_test(test_search_goes_on_to_the_next_domain_where_one_says_no_or_can_not_for_now),
		cmocka_unit_test(test_search_passes_over_what_no_host_is_called),
		cmocka_unit_test(test_search_name_that_has_no_room_for_a_domain_is_as_it_is),
		cmocka_unit_test(test_search_prefix_is_all_labels_of_service_and_protocol),
		cmocka_unit_test(test_search_prints_a_candidate_without_the_dot_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
