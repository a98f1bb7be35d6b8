/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by TCP: after a truncated answer, or always. */
#include "dns/tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "name_asker.h"
#include "test.h"

static unsigned quick_acks;

int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t len);

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	quick_acks += level == IPPROTO_TCP && option == TCP_QUICKACK && *(const int *)value;
	return __real_setsockopt(fd, level, option, value, len);
}

static int send_error;		/* of the next one; 0: it is sent */

ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	if (!send_error)
		return __real_send(fd, bytes, len, flags);
	errno = send_error;
	send_error = 0;
	return -1;
}

static void take_tcp(struct name_server_question *q)
{
	if (!name_server_take(0, true, q))
		fail_msg("nothing came by TCP");
}

static void cut(const struct name_server_question *q)
{
	static struct dns_message message;

	name_server_begin(&message, q, 0);
	message.bytes[2] |= 0x02;
	name_server_send(q, &message);
}

static struct rcm_tcp *tcp(void)
{
	return &rcm_servers_get(&servers, &resolv->servers[0])->tcp;
}

static void test_tcp_truncated_answers_are_asked_for_again_on_one_connection(void **state)
{
	enum { MANY = 20 };
	struct name_server_question q[2 * MANY];
	static struct asked asked[MANY];
	char name[16];
	int fd;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		ask(&asked[i], name, AF_UNSPEC);
	}
	for (int i = 0; i < 2 * MANY; i++) {
		take(0, &q[0]);
		cut(&q[0]);
	}
	turn();
	for (int i = 0; i < 2 * MANY; i++)
		take_tcp(&q[i]);
	fd = q[0].fd;
	/* In any order. */
	for (int i = 2 * MANY; i--;) {
		assert_int_equal(q[i].fd, fd);
		name_server_answer(&q[i]);
	}
	turn();
	for (int i = 0; i < MANY; i++)
		check(&asked[i], RCM_DNS_FOUND, 2);
	assert_int_equal(tcp()->connections_count, 1);
	/* Kept for the next, but not for long. */
	ask(&asked[0], "next.test", AF_INET);
	take(0, &q[0]);
	cut(&q[0]);
	turn();
	take_tcp(&q[0]);
	assert_int_equal(q[0].fd, fd);
	name_server_answer(&q[0]);
	turn();
	check(&asked[0], RCM_DNS_FOUND, 1);
	advance_ms(RCM_DNS_TCP_IDLE_MS);
	assert_int_equal(tcp()->connections_count, 0);
}

static void test_tcp_with_use_vc_nothing_goes_by_udp(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options use-vc\n");
	ask(&asked, "a.test", AF_UNSPEC);
	assert_false(name_server_take(0, false, &q));
	for (int i = 0; i < 2; i++) {
		take_tcp(&q);
		name_server_answer(&q);
	}
	turn();
	check(&asked, RCM_DNS_FOUND, 2);
}

/* P9: octet by octet, and two messages in one piece. */
/* The kernel takes it back by itself: it has to be asked for each time. */
static void test_tcp_whatever_comes_is_acknowledged_at_once(void **state)
{
	static struct asked asked[2];
	struct name_server_question q;

	(void)state;
	configure(1, "options use-vc\n");
	for (unsigned i = 0; i < 2; i++) {
		quick_acks = 0;
		ask(&asked[i], "quick.test", AF_INET);
		take_tcp(&q);
		assert_int_equal(quick_acks, 0);
		name_server_answer(&q);
		turn();
		check(&asked[i], RCM_DNS_FOUND, 1);
		assert_uint_in_range(quick_acks, 1, 4);
	}
}

static void test_tcp_messages_are_put_together_from_any_pieces(void **state)
{
	static struct dns_message message;
	struct name_server_question q[2];
	uint8_t stream[512];
	size_t len = 0;
	struct asked asked;

	(void)state;
	configure(1, "options use-vc\n");
	for (size_t piece = 1; piece < 120; piece += 13) {
		len = 0;
		ask(&asked, "a.test", AF_UNSPEC);
		for (int i = 0; i < 2; i++) {
			take_tcp(&q[i]);
			name_server_begin(&message, &q[i], 0);
			dns_message_add(&message, q[i].name, q[i].type, 60,
					q[i].type == ns_t_a ? "192.0.2.1" : "2001:db8::1");
			stream[len++] = 0;
			stream[len++] = (uint8_t)message.len;
			memcpy(stream + len, message.bytes, message.len);
			len += message.len;
		}
		for (size_t at = 0; at < len; at += piece) {
			assert_false(asked.done);
			assert_true(send(q[0].fd, stream + at, len - at < piece ? len - at : piece, 0) > 0);
			turn();
		}
		check(&asked, RCM_DNS_FOUND, 2);
	}
}

