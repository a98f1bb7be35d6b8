/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own way to names: what is done on whose thread. */
#include <sys/socket.h>

#include "dns/dns.h"
#include "dns/netlink.h"
#include "test.h"
#include "asleep.h"

static unsigned dumps;
static bool news;

int __real_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	dumps++;
	return __real_rcm_netlink_dump(type, family, take, arg);
}

/* A route came or went. */
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	if (!news || flags != MSG_DONTWAIT)
		return __real_recv(fd, buf, len, flags);
	news = false;
	return 1;
}

static void changed(void *arg)
{
	(void)arg;
}

static void settled(void *arg, int status)
{
	assert_int_equal(status, 0);
	*(bool *)arg = true;
}

static void sort_both(struct rcm_dns *dns)
{
	union rcm_dns_address both[] = {
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } },
		{ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } },
	};

	rcm_dns_system.sort(dns, both, 2);
}

static void test_system_routes_that_changed_are_read_on_the_loop_s_thread_alone(void **state)
{
	bool is_settled = false;
	const struct rcm_dns_owner owner = { .changed = changed, .settled = settled, .arg = &is_settled };
	struct rcm_loop loop;
	struct rcm_dns *dns;
	unsigned before;

	(void)state;
	if (emulated())
		skip();	/* qemu translates no dump of routes */
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_dns_system.open(&loop, &owner, &dns), 0);
	assert_int_equal(rcm_dns_system.settle(dns), 0);
	while (!is_settled)
		assert_int_equal(rcm_loop_turn(&loop, 1000), 0);
	assert_true(rcm_dns_system.is_settled(dns));
	assert_true(rcm_dns_system.knows_ways(dns));
	before = dumps;
	news = true;
	assert_false(rcm_dns_system.knows_ways(dns));
	sort_both(dns);
	assert_int_equal(dumps, before);
	assert_true(rcm_dns_system.settle(dns) >= 0);
	assert_true(dumps > before);
	assert_true(rcm_dns_system.knows_ways(dns));
	before = dumps;
	sort_both(dns);
	assert_int_equal(dumps, before);
	rcm_dns_system.close(dns);
	rcm_loop_done(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_routes_that_changed_are_read_on_the_loop_s_thread_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
