/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses out of crafted answers. */
#include "dns/reply.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/limits.h"
#include "dns_message.h"
#include "test.h"

static struct dns_message message;
static struct rcm_reply reply;

static int clear(void **state)
{
	(void)state;
	rcm_reply_clear(&reply);
	return 0;
}

static enum rcm_dns_verdict add(int type)
{
	return rcm_reply_add(&reply, type, message.bytes, message.len);
}

static void check(const char *expected)
{
	char text[512] = "", one[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < reply.count; i++) {
		const union rcm_dns_address *a = &reply.addresses[i];
		const void *bytes = a->sa.sa_family == AF_INET ? (void *)&a->in.sin_addr : (void *)&a->in6.sin6_addr;

		strcat(strcat(text, i ? " " : ""), inet_ntop(a->sa.sa_family, bytes, one, sizeof(one)));
	}
	assert_string_equal(text, expected);
}

static void test_reply_addresses_in_order_with_the_least_ttl(void **state)
{
	(void)state;
	dns_message_begin(&message, "two.test", ns_t_a, 0);
	dns_message_add(&message, "two.test", ns_t_a, 300, "192.0.2.2");
	dns_message_add(&message, "TWO.test", ns_t_a, 20, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.2 192.0.2.1");
	assert_int_equal(reply.ttl, 20);
	assert_null(reply.canonname);
}

static void test_reply_ipv4_goes_before_ipv6_whichever_came_first(void **state)
{
	(void)state;
	dns_message_begin(&message, "two.test", ns_t_aaaa, 0);
	dns_message_add(&message, "two.test", ns_t_aaaa, 30, "2001:db8::1");
	dns_message_add(&message, "two.test", ns_t_aaaa, 30, "2001:db8::2");
	assert_int_equal(add(ns_t_aaaa), RCM_DNS_FOUND);
	dns_message_begin(&message, "two.test", ns_t_a, 0);
	dns_message_add(&message, "two.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.1 2001:db8::1 2001:db8::2");
	assert_int_equal(reply.ttl, 30);
}

static void test_reply_aliases_are_followed_and_counted_in_the_ttl(void **state)
{
	(void)state;
	dns_message_begin(&message, "alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 5, "next.test");
	dns_message_add(&message, "next.test", ns_t_cname, 60, "end.test");
	dns_message_add(&message, "end.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.1");
	assert_string_equal(reply.canonname, "end.test");
	assert_int_equal(reply.ttl, 5);
}

static void test_reply_canonical_name_is_the_last_that_a_host_can_have(void **state)
{
	(void)state;
	dns_message_begin(&message, "alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 60, "-end.test");
	dns_message_add(&message, "-end.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.1");
	assert_null(reply.canonname);
	rcm_reply_clear(&reply);
	dns_message_begin(&message, "alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 60, "good.test");
	dns_message_add(&message, "good.test", ns_t_cname, 60, "-end.test");
	dns_message_add(&message, "-end.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	assert_string_equal(reply.canonname, "good.test");
}

/* RFC 5452: what wasn't asked about doesn't count, whoever slipped it in. */
static void test_reply_records_of_other_names_and_types_are_left_out(void **state)
{
	(void)state;
	dns_message_begin(&message, "a.test", ns_t_a, 0);
	dns_message_add(&message, "evil.test", ns_t_a, 300, "192.0.2.66");
	dns_message_add(&message, "a.test", ns_t_aaaa, 300, "2001:db8::66");
	assert_int_equal(add(ns_t_a), RCM_DNS_NODATA);
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.1");
}

static void test_reply_cut_anywhere_is_malformed_and_changes_nothing(void **state)
{
	size_t whole;

	(void)state;
	dns_message_begin(&message, "a.test", ns_t_aaaa, 0);
	dns_message_add(&message, "a.test", ns_t_aaaa, 300, "2001:db8::1");
	assert_int_equal(add(ns_t_aaaa), RCM_DNS_FOUND);
	dns_message_begin(&message, "a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_cname, 300, "b.test");
	dns_message_add(&message, "b.test", ns_t_a, 300, "192.0.2.1");
	whole = message.len;
	for (message.len = 0; message.len < whole; message.len++) {
		assert_int_equal(add(ns_t_a), RCM_DNS_MALFORMED);
		check("2001:db8::1");
	}
	assert_int_equal(add(ns_t_a), RCM_DNS_FOUND);
	check("192.0.2.1 2001:db8::1");
}

static void test_reply_address_of_wrong_length_is_malformed(void **state)
{
	(void)state;
	dns_message_begin(&message, "a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "not-an-address");
	assert_int_equal(add(ns_t_a), RCM_DNS_MALFORMED);
	assert_int_equal(reply.count, 0);
}

static void test_reply_any_octet_changed_is_read_without_harm(void **state)
{
	struct dns_message good;

	(void)state;
	dns_message_begin(&message, "alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 5, "end.test");
	dns_message_add(&message, "end.test", ns_t_a, 60, "192.0.2.1");
	good = message;
	for (size_t i = 0; i < good.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			message = good;
			message.bytes[i] ^= (uint8_t)(1 << bit);
			add(ns_t_a);
			rcm_reply_clear(&reply);
		}
	}
}

static void test_reply_more_addresses_than_the_limit_are_left_out(void **state)
{
	(void)state;
	for (int part = 0; part < 2; part++) {
		dns_message_begin(&message, "a", ns_t_a, 0);
		for (int i = 0; i < 3000; i++)
			dns_message_add(&message, "a", ns_t_a, 60, "192.0.2.1");
		add(ns_t_a);
	}
	assert_int_equal(reply.count, RCM_RESULTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_reply_addresses_in_order_with_the_least_ttl, clear),
		cmocka_unit_test_teardown(test_reply_ipv4_goes_before_ipv6_whichever_came_first, clear),
		cmocka_unit_test_teardown(test_reply_aliases_are_followed_and_counted_in_the_ttl, clear),
		cmocka_unit_test_teardown(test_reply_canonical_name_is_the_last_that_a_host_can_have, clear),
		cmocka_unit_test_teardown(test_reply_records_of_other_names_and_types_are_left_out, clear),
		cmocka_unit_test_teardown(test_reply_cut_anywhere_is_malformed_and_changes_nothing, clear),
		cmocka_unit_test_teardown(test_reply_address_of_wrong_length_is_malformed, clear),
		cmocka_unit_test_teardown(test_reply_any_octet_changed_is_read_without_harm, clear),
		cmocka_unit_test_teardown(test_reply_more_addresses_than_the_limit_are_left_out, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
