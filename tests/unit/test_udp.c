/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by UDP whose owners do what they like meanwhile. */
#include "dns/udp.h"

#include <errno.h>
#include <sys/socket.h>

#include "test.h"

static struct rcm_carried first, second, third;
static unsigned failed;

static size_t write_question(struct rcm_carried *carried, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	(void)carried;
	memset(bytes, 0, 40);
	return 40;
}

static bool take_none(struct rcm_carried *carried, const uint8_t *bytes, size_t len)
{
	(void)carried;
	(void)bytes;
	(void)len;
	return false;
}

static void take_back_second(struct rcm_carried *carried, int error)
{
	(void)carried;
	assert_int_equal(error, -EPIPE);
	failed++;
	if (second.by)
		rcm_udp_take_back(&second);
}

/* Nothing can be sent any more by any socket for datagrams that this process has. */
static void shut_down_all(void)
{
	int type;
	socklen_t len = sizeof(type);

	for (int fd = 3; fd < 64; fd++)
		if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_DGRAM)
			assert_int_equal(shutdown(fd, SHUT_WR), 0);
}

static void test_udp_question_that_takes_back_the_next_socket_s_frees_no_socket_in_use(void **state)
{
	static const struct rcm_carried_ops ops = { write_question, take_none, take_back_second };
	union rcm_dns_address server = {
		.in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(53) },
	};
	struct rcm_carry carry = { 0 };
	struct rcm_loop loop;
	struct rcm_udp udp;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	carry.loop = &loop;
	rcm_udp_init(&udp, &carry, &server);
	first.ops = second.ops = third.ops = &ops;
	assert_int_equal(rcm_udp_put(&udp, &first, NULL), 0);
	assert_int_equal(rcm_udp_put(&udp, &second, first.by), 0);
	assert_int_equal(rcm_udp_put(&udp, &third, second.by), 0);
	shut_down_all();
	rcm_udp_flush(&udp);
	assert_int_equal(failed, 2);
	assert_null(third.by);
	assert_int_equal(udp.sockets_count, 0);
	rcm_udp_done(&udp);
	rcm_loop_done(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_udp_question_that_takes_back_the_next_socket_s_frees_no_socket_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
