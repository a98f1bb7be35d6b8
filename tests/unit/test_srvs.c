/* SPDX-License-Identifier: BSD-2-Clause */
/* SRV records of crafted answers, and what comes beside them. */
#include "dns/srvs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "dns_message.h"
#include "test.h"

static struct dns_message message;
static struct rcm_srvs srvs;

static int clear(void **state)
{
	(void)state;
	rcm_srvs_clear(&srvs);
	return 0;
}

static size_t put_labels(uint8_t *to, const char *text)
{
	return rcm_labels_read(*text ? text : ".", to);
}

/* A record of any data; counts by itself beyond 255, unlike dns_message_add_raw(). */
static void add_raw(int section, const char *owner, int type, uint32_t ttl, const void *data, size_t len)
{
	uint8_t record[600];
	size_t at = put_labels(record, owner);
	const uint8_t fixed[] = { 0, (uint8_t)type, 0, 1, 0, 0, (uint8_t)(ttl >> 8), (uint8_t)ttl, (uint8_t)(len >> 8),
				  (uint8_t)len };

	memcpy(record + at, fixed, sizeof(fixed));
	memcpy(record + at + sizeof(fixed), data, len);
	dns_message_add_raw(&message, section, record, at + sizeof(fixed) + len);
	if (!message.bytes[5 + 2 * section])
		message.bytes[4 + 2 * section]++;
}

static void add_srv(unsigned priority, unsigned weight, unsigned port, const char *target)
{
	uint8_t data[300] = { (uint8_t)(priority >> 8), (uint8_t)priority, (uint8_t)(weight >> 8), (uint8_t)weight,
			      (uint8_t)(port >> 8), (uint8_t)port };

	add_raw(1, "_nfs._tcp.dom.test", ns_t_srv, 60, data, 6 + put_labels(data + 6, target));
}

static void add_extra(const char *owner, const char *address, uint32_t ttl)
{
	bool v6 = strchr(address, ':');
	uint8_t bytes[16];

	assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, address, bytes), 1);
	add_raw(3, owner, v6 ? ns_t_aaaa : ns_t_a, ttl, bytes, v6 ? 16 : 4);
}

static void begin(void)
{
	dns_message_begin(&message, "_nfs._tcp.dom.test", ns_t_srv, 0);
}

/* -errno of the reading, else the verdict. From a copy of that length alone, for the sanitizers. */
static int read_part(size_t len)
{
	uint8_t name[RCM_LABELS_MAX], *copy = malloc(len ? len : 1);
	struct rcm_message_question question = { .name = name, .type = ns_t_srv };
	struct rcm_message_answer answer;
	int ret;

	assert_non_null(copy);
	memcpy(copy, message.bytes, len);
	question.name_len = rcm_labels_read("_nfs._tcp.dom.test", name);
	ret = rcm_message_read(&question, true, copy, len, &answer);
	if (!ret)
		ret = answer.count ? (int)rcm_srvs_read(&srvs, &answer) : (int)RCM_DNS_NODATA;
	free(copy);
	return ret;
}

static int read_all(void)
{
	return read_part(message.len);
}

/* "10/60 a.dom.test:7001 192.0.2.1|..." */
static void check(const char *expected)
{
	char text[1024] = "", one[INET6_ADDRSTRLEN];
	size_t len = 0;

	for (const struct rcm_dns_srv *r = srvs.records; r < srvs.records + srvs.count; r++) {
		len += (size_t)sprintf(text + len, "%s%u/%u %s:%u", len ? "|" : "", r->priority, r->weight, r->target, r->port);
		for (unsigned i = r->first; i < r->first + r->count; i++) {
			const union rcm_dns_address *a = &srvs.addresses[i];
			const void *bytes = a->sa.sa_family == AF_INET ? (void *)&a->in.sin_addr : (void *)&a->in6.sin6_addr;

			len += (size_t)sprintf(text + len, " %s", inet_ntop(a->sa.sa_family, bytes, one, sizeof(one)));
		}
	}
	assert_string_equal(text, expected);
}

static void test_srvs_records_come_with_addresses_of_their_domain(void **state)
{
	(void)state;
	begin();
	add_srv(10, 60, 7001, "a.dom.test");
	add_srv(20, 0, 65535, "B.Dom.Test");
	add_srv(20, 1, 1, "dom.test");
	add_srv(30, 0, 7001, "a.dom.test");
	add_extra("b.dom.test", "2001:db8::2", 300);
	add_extra("a.dom.test", "192.0.2.1", 300);
	add_extra("A.DOM.test", "2001:db8::1", 20);
	add_extra("dom.test", "192.0.2.3", 300);
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("10/60 a.dom.test:7001 192.0.2.1 2001:db8::1|20/0 B.Dom.Test:65535 2001:db8::2|"
	      "20/1 dom.test:1 192.0.2.3|30/0 a.dom.test:7001 192.0.2.1 2001:db8::1");
	assert_int_equal(srvs.ttl, 20);
}

