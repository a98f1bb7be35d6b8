/* SPDX-License-Identifier: BSD-2-Clause */
/* The answers of one name put together. */
#include "dns/reply.h"

#include <arpa/inet.h>

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

static void begin(int type)
{
	dns_message_begin(&message, "two.test", type, 0);
}

static void add(int type, uint32_t ttl, const char *address)
{
	dns_message_add(&message, "two.test", type, ttl, address);
}

static enum rcm_dns_verdict take(uint16_t type, uint32_t negative_ttl)
{
	uint8_t name[RCM_LABELS_MAX];
	struct rcm_message_question question = { .name = name, .type = type };
	struct rcm_message_answer answer;

	question.name_len = rcm_labels_read("two.test", name);
	assert_int_equal(rcm_message_read(&question, false, message.bytes, message.len, &answer), 0);
	answer.negative_ttl = negative_ttl;
	return rcm_reply_add(&reply, &answer);
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

static void test_reply_ipv4_goes_before_ipv6_whichever_came_first(void **state)
{
	(void)state;
	begin(ns_t_aaaa);
	add(ns_t_aaaa, 30, "2001:db8::1");
	add(ns_t_aaaa, 30, "2001:db8::2");
	assert_int_equal(take(ns_t_aaaa, UINT32_MAX), RCM_DNS_FOUND);
	begin(ns_t_a);
	add(ns_t_a, 60, "192.0.2.1");
	assert_int_equal(take(ns_t_a, UINT32_MAX), RCM_DNS_FOUND);
	check("192.0.2.1 2001:db8::1 2001:db8::2");
	assert_int_equal(reply.ttl, 30);
	rcm_reply_clear(&reply);
	assert_int_equal(take(ns_t_a, UINT32_MAX), RCM_DNS_FOUND);
	begin(ns_t_aaaa);
	add(ns_t_aaaa, 90, "2001:db8::1");
	assert_int_equal(take(ns_t_aaaa, UINT32_MAX), RCM_DNS_FOUND);
	check("192.0.2.1 2001:db8::1");
	assert_int_equal(reply.ttl, 60);
}

/* C4: that the other family isn't there may change, too. */
static void test_reply_absence_of_a_family_is_kept_as_long_as_its_soa_says(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		for (uint32_t negative = 10; negative <= 90; negative += 80) {
			for (int i = 0; i < 2; i++) {
				begin(i == first ? ns_t_a : ns_t_aaaa);
				if (i == first)
					add(ns_t_a, 60, "192.0.2.1");
				assert_int_equal(take(i == first ? ns_t_a : ns_t_aaaa, negative),
						 i == first ? RCM_DNS_FOUND : RCM_DNS_NODATA);
			}
			check("192.0.2.1");
			assert_int_equal(reply.ttl, negative < 60 ? negative : 60);
			rcm_reply_clear(&reply);
		}
	}
}

static void test_reply_canonical_name_is_the_first_that_is_told(void **state)
{
	(void)state;
	begin(ns_t_a);
	add(ns_t_a, 60, "192.0.2.1");
	assert_int_equal(take(ns_t_a, UINT32_MAX), RCM_DNS_FOUND);
	assert_null(reply.canonname);
	begin(ns_t_aaaa);
	add(ns_t_cname, 60, "end.test");
	dns_message_add(&message, "end.test", ns_t_aaaa, 60, "2001:db8::1");
	assert_int_equal(take(ns_t_aaaa, UINT32_MAX), RCM_DNS_FOUND);
	assert_string_equal(reply.canonname, "end.test");
}

