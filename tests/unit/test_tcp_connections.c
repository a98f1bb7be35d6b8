/* SPDX-License-Identifier: BSD-2-Clause */
/* Which TCP connection a question goes by, and when one is closed, to the millisecond and to the question. */
#include <errno.h>

#include "base/limits.h"
#include "dns/tcp.h"
#include "name_asker.h"
#include "test.h"

enum { PIPELINE = 128, STUCK_AFTER_MS = 100, DEAD_AFTER_MS = 500 };

static void take_tcp(struct name_server_question *q)
{
	if (!name_server_take(0, true, q))
		fail_msg("nothing came by TCP");
}

static struct rcm_tcp *tcp(void)
{
	return &rcm_servers_get(&servers, &resolv->servers[0])->tcp;
}

static void use_tcp(void)
{
	configure(1, "options use-vc timeout:5 attempts:1\n");
}

static void test_tcp_connection_that_is_silent_for_long_gets_no_more_questions(void **state)
{
	static struct asked silent, good;
	struct name_server_question first, second;

	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		use_tcp();
		ask(&silent, "silent.test", AF_INET);
		take_tcp(&first);
		advance_ms(STUCK_AFTER_MS - 1 + late);
		ask(&good, "good.test", AF_INET);
		take_tcp(&second);
		assert_int_equal(second.fd != first.fd, late);
		assert_int_equal(tcp()->connections_count, 1 + late);
		/* An answer says that it goes on. */
		name_server_answer(&second);
		turn();
		check(&good, RCM_DNS_FOUND, 1);
		if (late)
			continue;
		advance_ms(STUCK_AFTER_MS - 1);
		ask(&good, "good.test", AF_INET);
		take_tcp(&second);
		assert_int_equal(second.fd, first.fd);
		name_server_answer(&second);
		turn();
	}
	drop(&silent);
}

static void test_tcp_connection_that_had_nothing_to_do_is_not_silent(void **state)
{
	struct name_server_question first, second;
	static struct asked one, two;

	(void)state;
	use_tcp();
	ask(&one, "a.test", AF_INET);
	take_tcp(&first);
	name_server_answer(&first);
	turn();
	check(&one, RCM_DNS_FOUND, 1);
	advance_ms(RCM_DNS_TCP_IDLE_MS - 1);
	ask(&one, "b.test", AF_INET);
	advance_ms(STUCK_AFTER_MS - 1);
	ask(&two, "c.test", AF_INET);
	for (int i = 0; i < 2; i++) {
		take_tcp(&second);
		assert_int_equal(second.fd, first.fd);
		name_server_answer(&second);
	}
	turn();
	check(&one, RCM_DNS_FOUND, 1);
	check(&two, RCM_DNS_FOUND, 1);
}

static void test_tcp_connection_has_so_many_questions_and_the_next_another(void **state)
{
	static struct asked many[PIPELINE + 1];
	struct name_server_question q;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		use_tcp();
		for (unsigned i = 0; i < PIPELINE + more; i++)
			ask(&many[i], "a.test", AF_INET);
		turn();
		assert_int_equal(tcp()->connections_count, 1 + more);
		for (unsigned i = 0; i < PIPELINE + more; i++) {
			take_tcp(&q);
			name_server_answer(&q);
		}
		turn();
		for (unsigned i = 0; i < PIPELINE + more; i++)
			check(&many[i], RCM_DNS_FOUND, 1);
	}
}

static void test_tcp_connection_without_a_question_is_closed_after_its_time_and_not_before(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	use_tcp();
	for (int i = 0; i < 2; i++) {
		ask(&asked, "a.test", AF_INET);
		take_tcp(&q);
		name_server_answer(&q);
		turn();
		check(&asked, RCM_DNS_FOUND, 1);
		advance_ms(RCM_DNS_TCP_IDLE_MS - 1);
		assert_int_equal(tcp()->connections_count, 1);
	}
	/* Under way it stays. */
	ask(&asked, "b.test", AF_INET);
	take_tcp(&q);
	advance_ms(RCM_DNS_TCP_IDLE_MS + 1);
	assert_int_equal(tcp()->connections_count, 1);
	name_server_answer(&q);
	turn();
	advance_ms(RCM_DNS_TCP_IDLE_MS);
	assert_int_equal(tcp()->connections_count, 0);
}

