/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions and answers in words. */
#include "dns/told.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/tell.h"
#include "test.h"

static struct rcm_tell_step told;
static char text[1400], address[64];
static const int watcher;

static void take(const void *whose, const struct rcm_tell_step *step)
{
	(void)whose;
	told = *step;
	strcpy(text, step->text);
	strcpy(address, step->facts.server ? step->facts.server : "");
}

static int set_up(void **state)
{
	(void)state;
	return rcm_tell_watch(take, &watcher);
}

static int tear_down(void **state)
{
	(void)state;
	return rcm_tell_watch(NULL, NULL);
}

static union rcm_dns_address server_of(int family)
{
	union rcm_dns_address server = { .sa.sa_family = (sa_family_t)family };

	if (family == AF_INET)
		inet_pton(AF_INET, "192.0.2.1", &server.in.sin_addr);
	if (family == AF_INET6)
		inet_pton(AF_INET6, "2001:db8::1", &server.in6.sin6_addr);
	return server;
}

static struct rcm_message_question question_of(uint16_t type)
{
	static uint8_t name[RCM_LABELS_MAX];

	rcm_labels_read("two.test", name);
	return (struct rcm_message_question){ .name = name, .type = type };
}

static void test_told_name_servers_are_addresses(void **state)
{
	union rcm_dns_address v4 = server_of(AF_INET), v6 = server_of(AF_INET6), none = server_of(AF_UNIX);

	(void)state;
	rcm_told_server(&v4);
	assert_int_equal(told.kind, RCM_TELL_FILES);
	assert_string_equal(text, "resolv.conf: name server 192.0.2.1");
	rcm_told_server(&v6);
	assert_string_equal(text, "resolv.conf: name server 2001:db8::1");
	rcm_told_server(&none);
	assert_string_equal(text, "resolv.conf: name server ?");
}

static void test_told_question_has_its_type_its_way_and_whether_others_were_asked(void **state)
{
	static const struct { uint16_t type; bool by_tcp; unsigned tries; const char *text; } rows[] = {
		{ ns_t_a, false, 0, "A of two.test at name server 192.0.2.1" },
		{ ns_t_aaaa, true, 0, "AAAA of two.test at name server 192.0.2.1, by TCP" },
		{ ns_t_srv, false, 1, "SRV of two.test at name server 192.0.2.1, as nobody answered so far" },
		{ ns_t_a, true, 2, "A of two.test at name server 192.0.2.1, by TCP, as nobody answered so far" },
	};
	union rcm_dns_address server = server_of(AF_INET);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_message_question question = question_of(rows[i].type);

		rcm_told_question(&question, &server, rows[i].by_tcp, rows[i].tries);
		assert_int_equal(told.kind, RCM_TELL_QUESTION);
		assert_string_equal(text, rows[i].text);
		assert_string_equal(address, "192.0.2.1");
		assert_int_equal(told.facts.status, 0);
		assert_true(told.facts.ttl_s == -1 && told.facts.kept_s == -1);
	}
}

static void test_told_answer_has_what_was_found_or_why_not(void **state)
{
	static const struct { uint16_t type; enum rcm_dns_verdict verdict; unsigned count; const char *text; } rows[] = {
		{ ns_t_a, RCM_DNS_FOUND, 1, "A of two.test by name server 2001:db8::1: 1 address, TTL 60 s" },
		{ ns_t_aaaa, RCM_DNS_FOUND, 2, "AAAA of two.test by name server 2001:db8::1: 2 addresses, TTL 60 s" },
		{ ns_t_srv, RCM_DNS_FOUND, 1, "SRV of two.test by name server 2001:db8::1: 1 record, TTL 60 s" },
		{ ns_t_srv, RCM_DNS_FOUND, 2, "SRV of two.test by name server 2001:db8::1: 2 records, TTL 60 s" },
		{ ns_t_a, RCM_DNS_NXDOMAIN, 0, "A of two.test: name server 2001:db8::1 says that there is no such name" },
		{ ns_t_a, RCM_DNS_TIMEOUT, 0, "A of two.test: name server 2001:db8::1 did not answer in time" },
	};
	union rcm_dns_address server = server_of(AF_INET6);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_message_question question = question_of(rows[i].type);
		const struct rcm_message_answer answer = { .count = rows[i].count, .ttl = 60 };
		bool found = rows[i].verdict == RCM_DNS_FOUND;

		rcm_told_answer(&question, &server, rows[i].verdict, rows[i].verdict == RCM_DNS_TIMEOUT ? NULL : &answer);
		assert_int_equal(told.kind, RCM_TELL_ANSWER);
		assert_string_equal(text, rows[i].text);
		assert_string_equal(address, "2001:db8::1");
		assert_int_equal(told.facts.status, rcm_verdict_errno(rows[i].verdict));
		assert_int_equal(told.facts.ttl_s, found ? 60 : -1);
		assert_int_equal(told.facts.kept_s, -1);
	}
}

static void test_told_to_nobody_is_not_put_into_words(void **state)
{
	const struct rcm_message_question question = { .name = NULL };
	union rcm_dns_address server = server_of(AF_INET);

	(void)state;
	rcm_tell_watch(NULL, NULL);
	rcm_told_question(&question, &server, false, 0);
	rcm_told_answer(&question, &server, RCM_DNS_TIMEOUT, NULL);
	rcm_tell_watch(take, &watcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_told_name_servers_are_addresses),
		T(test_told_question_has_its_type_its_way_and_whether_others_were_asked),
		T(test_told_answer_has_what_was_found_or_why_not),
		T(test_told_to_nobody_is_not_put_into_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