static void test_srvs_lies_in_the_additional_section_are_passed_over(void **state)
{
	(void)state;
	begin();
	add_srv(0, 0, 1, "a.other.test");
	add_srv(0, 0, 1, "xdom.test");
	add_srv(0, 0, 1, "a.dom.test.evil");
	add_srv(0, 0, 1, "b.dom.test");
	add_extra("a.other.test", "10.6.6.6", 1);
	add_extra("xdom.test", "10.6.6.6", 1);
	add_extra("a.dom.test.evil", "10.6.6.6", 1);
	add_extra("notarget.dom.test", "10.6.6.6", 1);
	add_raw(3, "b.dom.test", ns_t_a, 1, "\1\2\3\4\5", 5);
	add_raw(3, "b.dom.test", ns_t_cname, 1, "\1a\0", 3);
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("0/0 a.other.test:1|0/0 xdom.test:1|0/0 a.dom.test.evil:1|0/0 b.dom.test:1");
	/* What isn't used doesn't say for how long. */
	assert_int_equal(srvs.ttl, 60);
}

static void test_srvs_broken_extra_harms_nothing_before_it(void **state)
{
	(void)state;
	begin();
	add_srv(0, 0, 1, "a.dom.test");
	add_extra("a.dom.test", "192.0.2.1", 60);
	add_extra("a.dom.test", "192.0.2.2", 60);
	assert_int_equal(read_part(message.len - 1), RCM_DNS_FOUND);
	check("0/0 a.dom.test:1 192.0.2.1");
}

static void test_srvs_each_record_once(void **state)
{
	(void)state;
	begin();
	add_srv(1, 2, 3, "a.other.test");
	add_srv(1, 2, 3, "A.other.test");
	add_srv(1, 2, 4, "a.other.test");
	add_srv(1, 3, 3, "a.other.test");
	add_srv(2, 2, 3, "a.other.test");
	add_srv(1, 2, 3, "b.other.test");
	add_srv(2, 2, 3, "a.other.test");
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("1/2 a.other.test:3|1/2 a.other.test:4|1/3 a.other.test:3|2/2 a.other.test:3|1/2 b.other.test:3");
}

static void test_srvs_target_root_alone_is_declined_and_else_nothing(void **state)
{
	(void)state;
	begin();
	add_srv(0, 0, 0, "");
	assert_int_equal(read_all(), RCM_DNS_DECLINED);
	add_srv(0, 0, 1, "a.other.test");
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("0/0 a.other.test:1");
	/* Whatever came before it. */
	begin();
	add_srv(0, 0, 2, "no!host.other.test");
	add_srv(0, 0, 0, "");
	assert_int_equal(read_all(), RCM_DNS_DECLINED);
}