static void test_tcp_connection_whose_last_question_is_taken_back_stays_unless_it_was_silent_for_long(void **state)
{
	static struct asked one, two;
	struct name_server_question q;

	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		use_tcp();
		ask(&one, "a.test", AF_INET);
		ask(&two, "b.test", AF_INET);
		take_tcp(&q);
		take_tcp(&q);
		advance_ms(DEAD_AFTER_MS - 1 + late);
		drop(&one);
		assert_int_equal(tcp()->connections_count, 1);
		drop(&two);
		assert_int_equal(tcp()->connections_count, 1 - late);
		advance_ms(RCM_DNS_TCP_IDLE_MS - 1);
		assert_int_equal(tcp()->connections_count, 1 - late);
		advance_ms(1);
		assert_int_equal(tcp()->connections_count, 0);
	}
}

/* It may be the one that was taken back that the server left for. */
static void test_tcp_connection_that_ends_after_a_question_was_taken_back_fails_none(void **state)
{
	static struct asked one, two;
	struct name_server_question first, second;

	(void)state;
	use_tcp();
	ask(&one, "a.test", AF_INET);
	ask(&two, "b.test", AF_INET);
	take_tcp(&first);
	take_tcp(&second);
	drop(&one);
	name_server_hang_up(&first);
	turn_twice();
	assert_false(two.done);
	take_tcp(&second);
	assert_string_equal(second.name, "b.test");
	name_server_answer(&second);
	turn();
	check(&two, RCM_DNS_FOUND, 1);
}

/* After an end with one answer one at once is asked; each answer with others under way lets one more be. */
static void test_tcp_questions_at_once_grow_by_answers_after_an_end(void **state)
{
	static struct asked asked[4];
	struct name_server_question q[4];

	(void)state;
	use_tcp();
	for (int i = 0; i < 2; i++)
		ask(&asked[i], "a.test", AF_INET);
	for (int i = 0; i < 2; i++)
		take_tcp(&q[i]);
	assert_int_equal(tcp()->pipeline, PIPELINE);
	name_server_answer(&q[0]);
	turn();
	assert_int_equal(tcp()->pipeline, PIPELINE);
	name_server_hang_up(&q[0]);
	turn_twice();
	assert_int_equal(tcp()->pipeline, 1);
	take_tcp(&q[0]);
	name_server_answer(&q[0]);
	turn();
	check(&asked[1], RCM_DNS_FOUND, 1);
	assert_int_equal(tcp()->pipeline, 1);
	tcp()->pipeline = PIPELINE - 1;
	for (int i = 0; i < 4; i++)
		ask(&asked[i], "b.test", AF_INET);
	for (int i = 0; i < 4; i++)
		take_tcp(&q[i]);
	for (int i = 0; i < 4; i++) {
		name_server_answer(&q[i]);
		turn();
		assert_int_equal(tcp()->pipeline, PIPELINE);
	}
}

static void test_tcp_refused_is_out_of_reach_for_all_that_wait(void **state)
{
	static struct asked asked[3];

	(void)state;
	use_tcp();
	name_server_listen(0, true, false);
	for (int i = 0; i < 3; i++)
		ask(&asked[i], "a.test", AF_INET);
	for (int i = 0; i < 4; i++)
		turn();
	for (int i = 0; i < 3; i++)
		check(&asked[i], RCM_DNS_UNREACHABLE, 0);
	assert_int_equal(tcp()->connections_count, 0);
}

/* Not sent yet, it is on no connection; and its place in the queue is the next one's. */
static void test_tcp_question_taken_back_before_it_is_sent_is_never_sent(void **state)
{
	static struct asked one, two;
	struct name_server_question q;

	(void)state;
	use_tcp();
	ask(&one, "a.test", AF_INET);
	ask(&two, "b.test", AF_INET);
	drop(&one);
	take_tcp(&q);
	assert_string_equal(q.name, "b.test");
	name_server_answer(&q);
	turn();
	check(&two, RCM_DNS_FOUND, 1);
	name_server_assert_quiet();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVERS_TEST(test_tcp_connection_that_is_silent_for_long_gets_no_more_questions),
		SERVERS_TEST(test_tcp_connection_that_had_nothing_to_do_is_not_silent),
		SERVERS_TEST(test_tcp_connection_has_so_many_questions_and_the_next_another),
		SERVERS_TEST(test_tcp_connection_without_a_question_is_closed_after_its_time_and_not_before),
		SERVERS_TEST(test_tcp_connection_whose_last_question_is_taken_back_stays_unless_it_was_silent_for_long),
		SERVERS_TEST(test_tcp_connection_that_ends_after_a_question_was_taken_back_fails_none),
		SERVERS_TEST(test_tcp_questions_at_once_grow_by_answers_after_an_end),
		SERVERS_TEST(test_tcp_refused_is_out_of_reach_for_all_that_wait),
		SERVERS_TEST(test_tcp_question_taken_back_before_it_is_sent_is_never_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
