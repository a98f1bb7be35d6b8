/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions as octets, and crafted answers read. */
#include "dns/message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "dns_message.h"
#include "test.h"

static struct dns_message message;
static struct rcm_message_answer answer;
static uint8_t name[RCM_LABELS_MAX];
static struct rcm_message_question question;

static void ask_for(const char *text, uint16_t type)
{
	question = (struct rcm_message_question){ .name = name, .name_len = rcm_labels_read(text, name), .type = type };
	assert_true(question.name_len > 0);
}

static void begin(const char *text, uint16_t type, int rcode)
{
	ask_for(text, type);
	dns_message_begin(&message, text, type, rcode);
}

/* From a copy of exactly that length, so that the sanitizers see a read of one octet too many. */
static int read_part(size_t len, bool whole)
{
	static uint8_t *copy;

	free(copy);
	copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, message.bytes, len);
	return rcm_message_read(&question, whole, copy, len, &answer);
}

static int read_all(void)
{
	return read_part(message.len, false);
}

static void check(const char *expected)
{
	union rcm_dns_address *addresses = calloc(answer.count + 1, sizeof(*addresses));
	char text[512] = "", one[INET6_ADDRSTRLEN];

	assert_non_null(addresses);
	rcm_message_addresses(&answer, addresses);
	for (unsigned i = 0; i < answer.count; i++) {
		const union rcm_dns_address *a = &addresses[i];
		const void *bytes = a->sa.sa_family == AF_INET ? (void *)&a->in.sin_addr : (void *)&a->in6.sin6_addr;

		strcat(strcat(text, i ? " " : ""), inet_ntop(a->sa.sa_family, bytes, one, sizeof(one)));
	}
	free(addresses);
	assert_string_equal(text, expected);
}

static void test_message_question_octet_by_octet(void **state)
{
	static const uint8_t plain[] = "\x12\x34\x01\x00\0\1\0\0\0\0\0\0\1a\4test\0\0\x1c\0\1";
	static const uint8_t opt[] = "\0\0\x29\x04\xd0\0\0\0\0\0\0";
	uint8_t bytes[RCM_MESSAGE_QUESTION_MAX];

	(void)state;
	ask_for("a.test", ns_t_aaaa);
	assert_int_equal(rcm_message_ask(&question, 0x1234, bytes), sizeof(plain) - 1);
	assert_memory_equal(bytes, plain, sizeof(plain) - 1);
	question.edns = question.trust_ad = true;
	assert_int_equal(rcm_message_ask(&question, 0x1234, bytes), sizeof(plain) - 1 + sizeof(opt) - 1);
	assert_int_equal(bytes[3], 0x20);
	assert_int_equal(bytes[11], 1);
	assert_memory_equal(bytes + sizeof(plain) - 1, opt, sizeof(opt) - 1);
}

static void test_message_addresses_in_order_with_the_least_ttl(void **state)
{
	(void)state;
	begin("two.test", ns_t_a, 0);
	dns_message_add(&message, "two.test", ns_t_a, 300, "192.0.2.2");
	dns_message_add(&message, "TWO.test", ns_t_a, 20, "192.0.2.1");
	assert_int_equal(read_all(), 0);
	check("192.0.2.2 192.0.2.1");
	assert_int_equal(answer.ttl, 20);
	assert_string_equal(answer.canonname, "");
	begin("two.test", ns_t_aaaa, 0);
	dns_message_add(&message, "two.test", ns_t_aaaa, 0x80000001, "2001:db8::1");
	assert_int_equal(read_all(), 0);
	check("2001:db8::1");
	assert_int_equal(answer.ttl, 0);
}

/* P2: a chain counts in whatever order its records come. */
static void test_message_aliases_are_followed_in_any_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 2, 0, 1 }, { 1, 2, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		begin("alias.test", ns_t_a, 0);
		for (int j = 0; j < 3; j++) {
			if (orders[i][j] == 0)
				dns_message_add(&message, "Alias.test", ns_t_cname, 5, "next.test");
			else if (orders[i][j] == 1)
				dns_message_add(&message, "next.test", ns_t_cname, 60, "End.test");
			else
				dns_message_add(&message, "end.test", ns_t_a, 60, "192.0.2.1");
		}
		assert_int_equal(read_all(), 0);
		check("192.0.2.1");
		assert_string_equal(answer.canonname, "End.test");
		assert_int_equal(answer.ttl, 5);
	}
}

static void test_message_aliases_in_a_circle_have_no_address(void **state)
{
	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_cname, 60, "b.test");
	dns_message_add(&message, "b.test", ns_t_cname, 60, "a.test");
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.count, 0);
}

