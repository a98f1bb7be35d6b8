/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions of one system call, as who receives them gets them. */
#include "dns/packets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <unistd.h>

#include "asleep.h"
#include "test.h"

static union rcm_dns_address near = { .in = { .sin_family = AF_INET } };
static int server, client;

/* Whether the server wants packets that are shared as they are. */
static int start(bool whole)
{
	const int on = whole;
	socklen_t len = sizeof(near.in);

	near.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	near.in.sin_port = 0;
	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, &near.sa, sizeof(near.in)), 0);
	assert_int_equal(getsockname(server, &near.sa, &len), 0);
	client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, &near.sa, sizeof(near.in)), 0);
	return setsockopt(server, SOL_UDP, UDP_GRO, &on, sizeof(on));
}

static void finish(void)
{
	close(server);
	close(client);
}

static void add(struct rcm_packets *packets, size_t len, uint8_t fill)
{
	memset(rcm_packets_room(packets), fill, len);
	rcm_packets_add(packets, len);
}

static void expect(size_t len, uint8_t fill)
{
	uint8_t bytes[1024];

	assert_int_equal(recv(server, bytes, sizeof(bytes), MSG_DONTWAIT), len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], fill);
}

/* Nothing comes twice. */
static void expect_nothing(void)
{
	uint8_t byte;

	assert_int_equal(recv(server, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static void test_packets_each_question_arrives_by_itself(void **state)
{
	struct rcm_packets packets;

	(void)state;
	start(false);
	rcm_packets_begin(&packets, rcm_packets_may_share(client, &near));
	add(&packets, 40, 1);
	add(&packets, 40, 2);
	add(&packets, 50, 3);
	add(&packets, 30, 4);
	add(&packets, 30, 5);
	add(&packets, 30, 6);
	assert_int_equal(rcm_packets_send(&packets, client), 6);
	expect(40, 1);
	expect(40, 2);
	expect(50, 3);
	expect(30, 4);
	expect(30, 5);
	expect(30, 6);
	expect_nothing();
	finish();
}

static void test_packets_questions_of_one_length_share_one(void **state)
{
	struct rcm_packets packets;
	uint8_t bytes[1024];

	(void)state;
	if (start(true) || !rcm_packets_may_share(client, &near)) {
		finish();
		skip();
	}
	rcm_packets_begin(&packets, true);
	for (uint8_t i = 0; i < 3; i++)
		add(&packets, 40, i);
	add(&packets, 41, 3);
	assert_int_equal(rcm_packets_send(&packets, client), 4);
	assert_int_equal(recv(server, bytes, sizeof(bytes), MSG_DONTWAIT), 3 * 40);
	for (int i = 0; i < 3 * 40; i++)
		assert_int_equal(bytes[i], i / 40);
	expect(41, 3);
	expect_nothing();
	finish();
}

static void test_packets_a_full_batch_fits(void **state)
{
	struct rcm_packets packets;

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		start(false);
		rcm_packets_begin(&packets, shared && rcm_packets_may_share(client, &near));
		for (uint8_t i = 0; i < RCM_CARRY_BATCH; i++)
			add(&packets, RCM_MESSAGE_QUESTION_MAX, i);
		assert_int_equal(rcm_packets_send(&packets, client), RCM_CARRY_BATCH);
		for (uint8_t i = 0; i < RCM_CARRY_BATCH; i++)
			expect(RCM_MESSAGE_QUESTION_MAX, i);
		finish();
	}
}

/* A server that is gone is told of at the next sending, which is to say nothing about that one: it may be back. */
static void test_packets_refusal_of_what_was_sent_before_is_no_refusal(void **state)
{
	struct rcm_packets packets;

	(void)state;
	start(false);
	close(server);
	for (int i = 0; i < 3; i++) {
		rcm_packets_begin(&packets, false);
		add(&packets, 40, 1);
		assert_int_equal(rcm_packets_send(&packets, client), 1);
	}
	close(client);
}

static void test_packets_that_can_not_leave_are_an_error(void **state)
{
	struct rcm_packets packets;

	(void)state;
	start(false);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	rcm_packets_begin(&packets, false);
	add(&packets, 40, 1);
	assert_int_equal(rcm_packets_send(&packets, client), -EPIPE);
	finish();
}

static void test_packets_are_shared_on_the_way_to_this_host_alone(void **state)
{
	static const struct {
		const char *to;
		bool here;
	} rows[] = {
		{ "127.0.0.1", true }, { "127.255.255.255", true }, { "126.255.255.255", false }, { "128.0.0.1", false },
		{ "192.0.2.1", false }, { "::1", true }, { "::", false }, { "::2", false }, { "fe80::1", false },
	};

	const int none = 0;
	bool can;

	(void)state;
	start(false);
	can = !setsockopt(client, SOL_UDP, UDP_SEGMENT, &none, sizeof(none));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		union rcm_dns_address to = { .in.sin_family = AF_INET };

		if (inet_pton(AF_INET, rows[i].to, &to.in.sin_addr) != 1) {
			to.in6.sin6_family = AF_INET6;
			assert_int_equal(inet_pton(AF_INET6, rows[i].to, &to.in6.sin6_addr), 1);
		}
		/* Whether an emulator has it is another's question. */
		if (!rows[i].here || !emulated())
			assert_int_equal(rcm_packets_may_share(client, &to), rows[i].here && can);
	}
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_each_question_arrives_by_itself),
		cmocka_unit_test(test_packets_questions_of_one_length_share_one),
		cmocka_unit_test(test_packets_a_full_batch_fits),
		cmocka_unit_test(test_packets_refusal_of_what_was_sent_before_is_no_refusal),
		cmocka_unit_test(test_packets_that_can_not_leave_are_an_error),
		cmocka_unit_test(test_packets_are_shared_on_the_way_to_this_host_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