static void test_srvs_malformed_records_are_passed_over(void **state)
{
	static const struct { const char *data; size_t len; } rows[] = {
		{ "", 0 }, { "\0\0\0\0\0\1", 6 }, { "\0\0\0\0\0\1\1", 7 }, { "\0\0\0\0\0\1\1a", 8 },
		{ "\0\0\0\0\0\1\1a\0\0", 10 }, { "\0\0\0\0\0\1\xff\0", 8 }, { "\0\0\0\0\0\1\x40", 7 },
		{ "\0\0\0\0\0\1\xc0", 7 }, { "\0\0\0\0\0\1\xc0\xff", 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin();
		add_raw(1, "_nfs._tcp.dom.test", ns_t_srv, 60, rows[i].data, rows[i].len);
		assert_int_equal(read_all(), -EBADMSG);
		add_srv(0, 0, 1, "a.other.test");
		assert_int_equal(read_all(), RCM_DNS_FOUND);
		check("0/0 a.other.test:1");
	}
	begin();
	add_srv(0, 0, 1, "a b.other.test");
	assert_int_equal(read_all(), RCM_DNS_MALFORMED);
}

/* RFC 2782 forbids it, and some do it. */
static void test_srvs_compressed_target_is_read(void **state)
{
	(void)state;
	begin();
	add_raw(1, "_nfs._tcp.dom.test", ns_t_srv, 60, "\0\1\0\2\0\3\1a\xc0\x16", 10);
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("1/2 a.dom.test:3");
}

static void test_srvs_of_too_many_the_best_priorities_stay(void **state)
{
	char target[32];

	(void)state;
	begin();
	for (unsigned i = 0; i < 600; i++) {
		sprintf(target, "h%u.other.test", i);
		add_srv(600 - i, 0, 1, target);
	}
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	assert_int_equal(srvs.count, RCM_SRV_RECORDS_MAX);
	for (unsigned i = 0; i < srvs.count; i++)
		assert_uint_in_range(srvs.records[i].priority, 1, RCM_SRV_RECORDS_MAX);
}

/* All of one priority, and one more of priority more. */
static void read_full_and(unsigned priority, unsigned more)
{
	char target[32];

	begin();
	for (unsigned i = 0; i < RCM_SRV_RECORDS_MAX; i++) {
		sprintf(target, "h%u.other.test", i);
		add_srv(priority, 0, 1, target);
	}
	add_srv(more, 0, 1, "more.other.test");
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	assert_int_equal(srvs.count, RCM_SRV_RECORDS_MAX);
}

static void test_srvs_one_too_many_takes_the_place_of_the_last_of_a_worse_priority(void **state)
{
	(void)state;
	for (unsigned more = 6; more >= 4; more--) {
		read_full_and(5, more);
		assert_string_equal(srvs.records[0].target, "h0.other.test");
		assert_string_equal(srvs.records[RCM_SRV_RECORDS_MAX - 2].target, "h254.other.test");
		assert_string_equal(srvs.records[RCM_SRV_RECORDS_MAX - 1].target,
				    more < 5 ? "more.other.test" : "h255.other.test");
	}
}

static void test_srvs_first_one_gives_way_where_it_is_the_worst(void **state)
{
	char target[32];

	(void)state;
	begin();
	for (unsigned i = 0; i <= RCM_SRV_RECORDS_MAX; i++) {
		sprintf(target, "h%u.other.test", i);
		add_srv(i ? 5 : 6, 0, 1, target);
	}
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	assert_string_equal(srvs.records[0].target, "h256.other.test");
	assert_string_equal(srvs.records[1].target, "h1.other.test");
	assert_string_equal(srvs.records[RCM_SRV_RECORDS_MAX - 1].target, "h255.other.test");
}

/* Records of others, and of other types, are in the way of none. */
static void test_srvs_of_another_owner_are_passed_over(void **state)
{
	(void)state;
	begin();
	add_raw(1, "_nfs._udp.dom.test", ns_t_srv, 60, "\0\1\0\2\0\3\1x", 9);
	add_raw(1, "_nfs._tcp.dom.test", ns_t_txt, 60, "\0\1\0\2\0\3\1y", 9);
	add_srv(0, 0, 1, "a.other.test");
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	check("0/0 a.other.test:1");
}

static void test_srvs_addresses_of_one_target_are_limited(void **state)
{
	char address[32];

	(void)state;
	begin();
	add_srv(0, 0, 1, "a.dom.test");
	for (unsigned i = 0; i < 200; i++) {
		sprintf(address, "10.0.0.%u", i);
		add_extra("a.dom.test", address, 60);
	}
	assert_int_equal(read_all(), RCM_DNS_FOUND);
	assert_int_equal(srvs.records[0].count, RCM_SRV_ADDRESSES_MAX);
}

/* An address of the target behind so many of others. */
static void read_extra_behind(unsigned others)
{
	begin();
	add_srv(0, 0, 1, "a.dom.test");
	for (unsigned i = 0; i < others; i++)
		add_extra("b.dom.test", "192.0.2.9", 60);
	add_extra("a.dom.test", "192.0.2.1", 60);
	assert_int_equal(read_all(), RCM_DNS_FOUND);
}

static void test_srvs_extras_are_looked_at_up_to_their_limit(void **state)
{
	(void)state;
	read_extra_behind(RCM_SRV_EXTRAS_MAX - 1);
	check("0/0 a.dom.test:1 192.0.2.1");
	rcm_srvs_clear(&srvs);
	read_extra_behind(RCM_SRV_EXTRAS_MAX);
	check("0/0 a.dom.test:1");
}

/* Cut anywhere, it is read or not, and nothing beyond it. */
static void test_srvs_message_cut_anywhere_is_safe(void **state)
{
	(void)state;
	begin();
	add_srv(10, 60, 7001, "a.dom.test");
	add_srv(20, 0, 7002, "b.dom.test");
	add_extra("a.dom.test", "192.0.2.1", 300);
	for (size_t len = 0; len <= message.len; len++) {
		int ret = read_part(len);

		assert_true(ret == -ENOENT || ret == -EBADMSG || ret == RCM_DNS_FOUND);
	}
}

#define SRVS_TEST(f) cmocka_unit_test_teardown(f, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SRVS_TEST(test_srvs_records_come_with_addresses_of_their_domain),
		SRVS_TEST(test_srvs_lies_in_the_additional_section_are_passed_over),
		SRVS_TEST(test_srvs_broken_extra_harms_nothing_before_it),
		SRVS_TEST(test_srvs_each_record_once),
		SRVS_TEST(test_srvs_target_root_alone_is_declined_and_else_nothing),
		SRVS_TEST(test_srvs_malformed_records_are_passed_over),
		SRVS_TEST(test_srvs_compressed_target_is_read),
		SRVS_TEST(test_srvs_of_too_many_the_best_priorities_stay),
		SRVS_TEST(test_srvs_one_too_many_takes_the_place_of_the_last_of_a_worse_priority),
		SRVS_TEST(test_srvs_first_one_gives_way_where_it_is_the_worst),
		SRVS_TEST(test_srvs_of_another_owner_are_passed_over),
		SRVS_TEST(test_srvs_addresses_of_one_target_are_limited),
		SRVS_TEST(test_srvs_extras_are_looked_at_up_to_their_limit),
		SRVS_TEST(test_srvs_message_cut_anywhere_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