static void test_message_chain_of_twenty_aliases_is_followed(void **state)
{
	char owner[16], target[16];

	(void)state;
	begin("n0.test", ns_t_a, 0);
	for (int i = 0; i < 20; i++) {
		snprintf(owner, sizeof(owner), "n%d.test", i);
		snprintf(target, sizeof(target), "n%d.test", i + 1);
		dns_message_add(&message, owner, ns_t_cname, 60, target);
	}
	dns_message_add(&message, "n20.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(read_all(), 0);
	check("192.0.2.1");
}

static void test_message_canonical_name_is_the_last_that_a_host_can_have(void **state)
{
	(void)state;
	begin("alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 60, "good.test");
	dns_message_add(&message, "good.test", ns_t_cname, 60, "-end.test");
	dns_message_add(&message, "-end.test", ns_t_a, 60, "192.0.2.1");
	assert_int_equal(read_all(), 0);
	check("192.0.2.1");
	assert_string_equal(answer.canonname, "good.test");
}

/* RFC 5452: what wasn't asked about doesn't count, whoever slipped it in. */
static void test_message_records_of_other_names_types_and_classes_are_left_out(void **state)
{
	static const uint8_t chaos[] = "\xc0\x0c\0\1\0\3\0\0\0\x3c\0\4\xc0\0\2\x42";

	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "evil.test", ns_t_a, 1, "192.0.2.66");
	dns_message_add(&message, "a.test", ns_t_aaaa, 1, "2001:db8::66");
	dns_message_add_raw(&message, 1, chaos, sizeof(chaos) - 1);
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.count, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
	assert_int_equal(read_all(), 0);
	check("192.0.2.1");
	assert_int_equal(answer.ttl, 300);
}

static void test_message_that_answers_another_question_is_none(void **state)
{
	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
	assert_int_equal(read_all(), 0);
	ask_for("A.TEST", ns_t_a);
	assert_int_equal(read_all(), 0);
	ask_for("b.test", ns_t_a);
	assert_int_equal(read_all(), -ENOENT);
	ask_for("a.test", ns_t_aaaa);
	assert_int_equal(read_all(), -ENOENT);
	ask_for("a.test", ns_t_a);
	message.bytes[2] ^= 0x80;	/* a question */
	assert_int_equal(read_all(), -ENOENT);
	message.bytes[2] ^= 0x80 | 0x10;	/* another opcode */
	assert_int_equal(read_all(), -ENOENT);
	message.bytes[2] ^= 0x10;
	message.bytes[23] = 3;		/* another class */
	assert_int_equal(read_all(), -ENOENT);
}

/* Servers that don't know EDNS may send the header back and no more. */
static void test_message_without_its_question_counts_for_those_who_did_not_understand(void **state)
{
	(void)state;
	for (int rcode = 0; rcode < 6; rcode++) {
		begin("a.test", ns_t_a, rcode);
		message.bytes[5] = 0;
		message.len = 12;
		assert_int_equal(read_all(), rcode == ns_r_formerr || rcode == ns_r_notimpl ? 0 : -ENOENT);
	}
}

static void test_message_flags_and_codes(void **state)
{
	static const uint8_t opt[] = "\0\0\x29\x04\xd0\1\0\0\0\0\0";

	(void)state;
	begin("a.test", ns_t_a, ns_r_nxdomain);
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.rcode, ns_r_nxdomain);
	assert_true(answer.recursion && answer.empty && !answer.authoritative && !answer.truncated);
	begin("a.test", ns_t_a, 0);
	message.bytes[2] |= 0x06;
	message.bytes[3] = 0;
	assert_int_equal(read_all(), 0);
	assert_true(!answer.recursion && answer.authoritative && answer.truncated);
	/* RFC 6891: OPT has the upper bits; it is no record that says something about the name. */
	begin("a.test", ns_t_a, 0);
	dns_message_add_raw(&message, 3, opt, sizeof(opt) - 1);
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.rcode, 16);
	assert_true(answer.empty);
}

static void test_message_negative_ttl_is_the_lesser_of_the_soa_s_two(void **state)
{
	static const uint8_t soa[] = "\xc0\x0c\0\6\0\1\0\0\0\x3c\0\x16\0\0" "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0";
	uint8_t record[sizeof(soa)];

	(void)state;
	begin("a.test", ns_t_a, 0);
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.negative_ttl, UINT32_MAX);
	for (int minimum = 10; minimum <= 90; minimum += 80) {
		memcpy(record, soa, sizeof(soa));
		record[sizeof(soa) - 1] = (uint8_t)minimum;
		begin("a.test", ns_t_a, 0);
		dns_message_add_raw(&message, 2, record, sizeof(record));
		assert_int_equal(read_all(), 0);
		assert_int_equal(answer.negative_ttl, minimum < 60 ? minimum : 60);
		assert_true(answer.empty);
	}
}

