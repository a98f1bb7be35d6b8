/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes, asked of the real kernel: only loopback is everywhere. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/route.h"
#include "base/nl.h"
#include "test.h"

static struct rcm_router router;

static int close_router(void **state)
{
	(void)state;
	rcm_router_close(&router);
	return 0;
}

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
		assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
		assert_int_equal(route.ifindex, if_nametoindex("lo"));
		assert_true(rcm_sockaddr_equal(&route.src.sa, &dst.sa));
	}
}

static void test_route_to_what_can_not_be_reached_is_an_error(void **state)
{
	union rcm_sockaddr dst = address("fe80::1%4000000");
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), -ENETUNREACH);
	/* And the next question is not answered by it. */
	dst = address("127.0.0.1");
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	assert_int_equal(route.src.sa.sa_family, AF_INET);
}

/* ---- Of devices that no machine has to have ---- */

/* What the kernel answers instead; NULL: itself. */
static const struct answer {
	int family;
	unsigned oif;				/* 0: none */
	const char *source;			/* NULL: none */
} *answer;

int __real_rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *, void *), void *arg);
int __wrap_rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *, void *), void *arg);

int __wrap_rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *, void *), void *arg)
{
	struct rtmsg header = { .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST };
	const struct rtmsg *asked = nlmsg_data(nlmsg_hdr(msg));
	union rcm_sockaddr source;
	struct nl_msg *made;

	if (!answer)
		return __real_rcm_nl_ask(sock, msg, take, arg);
	assert_int_equal(asked->rtm_family, answer->family);
	assert_int_equal(asked->rtm_dst_len, answer->family == AF_INET ? 32 : 128);
	made = nlmsg_alloc_simple(RTM_NEWROUTE, 0);
	assert_non_null(made);
	header.rtm_family = (uint8_t)answer->family;
	assert_int_equal(nlmsg_append(made, &header, sizeof(header), NLMSG_ALIGNTO), 0);
	if (answer->oif)
		nla_put_u32(made, RTA_OIF, answer->oif);
	if (answer->source) {
		source = address(answer->source);
		if (source.sa.sa_family == AF_INET)
			nla_put(made, RTA_PREFSRC, 4, &source.in.sin_addr);
		else
			nla_put(made, RTA_PREFSRC, 16, &source.in6.sin6_addr);
	}
	assert_int_equal(take(made, arg), NL_OK);
	/* A second message of one answer says nothing. */
	assert_int_equal(take(made, arg), NL_OK);
	nlmsg_free(made);
	return 0;
}

static struct rcm_route route_by(const struct answer *by, const char *to, int wanted)
{
	union rcm_sockaddr dst = address(to);
	struct rcm_route route = { 0 };

	answer = by;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), wanted);
	answer = NULL;
	return route;
}

static void test_route_by_a_device_has_its_source(void **state)
{
	const struct answer v4 = { AF_INET, 71, "192.0.2.9" }, v6 = { AF_INET6, 72, "2001:db8::9" };
	const struct answer near = { AF_INET6, 73, "fe80::9" };
	union rcm_sockaddr source = address("192.0.2.9");
	struct rcm_route route = route_by(&v4, "192.0.2.1", 0);

	(void)state;
	assert_int_equal(route.ifindex, 71);
	assert_true(rcm_sockaddr_equal(&route.src.sa, &source.sa));
	source = address("2001:db8::9");
	route = route_by(&v6, "2001:db8::1", 0);
	assert_int_equal(route.ifindex, 72);
	assert_true(rcm_sockaddr_equal(&route.src.sa, &source.sa));
	assert_int_equal(route.src.in6.sin6_scope_id, 0);
	/* Of the link alone. */
	route = route_by(&near, "2001:db8::1", 0);
	assert_int_equal(route.ifindex, 73);
	assert_int_equal(route.src.sa.sa_family, AF_INET6);
	assert_int_equal(route.src.in6.sin6_addr.s6_addr[15], 9);
	assert_int_equal(route.src.in6.sin6_scope_id, 73);
}