/* B7, RFC 7766 6.2.4: one connection's end hurts its own questions only, and those are asked again. */
static void test_tcp_connection_that_ends_in_the_middle_has_its_questions_asked_again(void **state)
{
	static struct asked asked[5];
	struct name_server_question q[5];

	(void)state;
	configure(1, "options use-vc attempts:1\n");
	for (int i = 0; i < 5; i++)
		ask(&asked[i], "a.test", AF_INET);
	for (int i = 0; i < 5; i++)
		take_tcp(&q[i]);
	/* A server that does one question a connection. */
	name_server_answer(&q[0]);
	name_server_hang_up(&q[0]);
	turn();
	check(&asked[0], RCM_DNS_FOUND, 1);
	for (int i = 1; i < 5; i++) {
		assert_false(asked[i].done);
		take_tcp(&q[i]);
	}
	/* No more of them than one at once on each, now. */
	for (int i = 2; i < 5; i++)
		assert_int_not_equal(q[i].fd, q[1].fd);
	for (int i = 1; i < 5; i++)
		name_server_answer(&q[i]);
	turn();
	for (int i = 1; i < 5; i++)
		check(&asked[i], RCM_DNS_FOUND, 1);
}

/* A question by TCP, answered: its connection is there for the next. */
static void ask_once(struct name_server_question *ret_question)
{
	struct asked asked;

	configure(1, "options use-vc attempts:1\n");
	ask(&asked, "a.test", AF_INET);
	take_tcp(ret_question);
	name_server_answer(ret_question);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

/* The other end is gone, and that isn't read yet. */
static void test_tcp_connection_that_takes_nothing_more_has_its_questions_asked_on_another(void **state)
{
	struct name_server_question first, second;
	struct asked asked;

	(void)state;
	ask_once(&first);
	send_error = EPIPE;
	ask(&asked, "a.test", AF_INET);
	turn();
	assert_int_equal(send_error, 0);
	take_tcp(&second);
	assert_int_not_equal(second.fd, first.fd);
	name_server_answer(&second);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_tcp_question_whose_sending_a_signal_interrupts_goes_by_the_same_connection(void **state)
{
	struct name_server_question first, second;
	struct asked asked;

	(void)state;
	ask_once(&first);
	send_error = EINTR;
	ask(&asked, "b.test", AF_INET);
	turn();
	assert_int_equal(send_error, 0);
	take_tcp(&second);
	assert_int_equal(second.fd, first.fd);
	assert_int_equal(tcp()->connections_count, 1);
	name_server_answer(&second);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_tcp_connection_that_ends_without_an_answer_fails_the_oldest_question(void **state)
{
	static struct asked asked[3];
	struct name_server_question q[3];

	(void)state;
	configure(1, "options use-vc attempts:1\n");
	for (int i = 0; i < 3; i++)
		ask(&asked[i], i ? "good.test" : "bad.test", AF_INET);
	for (int i = 0; i < 3; i++)
		take_tcp(&q[i]);
	name_server_hang_up(&q[0]);
	turn_twice();
	check(&asked[0], RCM_DNS_UNREACHABLE, 0);
	for (int i = 1; i < 3; i++) {
		take_tcp(&q[0]);
		assert_string_equal(q[0].name, "good.test");
		name_server_answer(&q[0]);
	}
	turn();
	check(&asked[1], RCM_DNS_FOUND, 1);
	check(&asked[2], RCM_DNS_FOUND, 1);
}

/* Not "can't be reached": it was, by UDP. */
static void test_tcp_refused_after_a_truncated_answer_is_told_as_such_and_remembered(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options attempts:1\n");
	name_server_listen(0, true, false);
	for (int i = 0; i < 3; i++) {
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		cut(&q);
		for (int j = 0; j < 4; j++)
			turn();
		if (i < 2) {
			check(&asked, RCM_DNS_CUT_UNREACHABLE, 0);
			assert_ptr_equal(asked.speaker, &resolv->servers[0]);
		}
		/* It is back, but not tried yet; then it is. */
		if (!i)
			name_server_listen(0, true, true);
		else if (i == 1)
			advance_ms(31000);
	}
	take_tcp(&q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_tcp_silent_question_holds_up_no_other(void **state)
{
	static struct asked asked[64], good;
	struct name_server_question q;

	(void)state;
	configure(1, "options use-vc timeout:5 attempts:1\n");
	for (int i = 0; i < 64; i++)
		ask(&asked[i], "silent.test", AF_INET);
	ask(&good, "good.test", AF_INET);
	for (int i = 0; i < 65; i++)
		take_tcp(&q);
	assert_string_equal(q.name, "good.test");
	name_server_answer(&q);
	turn();
	check(&good, RCM_DNS_FOUND, 1);
	/* A server that does one after the other: who comes later gets a connection of its own. */
	advance_ms(200);
	ask(&good, "good.test", AF_INET);
	take_tcp(&q);
	assert_int_equal(tcp()->connections_count, 2);
	name_server_answer(&q);
	turn();
	check(&good, RCM_DNS_FOUND, 1);
	/* Where nothing came before the time was over, nothing is asked again. */
	advance_ms(5000);
	for (int i = 0; i < 64; i++)
		check(&asked[i], RCM_DNS_TIMEOUT, 0);
	assert_int_equal(tcp()->connections_count, 0);
	ask(&good, "good.test", AF_INET);
	take_tcp(&q);
	name_server_answer(&q);
	turn();
	check(&good, RCM_DNS_FOUND, 1);
}

/* More names without an answer than there may be connections: a server that can answer is asked all the same. */
static void test_tcp_connections_are_bounded_and_all_silent_take_more(void **state)
{
	static struct asked asked[3 * RCM_DNS_CONNECTIONS], good;
	struct name_server_question q;

	(void)state;
	configure(1, "options use-vc timeout:5 attempts:1\n");
	for (unsigned i = 0; i < 3 * RCM_DNS_CONNECTIONS; i++) {
		ask(&asked[i], "silent.test", AF_INET);
		take_tcp(&q);
		advance_ms(110);
	}
	assert_int_equal(tcp()->connections_count, RCM_DNS_CONNECTIONS);
	ask(&good, "good.test", AF_INET);
	take_tcp(&q);
	assert_string_equal(q.name, "good.test");
	name_server_answer(&q);
	turn();
	check(&good, RCM_DNS_FOUND, 1);
	assert_int_equal(tcp()->connections_count, RCM_DNS_CONNECTIONS);
}

static void test_tcp_rubbish_is_dropped(void **state)
{
	static const uint8_t rubbish[] = { 0, 0, 0, 1, 7, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options use-vc\n");
	ask(&asked, "a.test", AF_INET);
	take_tcp(&q);
	assert_int_equal(send(q.fd, rubbish, sizeof(rubbish), 0), sizeof(rubbish));
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	assert_int_equal(servers.carry.dropped, 3);
}

static void test_tcp_closed_in_every_state_frees_all(void **state)
{
	static struct asked asked[40];
	struct name_server_question q;

	(void)state;
	configure(1, "options use-vc\n");
	for (int i = 0; i < 20; i++)
		ask(&asked[i], "a.test", AF_UNSPEC);
	take_tcp(&q);
	name_server_answer(&q);
	turn();
	for (int i = 20; i < 40; i++)
		ask(&asked[i], "a.test", AF_UNSPEC);
	for (int i = 0; i < 10; i++)
		drop(&asked[i]);
	configure(1, "");
	while (name_server_take(0, true, &q))
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVERS_TEST(test_tcp_truncated_answers_are_asked_for_again_on_one_connection),
		SERVERS_TEST(test_tcp_with_use_vc_nothing_goes_by_udp),
		SERVERS_TEST(test_tcp_whatever_comes_is_acknowledged_at_once),
		SERVERS_TEST(test_tcp_messages_are_put_together_from_any_pieces),
		SERVERS_TEST(test_tcp_connection_that_ends_in_the_middle_has_its_questions_asked_again),
		SERVERS_TEST(test_tcp_connection_that_takes_nothing_more_has_its_questions_asked_on_another),
		SERVERS_TEST(test_tcp_question_whose_sending_a_signal_interrupts_goes_by_the_same_connection),
		SERVERS_TEST(test_tcp_connection_that_ends_without_an_answer_fails_the_oldest_question),
		SERVERS_TEST(test_tcp_refused_after_a_truncated_answer_is_told_as_such_and_remembered),
		SERVERS_TEST(test_tcp_silent_question_holds_up_no_other),
		SERVERS_TEST(test_tcp_connections_are_bounded_and_all_silent_take_more),
		SERVERS_TEST(test_tcp_rubbish_is_dropped),
		SERVERS_TEST(test_tcp_closed_in_every_state_frees_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