static void test_message_soa_with_a_broken_name_tells_no_ttl(void **state)
{
	static const uint8_t server[] = "\xc0\x0c\0\6\0\1\0\0\0\x3c\0\x16\x80\0" "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0";
	static const uint8_t mailbox[] = "\xc0\x0c\0\6\0\1\0\0\0\x3c\0\x16\0\x80" "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0";

	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add_raw(&message, 2, server, sizeof(server));
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.negative_ttl, UINT32_MAX);
	begin("a.test", ns_t_a, 0);
	dns_message_add_raw(&message, 2, mailbox, sizeof(mailbox));
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.negative_ttl, UINT32_MAX);
}

/* P3: some pad. */
static void test_message_octets_behind_it_do_not_matter(void **state)
{
	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
	memset(message.bytes + message.len, 0, 16);
	message.len += 16;
	assert_int_equal(read_all(), 0);
	check("192.0.2.1");
}

static void test_message_cut_anywhere_is_none_or_malformed(void **state)
{
	size_t whole, question_end = 12 + 8 + 4;

	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_cname, 300, "b.test");
	dns_message_add(&message, "b.test", ns_t_a, 300, "192.0.2.1");
	whole = message.len;
	for (size_t len = 0; len < whole; len++)
		assert_int_equal(read_part(len, false), len < question_end ? -ENOENT : -EBADMSG);
	assert_int_equal(read_part(whole, false), 0);
	/* One that says that it is cut is not read, by UDP. */
	message.bytes[2] |= 0x02;
	assert_int_equal(read_part(whole - 2, false), 0);
	assert_true(answer.truncated);
	assert_int_equal(answer.count, 0);
	assert_int_equal(read_part(whole, true), 0);
	assert_int_equal(answer.count, 1);
	assert_int_equal(read_part(whole - 2, true), -EBADMSG);
}

static void test_message_address_of_wrong_length_is_malformed(void **state)
{
	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "not-an-address");
	assert_int_equal(read_all(), -EBADMSG);
}

static void test_message_address_of_wrong_length_harms_no_other(void **state)
{
	(void)state;
	begin("a.test", ns_t_a, 0);
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
	dns_message_add(&message, "a.test", ns_t_a, 300, "not-an-address");
	dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.2");
	assert_int_equal(read_all(), 0);
	check("192.0.2.1 192.0.2.2");
}

static void test_message_alias_of_two_names_ends_where_addresses_are(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		begin("a.test", ns_t_a, 0);
		dns_message_add(&message, "a.test", ns_t_cname, 9, first ? "good.test" : "none.test");
		dns_message_add(&message, "a.test", ns_t_cname, 9, first ? "none.test" : "good.test");
		dns_message_add(&message, "none.test", ns_t_cname, 9, "end.test");
		dns_message_add(&message, "good.test", ns_t_a, 60, "192.0.2.1");
		assert_int_equal(read_all(), 0);
		check("192.0.2.1");
		assert_string_equal(answer.canonname, "good.test");
		assert_int_equal(answer.ttl, 9);
	}
}

/* What a server says where it knows others who should be asked. */
static void test_message_with_authority_records_alone_is_empty(void **state)
{
	static const uint8_t ns[] = "\xc0\x0c\0\2\0\1\0\0\0\x3c\0\2\xc0\x0c";

	(void)state;
	for (int section = 1; section <= 3; section++) {
		begin("a.test", ns_t_a, 0);
		dns_message_add_raw(&message, section, ns, sizeof(ns) - 1);
		assert_int_equal(read_all(), 0);
		assert_int_equal(answer.empty, section == 2);
	}
}

/* A record with a chain of so many pointers in its data, each to the one before; the end of it. */
static unsigned add_chain(unsigned pointers)
{
	size_t start = message.len, data = start + 11;
	uint8_t *at = message.bytes + data;
	unsigned to = (unsigned)data;

	memcpy(message.bytes + start, "\0\0\x63\0\1\0\0\0\x3c", 9);
	message.bytes[start + 9] = (uint8_t)((2 * pointers + 1) >> 8);
	message.bytes[start + 10] = (uint8_t)(2 * pointers + 1);
	*at++ = 0;
	for (unsigned i = 0; i < pointers; i++) {
		*at++ = (uint8_t)(0xc0 | to >> 8);
		*at++ = (uint8_t)to;
		to = (unsigned)(at - 2 - message.bytes);
	}
	message.len = (size_t)(at - message.bytes);
	message.bytes[7]++;
	return to;
}

