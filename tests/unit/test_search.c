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
static const char *const none[] = { NULL };

static void test_search_short_name_tries_domains_first(void **state)
{
	(void)state;
	check(1, false, two, "a", "a.x.test a.y.test a");
	check(1, true, two, "a", "a.x.test a.y.test");
	check(1, true, none, "a", "a");
	check(1, false, none, "a", "a");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_short_name_tries_domains_first),
		cmocka_unit_test(test_search_name_with_enough_dots_is_tried_first),
		cmocka_unit_test(test_search_trailing_dot_is_no_search),
		cmocka_unit_test(test_search_root_in_the_list_takes_the_place_of_the_last_try),
		cmocka_unit_test(test_search_a_domain_that_can_not_be_asked_leads_to_the_name_as_it_is),
		cmocka_unit_test(test_search_a_root_behind_a_domain_that_can_not_be_asked_is_not_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
