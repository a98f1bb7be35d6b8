/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions of one system call, as who receives them gets them. */
#include "dns/packets.h"

#include <netinet/udp.h>
#include <unistd.h>

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

static void test_packets_to_another_host_share_nothing(void **state)
{
	union rcm_dns_address far = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201) } };
	union rcm_dns_address far6 = { .in6 = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 } } };

	(void)state;
	start(false);
	assert_false(rcm_packets_may_share(client, &far));
	assert_false(rcm_packets_may_share(client, &far6));
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_each_question_arrives_by_itself),
		cmocka_unit_test(test_packets_questions_of_one_length_share_one),
		cmocka_unit_test(test_packets_a_full_batch_fits),
		cmocka_unit_test(test_packets_to_another_host_share_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