/* C2: all are there, so that the caller can tell how many. */
static void test_reply_keeps_all_addresses_of_both_families(void **state)
{
	(void)state;
	for (int part = 0; part < 2; part++) {
		begin(part ? ns_t_a : ns_t_aaaa);
		for (int i = 0; i < 1500; i++)
			add(part ? ns_t_a : ns_t_aaaa, 60, part ? "192.0.2.1" : "2001:db8::1");
		assert_int_equal(take(part ? ns_t_a : ns_t_aaaa, UINT32_MAX), RCM_DNS_FOUND);
	}
	assert_int_equal(reply.count, 3000);
	assert_int_equal(reply.addresses[1499].sa.sa_family, AF_INET);
	assert_int_equal(reply.addresses[1500].sa.sa_family, AF_INET6);
}

/* "two.test", for so many seconds, with priority 1, weight 2 and port 3; its target as labels. */
static void add_srv(uint8_t ttl, const char *target, size_t len)
{
	uint8_t record[40] = { 3, 't', 'w', 'o', 4, 't', 'e', 's', 't', 0, 0, ns_t_srv, 0, 1, 0, 0, 0, ttl, 0,
			       (uint8_t)(6 + len), 0, 1, 0, 2, 0, 3 };

	memcpy(record + 26, target, len);
	dns_message_add_raw(&message, 1, record, 26 + len);
}

static void test_reply_of_srv_records_has_them_and_their_ttl(void **state)
{
	(void)state;
	begin(ns_t_srv);
	add_srv(50, "\1a", 3);
	add_srv(40, "\1b", 3);
	assert_int_equal(take(ns_t_srv, UINT32_MAX), RCM_DNS_FOUND);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply.srvs->count, 2);
	assert_string_equal(reply.srvs->records[1].target, "b");
	assert_true(reply.limited);
	assert_int_equal(reply.ttl, 40);
	assert_null(reply.addresses);
	rcm_reply_clear(&reply);
	assert_null(reply.srvs);
}

static void test_reply_of_srv_records_that_decline_has_none_and_is_limited_by_them(void **state)
{
	(void)state;
	begin(ns_t_srv);
	add_srv(50, "", 1);
	assert_int_equal(take(ns_t_srv, UINT32_MAX), RCM_DNS_DECLINED);
	assert_int_equal(reply.count, 0);
	assert_true(reply.limited);
	assert_int_equal(reply.ttl, 50);
}

static void test_reply_without_records_is_limited_by_what_the_zone_says(void **state)
{
	(void)state;
	begin(ns_t_srv);
	assert_int_equal(take(ns_t_srv, 70), RCM_DNS_NODATA);
	assert_true(reply.limited);
	assert_int_equal(reply.ttl, 70);
	assert_null(reply.srvs);
}

/* The first is told, whatever the second says. */
static void test_reply_canonical_name_of_the_second_does_not_replace_the_first_s(void **state)
{
	static const char *const ends[] = { "one.test", "other.test" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(i ? ns_t_aaaa : ns_t_a);
		add(ns_t_cname, 60, ends[i]);
		dns_message_add(&message, ends[i], i ? ns_t_aaaa : ns_t_a, 60, i ? "2001:db8::1" : "192.0.2.1");
		assert_int_equal(take(i ? ns_t_aaaa : ns_t_a, UINT32_MAX), RCM_DNS_FOUND);
	}
	assert_string_equal(reply.canonname, "one.test");
	check("192.0.2.1 2001:db8::1");
}

#define REPLY_TEST(f) cmocka_unit_test_teardown(f, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLY_TEST(test_reply_ipv4_goes_before_ipv6_whichever_came_first),
		REPLY_TEST(test_reply_absence_of_a_family_is_kept_as_long_as_its_soa_says),
		REPLY_TEST(test_reply_canonical_name_is_the_first_that_is_told),
		REPLY_TEST(test_reply_keeps_all_addresses_of_both_families),
		REPLY_TEST(test_reply_of_srv_records_has_them_and_their_ttl),
		REPLY_TEST(test_reply_of_srv_records_that_decline_has_none_and_is_limited_by_them),
		REPLY_TEST(test_reply_without_records_is_limited_by_what_the_zone_says),
		REPLY_TEST(test_reply_canonical_name_of_the_second_does_not_replace_the_first_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
