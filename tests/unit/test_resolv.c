/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration out of glibc's state, and the search list. */
#include "dns/resolv.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "test.h"

static struct rcm_resolv *make(unsigned ndots, unsigned long options, const char *const *search)
{
	struct __res_state res = { .ndots = ndots & 15, .options = options, .retrans = 5, .retry = 2, .nscount = 1 };
	struct rcm_resolv *resolv;

	res.nsaddr_list[0].sin_family = AF_INET;
	for (int i = 0; search && search[i]; i++)
		res.dnsrch[i] = (char *)search[i];
	assert_int_equal(rcm_resolv_from(&res, &resolv), 0);
	return resolv;
}

/* The candidates for name, "a b c". */
static void check(struct rcm_resolv *resolv, const char *name, const char *expected)
{
	char text[512] = "", candidate[RCM_SEARCH_NAME_MAX];

	for (unsigned i = 0; rcm_search_name(resolv, name, i, candidate) != RCM_SEARCH_END; i++)
		strcat(strcat(text, i ? " " : ""), candidate);
	assert_string_equal(text, expected);
	rcm_resolv_put(resolv);
}

static const char *const two[] = { "x.test", "y.test", NULL };
static const char *const root[] = { ".", "x.test", NULL };

static void test_search_short_name_tries_domains_first(void **state)
{
	(void)state;
	check(make(1, 0, two), "a", "a.x.test a.y.test a");
	check(make(1, RES_NOTLDQUERY, two), "a", "a.x.test a.y.test");
	check(make(1, RES_NOTLDQUERY, NULL), "a", "a");
	check(make(1, 0, NULL), "a", "a");
}

static void test_search_name_with_enough_dots_is_tried_first(void **state)
{
	(void)state;
	check(make(1, 0, two), "a.b", "a.b a.b.x.test a.b.y.test");
	check(make(2, 0, two), "a.b", "a.b.x.test a.b.y.test a.b");
	check(make(2, RES_NOTLDQUERY, two), "a.b", "a.b.x.test a.b.y.test a.b");
	check(make(0, 0, two), "a", "a a.x.test a.y.test");
}

static void test_search_trailing_dot_is_no_search(void **state)
{
	(void)state;
	check(make(1, 0, two), "a.", "a.");
	check(make(15, 0, two), "a.b.", "a.b.");
}

static void test_search_root_in_the_list_takes_the_place_of_the_last_try(void **state)
{
	(void)state;
	check(make(1, 0, root), "a", "a a.x.test");
}

static void test_search_last_is_behind_the_domains(void **state)
{
	struct rcm_resolv *resolv = make(1, 0, two);

	(void)state;
	assert_int_equal(rcm_search_last(resolv, "a"), 2);
	assert_int_equal(rcm_search_last(resolv, "a.b"), 3);
	rcm_resolv_put(resolv);
}

static void test_resolv_servers_of_both_families_keep_port_and_scope(void **state)
{
	struct __res_state res = { .nscount = 2, .retrans = 3, .retry = 2, .options = RES_ROTATE | RES_USE_EDNS0 };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_scope_id = 7 };
	struct rcm_resolv *resolv;

	(void)state;
	res.nsaddr_list[1] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(53) };
	res._u._ext.nsaddrs[0] = &in6;
	assert_int_equal(rcm_resolv_from(&res, &resolv), 0);
	assert_int_equal(resolv->servers_count, 2);
	assert_int_equal(resolv->servers[0].sa.sa_family, AF_INET6);
	assert_int_equal(resolv->servers[0].in6.sin6_scope_id, 7);
	assert_int_equal(resolv->servers[1].sa.sa_family, AF_INET);
	assert_int_equal(resolv->timeout_ms, 3000);
	assert_int_equal(resolv->attempts, 2);
	assert_true(resolv->rotate && resolv->edns && !resolv->use_tcp && !resolv->beyond_us);
	assert_ptr_equal(rcm_resolv_get(resolv), resolv);
	rcm_resolv_put(resolv);
	rcm_resolv_put(resolv);
	rcm_resolv_put(NULL);
}

static void test_resolv_options_only_glibc_honours_are_marked(void **state)
{
	static const unsigned long options[] = { RES_SNGLKUP, RES_SNGLKUPREOP, RES_NOAAAA };
	static const char *const full[] = { "a", "b", "c", "d", "e", "f", NULL };
	struct rcm_resolv *resolv;

	(void)state;
	for (int i = 0; i < 3; i++) {
		resolv = make(1, options[i], two);
		assert_true(resolv->beyond_us);
		rcm_resolv_put(resolv);
	}
	resolv = make(1, 0, full);
	assert_true(resolv->beyond_us);
	rcm_resolv_put(resolv);
}

static void test_resolv_without_descriptors_is_an_error(void **state)
{
	struct rcm_resolv *resolv = NULL;
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_resolv_read(&resolv), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(resolv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_short_name_tries_domains_first),
		cmocka_unit_test(test_search_name_with_enough_dots_is_tried_first),
		cmocka_unit_test(test_search_trailing_dot_is_no_search),
		cmocka_unit_test(test_search_root_in_the_list_takes_the_place_of_the_last_try),
		cmocka_unit_test(test_search_last_is_behind_the_domains),
		cmocka_unit_test(test_resolv_servers_of_both_families_keep_port_and_scope),
		cmocka_unit_test(test_resolv_options_only_glibc_honours_are_marked),
		cmocka_unit_test(test_resolv_without_descriptors_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
