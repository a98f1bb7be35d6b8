/* SPDX-License-Identifier: BSD-2-Clause */
/* How long one family waits for the other, and the options that concern both. */
#include <errno.h>

#include "base/limits.h"
#include "name_asker.h"
#include "test.h"

/* P12: the second of two questions is lost on its way, as it may be for ever to that port. */
static void test_families_silent_one_is_asked_again_early_from_another_port(void **state)
{
	struct name_server_question a, aaaa, again;
	struct asked asked;

	(void)state;
	for (int first = 0; first < 2; first++) {
		ask(&asked, "two.test", AF_UNSPEC);
		take(0, &a);
		take(0, &aaaa);
		name_server_answer(&a);
		turn();
		advance_ms(98);
		name_server_assert_quiet();
		advance_ms(2);
		take(0, &again);
		assert_int_equal(again.type, ns_t_aaaa);
		assert_int_not_equal(again.port, aaaa.port);
		assert_int_not_equal(again.id, aaaa.id);
		/* Either answer will do. */
		name_server_answer(first ? &aaaa : &again);
		turn();
		check(&asked, RCM_DNS_FOUND, 2);
		assert_false(asked.half);
		/* The other answer is for nobody. */
		name_server_answer(first ? &again : &aaaa);
		turn();
	}
}

static void test_families_silent_one_is_given_up_a_second_after_the_other_was_found(void **state)
{
	struct name_server_question q, other;
	struct asked asked;

	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		configure(1, "options timeout:5 attempts:3\n");
		ask(&asked, "two.test", AF_UNSPEC);
		take(0, &q);
		take(0, &other);
		advance_ms(10);
		name_server_answer(missing ? &q : &other);
		turn();
		advance_ms(90);
		take(0, &q);
		/* Asked again and again meanwhile, each time after twice as long. */
		advance_ms(200);
		take(0, &q);
		advance_ms(400);
		take(0, &q);
		advance_ms(309);
		name_server_assert_quiet();
		assert_false(asked.done);
		advance_ms(1);
		check(&asked, RCM_DNS_FOUND, 1);
		assert_true(asked.half);
		assert_int_equal(asked.missing, missing ? AF_INET6 : AF_INET);
	}
}

/* P8: without an address there is nothing to come without: a failure is one. */
static void test_families_silent_one_is_waited_for_where_the_other_has_nothing(void **state)
{
	static const int rcodes[] = { ns_r_noerror, ns_r_nxdomain };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	for (int i = 0; i < 2; i++) {
		configure(1, "options timeout:5 attempts:1\n");
		ask(&asked, "two.test", AF_UNSPEC);
		take(0, &q);
		name_server_fail(&q, rcodes[i]);
		take(0, &q);
		turn();
		advance_ms(100);
		take(0, &q);
		advance_ms(4800);
		assert_false(asked.done);
		advance_ms(100);
		check(&asked, RCM_DNS_TIMEOUT, 0);
	}
}

/* P7, and the greater of two ends is told: a failure leaves open what "no such data" settles. */
static void test_families_greater_of_two_ends_counts(void **state)
{
	static const struct {
		int a, aaaa;		/* -1: an address */
		enum rcm_dns_verdict verdict;
		bool half;
	} rows[] = {
		{ -1, -1, RCM_DNS_FOUND, false },
		{ -1, ns_r_noerror, RCM_DNS_FOUND, false },
		{ ns_r_nxdomain, -1, RCM_DNS_FOUND, false },
		{ -1, ns_r_servfail, RCM_DNS_FOUND, true },
		{ ns_r_refused, -1, RCM_DNS_FOUND, true },
		{ ns_r_nxdomain, ns_r_nxdomain, RCM_DNS_NXDOMAIN, false },
		{ ns_r_noerror, ns_r_nxdomain, RCM_DNS_NODATA, false },
		{ ns_r_nxdomain, ns_r_noerror, RCM_DNS_NODATA, false },
		{ ns_r_noerror, ns_r_servfail, RCM_DNS_SERVFAIL, true },
		{ ns_r_refused, ns_r_nxdomain, RCM_DNS_REFUSED, true },
	};
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options attempts:1\n");
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		ask(&asked, "two.test", AF_UNSPEC);
		for (int j = 0; j < 2; j++) {
			int rcode;

			take(0, &q);
			rcode = q.type == ns_t_a ? rows[i / 2].a : rows[i / 2].aaaa;
			/* Also the second first. */
			if (i % 2 && !j) {
				struct name_server_question second;

				take(0, &second);
				rcode = rows[i / 2].aaaa;
				if (rcode < 0)
					name_server_answer(&second);
				else
					name_server_fail(&second, rcode);
				turn();
				rcode = rows[i / 2].a;
				j = 2;
			}
			if (rcode < 0)
				name_server_answer(&q);
			else
				name_server_fail(&q, rcode);
			turn();
		}
		assert_true(asked.done);
		assert_int_equal(asked.verdict, rows[i / 2].verdict);
		assert_int_equal(asked.half, rows[i / 2].half);
		/* None of them stayed silent. */
		assert_int_equal(asked.missing, 0);
	}
}

