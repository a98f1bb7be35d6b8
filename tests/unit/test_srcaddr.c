/* SPDX-License-Identifier: BSD-2-Clause */
/* The order by the kernel's routes, where descriptors are short for a while, or netlink is refused. */
#include "dns/srcaddr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "test.h"
#include "asleep.h"

static struct rlimit before;
static unsigned received;

ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	received++;
	return __real_recv(fd, buf, len, flags);
}

/* No more descriptors than there are, and spare ones. */
static void limit_descriptors(unsigned spare)
{
	struct rlimit limit;
	int fd = fcntl(STDIN_FILENO, F_DUPFD, 64);

	assert_true(fd >= 64);
	close(fd);
	/* All below 64 are taken, so that what comes next is 64. */
	while ((fd = dup(STDIN_FILENO)) < 64)
		assert_true(fd >= 0);
	close(fd);
	limit = (struct rlimit){ .rlim_cur = 64 + spare, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void unlimit_descriptors(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int keep_limit(void **state)
{
	(void)state;
	return getrlimit(RLIMIT_NOFILE, &before);
}

static bool has_ipv6_loopback(void)
{
	const struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool has = fd >= 0 && !bind(fd, (const struct sockaddr *)&in6, sizeof(in6));

	if (fd >= 0)
		close(fd);
	return has;
}

static void fill(union rcm_dns_address addresses[2])
{
	memset(addresses, 0, 2 * sizeof(*addresses));
	addresses[0].in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	addresses[1].in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
}

/* RFC 6724: ::1 has the greatest precedence of all. Without descriptors nothing is known, and that only for a while. */
static void test_srcaddr_opened_without_descriptors_sorts_when_there_are_some(void **state)
{
	union rcm_dns_address addresses[2];
	struct rcm_srcaddr *srcaddr;

	(void)state;
	if (!has_ipv6_loopback())
		skip();
	for (unsigned spare = 1; spare <= 2; spare++) {
		limit_descriptors(spare);
		assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
		fill(addresses);
		rcm_srcaddr_follow(srcaddr);
		rcm_srcaddr_sort(srcaddr, addresses, 2);
		assert_int_equal(addresses[0].sa.sa_family, AF_INET);
		unlimit_descriptors();
		rcm_srcaddr_follow(srcaddr);
		rcm_srcaddr_sort(srcaddr, addresses, 2);
		assert_int_equal(addresses[0].sa.sa_family, AF_INET6);
		rcm_srcaddr_close(srcaddr);
	}
}

/* As getaddrinfo() does: connect() tells the source, and that there is none. In a process of its own, as it is for good. */
static void test_srcaddr_in_a_sandbox_without_netlink_sorts_by_what_connect_tells(void **state)
{
	union rcm_dns_address addresses[2];
	struct rcm_srcaddr *srcaddr;
	int status = -1;
	pid_t pid;

	(void)state;
	if (!has_ipv6_loopback() || emulated())
		skip();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!sandbox_enter(SYS_socket, AF_NETLINK, SANDBOX_REFUSES, EAFNOSUPPORT) ||
		    rcm_srcaddr_open(&srcaddr))
			_exit(1);
		rcm_srcaddr_follow(srcaddr);
		fill(addresses);
		rcm_srcaddr_sort(srcaddr, addresses, 2);
		_exit(rcm_srcaddr_is_stale(srcaddr) || addresses[0].sa.sa_family != AF_INET6 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static union rcm_dns_address ipv4(uint32_t address)
{
	return (union rcm_dns_address){ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) } };
}

static uint32_t first_of(struct rcm_srcaddr *srcaddr, uint32_t a, uint32_t b)
{
	union rcm_dns_address addresses[] = { ipv4(a), ipv4(b) };

	rcm_srcaddr_sort(srcaddr, addresses, 2);
	return ntohl(addresses[0].in.sin_addr.s_addr);
}

/* Rule 9: both are in the source's network, 127.0.0.0/8, and what is nearer to 127.0.0.1 comes first. */
static void test_srcaddr_sorts_what_is_in_the_sources_network_by_what_is_nearer(void **state)
{
	struct rcm_srcaddr *srcaddr;

	(void)state;
	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	rcm_srcaddr_follow(srcaddr);
	assert_int_equal(first_of(srcaddr, 0x7f00004d, 0x7f000002), 0x7f000002);
	assert_int_equal(first_of(srcaddr, 0x7f000002, 0x7f00004d), 0x7f000002);
	rcm_srcaddr_close(srcaddr);
}

static union rcm_dns_address link_local_on_lo(uint8_t last)
{
	return (union rcm_dns_address){
		.in6 = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xfe, 0x80, [15] = last }, .sin6_scope_id = 1 },
	};
}

/* Nothing is there, and what is known of one way isn't where that destination stood. */
static void test_srcaddr_leaves_destinations_that_tie_as_given_each_time(void **state)
{
	struct rcm_srcaddr *srcaddr;

	(void)state;
	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	rcm_srcaddr_follow(srcaddr);
	for (uint8_t first = 8; first <= 9; first++) {
		union rcm_dns_address addresses[] = { link_local_on_lo(first), link_local_on_lo(17 - first) };

		rcm_srcaddr_sort(srcaddr, addresses, 2);
		assert_int_equal(addresses[0].in6.sin6_addr.s6_addr[15], first);
	}
	rcm_srcaddr_close(srcaddr);
}

/* Whatever a source is chosen by. */
static void test_srcaddr_listens_for_addresses_routes_rules_and_links(void **state)
{
	const unsigned groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE |
				RTMGRP_IPV4_RULE | 1u << (RTNLGRP_IPV6_RULE - 1) | RTMGRP_LINK;
	struct rcm_srcaddr *srcaddr;
	struct sockaddr_nl own = { 0 };
	socklen_t len = sizeof(own);
	int next = dup(0);

	(void)state;
	close(next);
	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	assert_int_equal(getsockname(next, (struct sockaddr *)&own, &len), 0);
	assert_int_equal(own.nl_family, AF_NETLINK);
	assert_int_equal(own.nl_groups, groups);
	rcm_srcaddr_close(srcaddr);
	assert_int_equal(fcntl(next, F_GETFD), -1);
	rcm_srcaddr_close(NULL);
}

static void test_srcaddr_watched_by_a_loop_asks_nobody_whether_anything_changed(void **state)
{
	struct rcm_srcaddr *srcaddr;
	struct rcm_loop loop;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	rcm_srcaddr_watch(srcaddr, &loop);
	rcm_srcaddr_follow(srcaddr);
	received = 0;
	assert_false(rcm_srcaddr_is_stale(srcaddr));
	assert_int_equal(received, 0);
	rcm_srcaddr_close(srcaddr);
	rcm_loop_done(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_srcaddr_opened_without_descriptors_sorts_when_there_are_some, keep_limit),
		cmocka_unit_test(test_srcaddr_in_a_sandbox_without_netlink_sorts_by_what_connect_tells),
		cmocka_unit_test(test_srcaddr_sorts_what_is_in_the_sources_network_by_what_is_nearer),
		cmocka_unit_test(test_srcaddr_leaves_destinations_that_tie_as_given_each_time),
		cmocka_unit_test(test_srcaddr_watched_by_a_loop_asks_nobody_whether_anything_changed),
		cmocka_unit_test(test_srcaddr_listens_for_addresses_routes_rules_and_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
