/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of names against a real name server, compared with getaddrinfo() on the same configuration. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/test.h"
#include "asker.h"

static struct outcome ours, theirs;

static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6 };

static void compare_families(const char *name, int count)
{
	for (int i = 0; i < count; i++) {
		asker_libc(&theirs, name, families[i]);
		asker_ask(&ours, name, families[i]);
		/* The caches give the addresses in a new order each time. */
		if (strcmp(getenv("RAI_DNS_FIRST"), "nsd")) {
			asker_sort(&ours);
			asker_sort(&theirs);
		}
		if (asker_is_same(&ours, &theirs))
			continue;
		print_error("%s, family %d: \"%s\"\n", name, families[i], ours.why);
		assert_string_equal(ours.text, theirs.text);
	}
}

static void compare(const char *name)
{
	compare_families(name, 3);
}

/* F6: a name with two addresses of each family gives all four, in the order of getaddrinfo(). */
static void test_f6_source_name_with_four_addresses_gives_all_as_getaddrinfo(void **state)
{
	(void)state;
	compare("two.rai.test");
	asker_ask(&ours, "two.rai.test", AF_UNSPEC);
	assert_int_equal(ours.count, 4);
	assert_uint_in_range(ours.ttl, 290, 300);
}

static void test_source_every_name_of_the_zone_as_getaddrinfo(void **state)
{
	static const char *const names[] = {
		"four", "v4", "v6", "kinds", "mapped", "nodata", "ent", "leaf.ent", "alias", "chain1", "av4", "av6",
		"dangling", "anodata", "badalias", "badmiddle", "badend", "-bad",
		"ttl0", "ttlmix", "host.sub", "under_score", "xn--bcher-kva", "UPPER", "upper",
		"anything.wild", "large", "huge", "nosuchname", "no.such.name", "inhosts", "two",
	};
	char name[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s.rai.test", names[i]);
		compare(name);
		strcat(name, ".");
		compare(name);
	}
	compare("localhost");
	compare("inhosts");
	compare("nosuchname");
}

/* What no host can be called isn't asked about, though the wildcard would answer. */
static void test_source_names_that_no_host_can_have_as_getaddrinfo(void **state)
{
	static const char *const names[] = {
		"a b", "a\tb", "[live]", "a:b", "a%b", "-a", "a/b", "*", "a@b", "a,b", "\x80", "caf\xc3\xa9", "a\\.b",
		"a\\032b", "a!b", "a\\", "a\nb", "a_b", "_a", "a-", "a--b", "1",
	};
	static const char *const whole[] = {
		"1.2.3.4%rai0", "[::1]", "1.2.3.4 ", " v4.rai.test", "v4.rai.test ", "::1 ", "1.2.3.4.5", ".",
	};
	char name[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s.wild.rai.test", names[i]);
		/* IPv6 aside: glibc asks, and tells that the wildcard has none. */
		compare_families(name, 2);
	}
	/* The caches would look for the servers of those domains. */
	for (size_t i = 0; !strcmp(getenv("RAI_DNS_FIRST"), "nsd") && i < sizeof(whole) / sizeof(*whole); i++)
		compare_families(whole[i], 1);
	asker_ask(&ours, "1.2.3.4 ", AF_UNSPEC);
	assert_int_equal(ours.status, -ENOENT);
	assert_int_equal(ours.code, EAI_NONAME);
	assert_non_null(strstr(ours.why, "was not asked: no host can have that name"));
}

/* Caches hand out the addresses of one family in turn. */
static bool leads_with_ipv6(const struct outcome *outcome)
{
	const char *six = strstr(outcome->text, "2001:db8::"), *four = strstr(outcome->text, "192.0.2.");

	assert_non_null(six);
	assert_non_null(four);
	return six < four;
}

/* In its own time, and while nobody asks: one time after another, as what tells of a change tells once. */
static void test_source_addresses_of_the_host_that_change_change_the_order(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		asker_ask(&ours, "two.rai.test", AF_UNSPEC);
		assert_true(leads_with_ipv6(&ours));
		assert_int_equal(system("ip addr del 2001:db8::10/64 dev rai0"), 0);
		asker_ask(&ours, "two.rai.test", AF_UNSPEC);
		asker_libc(&theirs, "two.rai.test", AF_UNSPEC);
		assert_false(leads_with_ipv6(&ours));
		assert_false(leads_with_ipv6(&theirs));
		assert_int_equal(system("ip addr add 2001:db8::10/64 dev rai0 nodad &&"
					"ip -6 route replace default via 2001:db8::1 dev rai0"), 0);
	}
}

static void test_source_ttl_is_the_least_of_the_chain(void **state)
{
	(void)state;
	/* A cache has let some of it go by. */
	asker_ask(&ours, "ttlalias.rai.test", AF_UNSPEC);
	assert_uint_in_range(ours.ttl, 5, 10);
	asker_ask(&ours, "ttlmix.rai.test", AF_UNSPEC);
	assert_uint_in_range(ours.ttl, 15, 20);
	asker_ask(&ours, "ttl0.rai.test", AF_UNSPEC);
	assert_int_equal(ours.ttl, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f6_source_name_with_four_addresses_gives_all_as_getaddrinfo),
		cmocka_unit_test(test_source_every_name_of_the_zone_as_getaddrinfo),
		cmocka_unit_test(test_source_names_that_no_host_can_have_as_getaddrinfo),
		cmocka_unit_test(test_source_addresses_of_the_host_that_change_change_the_order),
		cmocka_unit_test(test_source_ttl_is_the_least_of_the_chain),
	};
	int rc;

	asker_main(argc, argv);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