static void test_families_with_single_request_are_asked_one_after_the_other(void **state)
{
	struct name_server_question a, aaaa;
	struct asked asked;

	(void)state;
	for (int reopen = 0; reopen < 2; reopen++) {
		configure(1, reopen ? "options single-request-reopen\n" : "options single-request\n");
		ask(&asked, "two.test", AF_UNSPEC);
		take(0, &a);
		assert_int_equal(a.type, ns_t_a);
		name_server_assert_quiet();
		name_server_answer(&a);
		turn_twice();
		take(0, &aaaa);
		assert_int_equal(aaaa.type, ns_t_aaaa);
		assert_int_equal(aaaa.port != a.port, reopen);
		name_server_answer(&aaaa);
		turn();
		check(&asked, RCM_DNS_FOUND, 2);
		/* The second is asked whatever becomes of the first. */
		ask(&asked, "two.test", AF_UNSPEC);
		take(0, &a);
		name_server_fail(&a, ns_r_nxdomain);
		turn_twice();
		take(0, &aaaa);
		name_server_answer(&aaaa);
		turn();
		check(&asked, RCM_DNS_FOUND, 1);
	}
}

static void test_families_with_no_aaaa_ask_for_a_alone_and_show_none_of_it(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options no-aaaa\n");
	ask(&asked, "two.test", AF_UNSPEC);
	take(0, &q);
	assert_int_equal(q.type, ns_t_a);
	name_server_assert_quiet();
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	ask(&asked, "two.test", AF_INET6);
	take(0, &q);
	assert_int_equal(q.type, ns_t_a);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_NODATA, 0);
	ask(&asked, "none.test", AF_INET6);
	take(0, &q);
	name_server_fail(&q, ns_r_nxdomain);
	turn();
	check(&asked, RCM_DNS_NXDOMAIN, 0);
	assert_ptr_equal(asked.speaker, &resolv->servers[0]);
}

/* One has to be left for each question of a name, and no more. */
static void test_families_need_as_many_places_as_they_have_questions(void **state)
{
	static struct asked many[RCM_DNS_WINDOW + 2];
	struct name_server_question q;
	unsigned count = 0;

	(void)state;
	while (count < RCM_DNS_WINDOW - 1)
		ask(&many[count++], "two.test", AF_UNSPEC);
	ask(&many[count++], "one.test", AF_INET);
	assert_int_equal(ask_to(&many[count], "two.test", AF_UNSPEC), -EAGAIN);
	assert_int_equal(ask_to(&many[count++], "one.test", AF_INET6), 0);
	assert_int_equal(ask_to(&many[count], "one.test", AF_INET), -EAGAIN);
	assert_int_equal(ask_to(&many[count], "_a._tcp.test", RCM_FAMILIES_SRV), -EAGAIN);
	for (count = 0; name_server_take(0, false, &q); count++)
		;
	assert_int_equal(count, 2 * RCM_DNS_WINDOW);
}

static void answer_srv(const struct name_server_question *q, const char *target, size_t len)
{
	static struct dns_message message;
	uint8_t record[40] = { 2, '_', 'a', 4, '_', 't', 'c', 'p', 4, 't', 'e', 's', 't', 0, 0, ns_t_srv, 0, 1, 0, 0, 0, 50,
			       0, (uint8_t)(6 + len), 0, 1, 0, 2, 0, 3 };

	memcpy(record + 30, target, len);
	name_server_begin(&message, q, ns_r_noerror);
	dns_message_add_raw(&message, 1, record, 30 + len);
	name_server_send(q, &message);
}

/* Addresses of no family are asked for, so there is none to hide, and what isn't offered is no failure. */
static void test_families_of_srv_records_are_one_question(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	for (int i = 0; i < 3; i++) {
		configure(1, i == 2 ? "options no-aaaa attempts:1\n" : "options attempts:1\n");
		ask(&asked, "_a._tcp.test", RCM_FAMILIES_SRV);
		take(0, &q);
		assert_int_equal(q.type, ns_t_srv);
		assert_string_equal(q.name, "_a._tcp.test");
		name_server_assert_quiet();
		answer_srv(&q, i ? "\1h" : "", i ? 3 : 1);
		turn();
		check(&asked, i ? RCM_DNS_FOUND : RCM_DNS_DECLINED, i ? 1 : 0);
		assert_false(asked.half);
		assert_ptr_equal(asked.speaker, &resolv->servers[0]);
		assert_int_equal(asked.ttl, 50);
	}
}

static void test_families_of_what_can_be_no_name_are_not_asked_for(void **state)
{
	struct asked asked;

	(void)state;
	assert_int_equal(ask_to(&asked, "two..test", AF_UNSPEC), -EINVAL);
	assert_int_equal(rcm_servers_get(&servers, &resolv->servers[0])->known.out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVERS_TEST(test_families_silent_one_is_asked_again_early_from_another_port),
		SERVERS_TEST(test_families_silent_one_is_given_up_a_second_after_the_other_was_found),
		SERVERS_TEST(test_families_silent_one_is_waited_for_where_the_other_has_nothing),
		SERVERS_TEST(test_families_greater_of_two_ends_counts),
		SERVERS_TEST(test_families_with_single_request_are_asked_one_after_the_other),
		SERVERS_TEST(test_families_with_no_aaaa_ask_for_a_alone_and_show_none_of_it),
		SERVERS_TEST(test_families_need_as_many_places_as_they_have_questions),
		SERVERS_TEST(test_families_of_srv_records_are_one_question),
		SERVERS_TEST(test_families_of_what_can_be_no_name_are_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
