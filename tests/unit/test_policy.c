/* SPDX-License-Identifier: BSD-2-Clause */
/* Policy tables as gai.conf(5) may have them. */
#include "dns/policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

static char path[] = "/tmp/rai-gai-XXXXXX";

static union rcm_dns_address address_of(const char *text)
{
	union rcm_dns_address address = { 0 };

	if (inet_pton(AF_INET, text, &address.in.sin_addr) == 1)
		address.in.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &address.in6.sin6_addr) == 1)
		address.in6.sin6_family = AF_INET6;
	else
		fail_msg("%s", text);
	return address;
}

static int value_of(const struct rcm_policy_table *table, const char *text)
{
	const union rcm_dns_address address = address_of(text);

	return rcm_policy_find(table, &address);
}

static struct rcm_policy read_text(const char *text)
{
	struct rcm_policy policy;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(rcm_policy_read(path, &policy), 0);
	return policy;
}

static int make_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void test_policy_without_lines_is_as_built_in(void **state)
{
	struct rcm_policy policy = read_text("# label ::1/128 9\n\nreload yes\nlabel\nlabel x 1\n");

	(void)state;
	assert_memory_equal(&policy, &rcm_policy_default, sizeof(policy));
	assert_int_equal(value_of(&policy.labels, "2001:0:1::1"), 7);
	assert_int_equal(value_of(&policy.precedences, "192.0.2.1"), 10);
	assert_int_equal(value_of(&policy.scopes, "169.254.1.1"), 2);
	assert_int_equal(value_of(&policy.scopes, "192.0.2.1"), 14);
}

static void test_policy_lines_of_a_kind_take_the_place_of_those_built_in(void **state)
{
	struct rcm_policy policy = read_text("precedence ::ffff:0:0/96 100\nprecedence 2001:db8::/33 7 # end\n"
					     "\tprecedence 2001:db8::/32 8\n");

	(void)state;
	assert_int_equal(value_of(&policy.precedences, "192.0.2.1"), 100);
	assert_int_equal(value_of(&policy.precedences, "2001:db8::1"), 7);
	assert_int_equal(value_of(&policy.precedences, "2001:db8:8000::1"), 8);
	/* Not 50, as ::1 has it built in; what no line is about. */
	assert_int_equal(value_of(&policy.precedences, "::1"), 40);
	assert_memory_equal(&policy.labels, &rcm_policy_default.labels, sizeof(policy.labels));
}

static void test_policy_of_two_lines_about_the_same_the_first_counts(void **state)
{
	struct rcm_policy policy = read_text("label fd00::/8 3\nlabel fd00::/8 4\nlabel ::/0 5\nlabel ::/0 6\n");

	(void)state;
	assert_int_equal(value_of(&policy.labels, "fd00::1"), 3);
	assert_int_equal(value_of(&policy.labels, "2001:db8::1"), 5);
	/* The longest that has it, wherever it stands, and of its last octet the bits that it has. */
	policy = read_text("label ::/0 1\nlabel fd00::/33 4\nlabel fd00::/16 2\nlabel fd00::/40 5\nlabel fd00::/32 3\n");
	assert_int_equal(value_of(&policy.labels, "fd00:0:7f00::1"), 4);
	assert_int_equal(value_of(&policy.labels, "fd00:0:00ff::1"), 5);
	assert_int_equal(value_of(&policy.labels, "fd00:0:8000::1"), 3);
	assert_int_equal(value_of(&policy.labels, "fd00:1::1"), 2);
	assert_int_equal(value_of(&policy.labels, "fd01::1"), 1);
}

static void test_policy_scopes_are_of_ipv4_prefixes_mapped_or_not(void **state)
{
	struct rcm_policy policy = read_text("scopev4 ::ffff:192.0.2.77/120 5\nscopev4 198.51.100.0/24 6\n"
					     "scopev4 203.0.113.1 7\nscopev4 ::ffff:10.0.0.0/95 8\n"
					     "scopev4 10.0.0.0/33 8\nscopev4 2001:db8::/100 8\n");

	(void)state;
	assert_int_equal(value_of(&policy.scopes, "192.0.2.1"), 5);
	assert_int_equal(value_of(&policy.scopes, "198.51.100.9"), 6);
	assert_int_equal(value_of(&policy.scopes, "203.0.113.1"), 7);
	assert_int_equal(value_of(&policy.scopes, "203.0.113.2"), 14);
	assert_int_equal(value_of(&policy.scopes, "10.0.0.1"), 14);
	assert_int_equal(value_of(&policy.scopes, "127.0.0.1"), 14);
}

static void test_policy_numbers_as_glibc_takes_them(void **state)
{
	struct rcm_policy policy = read_text("label 2001:db8:1::/48\nlabel 2001:db8:2::/48 2147483647\n"
					     "label 2001:db8:3::/48 2147483648\nlabel 2001:db8:4::/48 4x\n"
					     "label 2001:db8:5::/48 -1\nlabel 2001:db8:6::/129 6\n"
					     "label 2001:db8:7::/48 +7 more words\n"
					     "label 2001:db8:8::/48 99999999999999999999\n");

	(void)state;
	assert_int_equal(value_of(&policy.labels, "2001:db8:1::1"), 0);
	assert_int_equal(value_of(&policy.labels, "2001:db8:2::1"), 2147483647);
	assert_int_equal(value_of(&policy.labels, "2001:db8:3::1"), 1);
	assert_int_equal(value_of(&policy.labels, "2001:db8:4::1"), 1);
	assert_int_equal(value_of(&policy.labels, "2001:db8:5::1"), 1);
	assert_int_equal(value_of(&policy.labels, "2001:db8:6::1"), 1);
	assert_int_equal(value_of(&policy.labels, "2001:db8:7::1"), 7);
	assert_int_equal(value_of(&policy.labels, "2001:db8:8::1"), 1);
}

static void test_policy_of_a_file_that_breaks_off_changes_nothing(void **state)
{
	struct rcm_policy policy = rcm_policy_default;

	(void)state;
	assert_int_equal(rcm_policy_read("/proc/self/mem", &policy), -EIO);
	assert_memory_equal(&policy, &rcm_policy_default, sizeof(policy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_without_lines_is_as_built_in),
		cmocka_unit_test(test_policy_lines_of_a_kind_take_the_place_of_those_built_in),
		cmocka_unit_test(test_policy_of_two_lines_about_the_same_the_first_counts),
		cmocka_unit_test(test_policy_scopes_are_of_ipv4_prefixes_mapped_or_not),
		cmocka_unit_test(test_policy_numbers_as_glibc_takes_them),
		cmocka_unit_test(test_policy_of_a_file_that_breaks_off_changes_nothing),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
