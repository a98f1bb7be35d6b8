/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by UDP whose owners do what they like meanwhile. */
#include "dns/udp.h"

#include <errno.h>
#include <sys/socket.h>

#include "test.h"

static struct rcm_carried first, second, third;
static unsigned failed, plain;
static bool refuses_shared;

int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	if (refuses_shared && messages[0].msg_hdr.msg_controllen) {
		errno = EIO;
		return -1;
	}
	plain += count;
	return __real_sendmmsg(fd, messages, count, flags);
}

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

static union rcm_dns_address server = { .in = { .sin_family = AF_INET } };
static int server_fd;

/* Nothing can be sent to the server any more by any socket that this process has. */
static void shut_down_all(void)
{
	int type;
	socklen_t len = sizeof(type);

	for (int fd = 3; fd < 64; fd++)
		if (fd != server_fd && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_DGRAM)
			assert_int_equal(shutdown(fd, SHUT_WR), 0);
}

static const struct rcm_carried_ops ops = { write_question, take_none, take_back_second };

/* As on a way with IPsec. */
static void test_udp_questions_that_may_not_share_a_packet_leave_one_by_one(void **state)
{
	struct rcm_carry carry = { 0 };
	struct rcm_loop loop;
	struct rcm_udp udp;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	carry.loop = &loop;
	rcm_udp_init(&udp, &carry, &server);
	first.ops = second.ops = &ops;
	refuses_shared = true;
	assert_int_equal(rcm_udp_put(&udp, &first, NULL), 0);
	assert_int_equal(rcm_udp_put(&udp, &second, NULL), 0);
	rcm_udp_flush(&udp);
	assert_int_equal(plain, 2);
	assert_int_equal(failed, 0);
	refuses_shared = false;
	rcm_udp_done(&udp);
	rcm_loop_done(&loop);
}

static void test_udp_question_that_takes_back_the_next_socket_s_frees_no_socket_in_use(void **state)
{
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
		cmocka_unit_test(test_udp_questions_that_may_not_share_a_packet_leave_one_by_one),
		cmocka_unit_test(test_udp_question_that_takes_back_the_next_socket_s_frees_no_socket_in_use),
	};

	socklen_t len = sizeof(server.in);

	server_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	server.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server_fd, &server.sa, len) || getsockname(server_fd, &server.sa, &len))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
