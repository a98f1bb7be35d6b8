/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes, asked of the real kernel: only loopback is everywhere. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/route.h"
#include "test.h"

static union rcm_sockaddr address(const char *text)
{
	union rcm_sockaddr sa;

	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &sa), 1);
	return sa;
}

static void test_route_to_a_local_address_is_of_the_interface_that_has_it(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rcm_route_lookup(&dst, &route), 0);
		assert_int_equal(route.ifindex, if_nametoindex("lo"));
		assert_true(rcm_sockaddr_equal(&route.src.sa, &dst.sa));
	}
}

static void test_route_to_what_can_not_be_reached_is_an_error(void **state)
{
	union rcm_sockaddr dst = address("fe80::1%4000000");
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&dst, &route), -ENETUNREACH);
	/* And the next question is not answered by it. */
	dst = address("127.0.0.1");
	assert_int_equal(rcm_route_lookup(&dst, &route), 0);
	assert_int_equal(route.src.sa.sa_family, AF_INET);
}

static void test_route_of_another_family_is_not_asked(void **state)
{
	union rcm_sockaddr dst = { .sa.sa_family = AF_IB };
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&dst, &route), -EAFNOSUPPORT);
}

/* In the child of a fork the parent's socket would get answers to the child. */
static void test_route_in_the_child_of_a_fork_is_asked_on_a_socket_of_its_own(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;
	int status = -1;
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_route_lookup(&dst, &route), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		status = 0;
		for (int i = 0; i < 100 && !status; i++)
			status = rcm_route_lookup(&dst, &route);
		_exit(status != 0);
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(rcm_route_lookup(&dst, &route), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_route_leaves_no_descriptor_to_a_program_started_later(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&dst, &route), 0);
	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr sa;
		socklen_t len = sizeof(sa);

		if (!getsockname(fd, &sa, &len) && sa.sa_family == AF_NETLINK)
			assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_route_to_a_local_address_is_of_the_interface_that_has_it),
		cmocka_unit_test(test_route_to_what_can_not_be_reached_is_an_error),
		cmocka_unit_test(test_route_of_another_family_is_not_asked),
		cmocka_unit_test(test_route_in_the_child_of_a_fork_is_asked_on_a_socket_of_its_own),
		cmocka_unit_test(test_route_leaves_no_descriptor_to_a_program_started_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
