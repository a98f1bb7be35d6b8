/* SPDX-License-Identifier: BSD-2-Clause */
/* Which UDP socket a question goes by, and when one is closed, to the millisecond. */
#include "base/limits.h"
#include "dns/udp.h"
#include "name_asker.h"
#include "test.h"

enum { PORT_KEPT_MS = 10000 };

static unsigned sockets(void)
{
	return rcm_servers_get(&servers, &resolv->servers[0])->udp.sockets_count;
}

/* The port that an answered question came from. */
static uint16_t port_of_one(void)
{
	struct name_server_question q;
	struct asked asked;

	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	return q.port;
}

static void test_udp_port_is_kept_for_its_time_and_no_longer(void **state)
{
	uint16_t port = port_of_one();

	(void)state;
	for (int i = 0; i < 2; i++) {
		advance_ms(PORT_KEPT_MS / 2 - 1000);
		assert_int_equal(port_of_one(), port);
	}
	advance_ms(1999);
	assert_int_equal(port_of_one(), port);
	advance_ms(1);
	assert_int_not_equal(port_of_one(), port);
	assert_int_equal(sockets(), 1);
}

static void test_udp_socket_without_a_question_is_closed_after_its_time_and_not_before(void **state)
{
	(void)state;
	port_of_one();
	advance_ms(RCM_DNS_IDLE_MS - 2000);
	port_of_one();
	advance_ms(2000);
	assert_int_equal(sockets(), 1);
	advance_ms(RCM_DNS_IDLE_MS - 2001);
	assert_int_equal(sockets(), 1);
	advance_ms(1);
	assert_int_equal(sockets(), 0);
	port_of_one();
	assert_int_equal(sockets(), 1);
	advance_ms(RCM_DNS_IDLE_MS - 1);
	assert_int_equal(sockets(), 1);
	advance_ms(1);
	assert_int_equal(sockets(), 0);
}

static void test_udp_socket_with_a_question_stays_until_it_has_none(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options timeout:30 attempts:1\n");
	ask(&asked, "slow.test", AF_INET);
	take(0, &q);
	for (int i = 0; i < 2; i++) {
		advance_ms(RCM_DNS_IDLE_MS);
		assert_int_equal(sockets(), 1);
	}
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	advance_ms(RCM_DNS_IDLE_MS - 1);
	assert_int_equal(sockets(), 1);
	advance_ms(1);
	assert_int_equal(sockets(), 0);
}

/* An old port waits for its own answers, and goes with the last of them. */
static void test_udp_socket_that_gave_way_goes_with_its_last_question(void **state)
{
	struct name_server_question q[2];
	struct asked slow, last;

	(void)state;
	configure(1, "options timeout:30 attempts:1\n");
	ask(&slow, "slow.test", AF_INET);
	ask(&last, "last.test", AF_INET);
	take(0, &q[0]);
	take(0, &q[1]);
	advance_ms(PORT_KEPT_MS);
	assert_int_not_equal(port_of_one(), q[0].port);
	assert_int_equal(sockets(), 2);
	name_server_answer(&q[0]);
	turn();
	check(&slow, RCM_DNS_FOUND, 1);
	assert_int_equal(sockets(), 2);
	drop(&last);
	assert_int_equal(sockets(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVERS_TEST(test_udp_port_is_kept_for_its_time_and_no_longer),
		SERVERS_TEST(test_udp_socket_without_a_question_is_closed_after_its_time_and_not_before),
		SERVERS_TEST(test_udp_socket_with_a_question_stays_until_it_has_none),
		SERVERS_TEST(test_udp_socket_that_gave_way_goes_with_its_last_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