static void test_route_without_a_source_or_a_device_is_what_there_is_of_it(void **state)
{
	const struct answer bare = { AF_INET, 71, NULL }, nowhere = { AF_INET, 0, "192.0.2.9" };
	const struct answer blackhole = { AF_INET6, 0, NULL };
	struct rcm_route route = route_by(&bare, "192.0.2.1", 0);

	(void)state;
	assert_int_equal(route.ifindex, 71);
	assert_int_equal(route.src.sa.sa_family, AF_UNSPEC);
	route = route_by(&nowhere, "192.0.2.1", -ENETUNREACH);
	assert_int_equal(route.ifindex, 0);
	assert_int_equal(route.src.sa.sa_family, AF_UNSPEC);
	route_by(&blackhole, "2001:db8::1", -ENETUNREACH);
}

static void test_route_to_a_local_address_of_ipv6_is_of_the_interface_that_has_it(void **state)
{
	union rcm_sockaddr dst = address("::1");
	struct rcm_route route;

	(void)state;
	if (rcm_route_lookup(&router, &dst, &route))
		skip();
	assert_int_equal(route.ifindex, if_nametoindex("lo"));
	assert_true(rcm_sockaddr_equal(&route.src.sa, &dst.sa));
}

/* ---- Without memory ---- */

static int out_of_memory;

/* The one that libnl calls, by its name there: here it has another where a long has 32 bits and times have 64. */
ssize_t libnl_recvmsg(int fd, struct msghdr *msg, int flags) __asm__("recvmsg");

ssize_t libnl_recvmsg(int fd, struct msghdr *msg, int flags)
{
	static ssize_t (*real)(int fd, struct msghdr *msg, int flags);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "recvmsg");
	if (!out_of_memory)
		return real(fd, msg, flags);
	out_of_memory--;
	errno = ENOMEM;
	return -1;
}

static void test_route_that_could_not_be_read_is_not_taken_for_the_next(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	out_of_memory = 1;
	dst = address("fe80::1%4000000");
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), -ENOMEM);
	assert_int_equal(out_of_memory, 0);
	dst = address("127.0.0.1");
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	assert_true(rcm_sockaddr_equal(&route.src.sa, &dst.sa));
}

static void test_route_of_another_family_is_not_asked(void **state)
{
	union rcm_sockaddr dst = { .sa.sa_family = AF_IB };
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), -EAFNOSUPPORT);
}

/* In the child of a fork the parent's socket would get answers to the child. */
static void test_route_in_the_child_of_a_fork_is_asked_on_a_socket_of_its_own(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;
	int status = -1;
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		status = 0;
		rcm_router_close(&router);
		for (int i = 0; i < 100 && !status; i++)
			status = rcm_route_lookup(&router, &dst, &route);
		_exit(status != 0);
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A daemon closes all that is open, and opens its files. */
static void test_route_socket_is_not_closed_by_number_in_the_child_of_a_fork(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;
	int status = -1, fd;
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
	fd = nl_socket_get_fd(router.sock);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		bool was_closed = fcntl(fd, F_GETFD) < 0;

		dup2(STDIN_FILENO, fd);
		rcm_router_close(&router);
		_exit(was_closed && fcntl(fd, F_GETFD) >= 0 && !rcm_route_lookup(&router, &dst, &route) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_route_leaves_no_descriptor_to_a_program_started_later(void **state)
{
	union rcm_sockaddr dst = address("127.0.0.1");
	struct rcm_route route;

	(void)state;
	assert_int_equal(rcm_route_lookup(&router, &dst, &route), 0);
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
		cmocka_unit_test_teardown(test_route_to_a_local_address_is_of_the_interface_that_has_it, close_router),
		cmocka_unit_test_teardown(test_route_to_what_can_not_be_reached_is_an_error, close_router),
		cmocka_unit_test_teardown(test_route_by_a_device_has_its_source, close_router),
		cmocka_unit_test_teardown(test_route_without_a_source_or_a_device_is_what_there_is_of_it, close_router),
		cmocka_unit_test_teardown(test_route_to_a_local_address_of_ipv6_is_of_the_interface_that_has_it, close_router),
		cmocka_unit_test_teardown(test_route_that_could_not_be_read_is_not_taken_for_the_next, close_router),
		cmocka_unit_test_teardown(test_route_of_another_family_is_not_asked, close_router),
		cmocka_unit_test_teardown(test_route_in_the_child_of_a_fork_is_asked_on_a_socket_of_its_own, close_router),
		cmocka_unit_test_teardown(test_route_socket_is_not_closed_by_number_in_the_child_of_a_fork, close_router),
		cmocka_unit_test_teardown(test_route_leaves_no_descriptor_to_a_program_started_later, close_router),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