static void test_message_name_of_more_pointers_than_labels_is_malformed(void **state)
{
	static const uint8_t rest[] = "\0\x63\0\1\0\0\0\x3c\0\0";
	uint8_t record[2 + sizeof(rest) - 1];

	(void)state;
	memcpy(record + 2, rest, sizeof(rest) - 1);
	for (unsigned pointers = 100; pointers <= 8000; pointers *= 80) {
		unsigned end;

		begin("a.test", ns_t_a, 0);
		end = add_chain(pointers);
		record[0] = (uint8_t)(0xc0 | end >> 8);
		record[1] = (uint8_t)end;
		dns_message_add_raw(&message, 1, record, sizeof(record));
		dns_message_add(&message, "a.test", ns_t_a, 300, "192.0.2.1");
		assert_int_equal(read_all(), pointers == 100 ? 0 : -EBADMSG);
	}
}

static void test_message_pointers_that_do_not_go_back_are_malformed(void **state)
{
	static const uint8_t rest[] = "\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1";
	uint8_t record[2 + sizeof(rest) - 1];

	(void)state;
	memcpy(record + 2, rest, sizeof(rest) - 1);
	for (unsigned to = 0; to < 64; to++) {
		begin("a.test", ns_t_a, 0);
		record[0] = 0xc0;
		record[1] = (uint8_t)to;
		dns_message_add_raw(&message, 1, record, sizeof(record));
		if (to >= 24)
			assert_int_equal(read_all(), -EBADMSG);
		else
			read_all();
		if (to == 12)
			check("192.0.2.1");
	}
}

static void test_message_any_octet_changed_is_read_without_harm(void **state)
{
	struct dns_message good;

	(void)state;
	begin("alias.test", ns_t_a, 0);
	dns_message_add(&message, "alias.test", ns_t_cname, 5, "end.test");
	dns_message_add(&message, "end.test", ns_t_a, 60, "192.0.2.1");
	good = message;
	for (size_t i = 0; i < good.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			message = good;
			message.bytes[i] ^= (uint8_t)(1 << bit);
			read_all();
		}
	}
}

/* As many as 65,535 octets hold: the owner is a pointer to the question. */
static void test_message_of_the_greatest_size_is_read_soon(void **state)
{
	static const uint8_t record[] = "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1";
	unsigned count = (65535 - 24) / 16;

	(void)state;
	begin("a.test", ns_t_a, 0);
	for (unsigned i = 0; i < count; i++) {
		memcpy(message.bytes + message.len, record, 16);
		message.len += 16;
	}
	message.bytes[6] = (uint8_t)(count >> 8);
	message.bytes[7] = (uint8_t)count;
	assert_int_equal(read_all(), 0);
	assert_int_equal(answer.count, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_question_octet_by_octet),
		cmocka_unit_test(test_message_addresses_in_order_with_the_least_ttl),
		cmocka_unit_test(test_message_aliases_are_followed_in_any_order),
		cmocka_unit_test(test_message_aliases_in_a_circle_have_no_address),
		cmocka_unit_test(test_message_chain_of_twenty_aliases_is_followed),
		cmocka_unit_test(test_message_canonical_name_is_the_last_that_a_host_can_have),
		cmocka_unit_test(test_message_records_of_other_names_types_and_classes_are_left_out),
		cmocka_unit_test(test_message_that_answers_another_question_is_none),
		cmocka_unit_test(test_message_without_its_question_counts_for_those_who_did_not_understand),
		cmocka_unit_test(test_message_flags_and_codes),
		cmocka_unit_test(test_message_negative_ttl_is_the_lesser_of_the_soa_s_two),
		cmocka_unit_test(test_message_soa_with_a_broken_name_tells_no_ttl),
		cmocka_unit_test(test_message_octets_behind_it_do_not_matter),
		cmocka_unit_test(test_message_cut_anywhere_is_none_or_malformed),
		cmocka_unit_test(test_message_address_of_wrong_length_is_malformed),
		cmocka_unit_test(test_message_address_of_wrong_length_harms_no_other),
		cmocka_unit_test(test_message_alias_of_two_names_ends_where_addresses_are),
		cmocka_unit_test(test_message_with_authority_records_alone_is_empty),
		cmocka_unit_test(test_message_name_of_more_pointers_than_labels_is_malformed),
		cmocka_unit_test(test_message_pointers_that_do_not_go_back_are_malformed),
		cmocka_unit_test(test_message_any_octet_changed_is_read_without_harm),
		cmocka_unit_test(test_message_of_the_greatest_size_is_read_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
