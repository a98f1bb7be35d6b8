/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses have the same route: against a look at every prefix in turn. */
#include "dns/blocks.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "dns/netlink.h"
#include "test.h"
#include "asleep.h"

static struct rcm_blocks blocks;

static int clear(void **state)
{
	(void)state;
	rcm_blocks_clear(&blocks);
	return 0;
}

static union rcm_dns_address address(const char *text)
{
	union rcm_dns_address a = { .in = { .sin_family = AF_INET } };

	if (strchr(text, ':'))
		a.sa.sa_family = AF_INET6;
	assert_int_equal(inet_pton(a.sa.sa_family, text, a.sa.sa_family == AF_INET ? (void *)&a.in.sin_addr :
				   (void *)&a.in6.sin6_addr), 1);
	return a;
}

static void add(const char *text, uint8_t bits)
{
	union rcm_dns_address a = address(text);
	struct rcm_block block = { .family = (uint8_t)a.sa.sa_family, .bits = bits };

	if (a.sa.sa_family == AF_INET)
		memcpy(block.prefix, &a.in.sin_addr, 4);
	else
		memcpy(block.prefix, &a.in6.sin6_addr, 16);
	assert_int_equal(rcm_blocks_add(&blocks, &block), 0);
}

static int find(const char *text)
{
	union rcm_dns_address a = address(text);

	return rcm_blocks_find(&blocks, &a);
}

/* A table of so many routes instead of the host's; how many of them were looked at. */
static unsigned routes, looked_at;

int __real_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);

int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	struct {
		struct nlmsghdr nlh;
		struct rtmsg msg;
		struct rtattr attr;
		uint32_t to;
	} route = {
		.nlh = { .nlmsg_len = sizeof(route), .nlmsg_type = RTM_NEWROUTE },
		.msg = { .rtm_family = AF_INET, .rtm_dst_len = 32 },
		.attr = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_DST },
	};
	int ret = 0;

	if (!routes)
		return __real_rcm_netlink_dump(type, family, take, arg);
	for (unsigned i = 0; i < routes && !ret; i++) {
		route.to = htonl(0x0a000000 + i);
		looked_at++;
		ret = take(&route.nlh, arg);
	}
	return ret;
}

/* A full table of the Internet's routes has a million. */
static void test_blocks_of_more_routes_than_are_told_apart_are_not_read_on(void **state)
{
	(void)state;
	routes = 1000000;
	assert_int_equal(rcm_blocks_read(&blocks), 0);
	routes = 0;
	assert_int_equal(looked_at, RCM_BLOCKS_MAX + 1);
	assert_int_equal(find("10.0.0.1"), -1);
	assert_int_equal(find("2001:db8::1"), -1);
}

static void test_blocks_the_longest_prefix_is_found(void **state)
{
	(void)state;
	assert_int_equal(find("192.0.2.1"), -1);
	add("0.0.0.0", 0);
	add("192.0.2.0", 24);
	add("192.0.2.128", 25);
	add("192.0.2.200", 32);
	add("2001:db8::", 32);
	add("2001:db8:8000::", 33);
	add("192.0.2.0", 24);
	assert_int_equal(blocks.count, 6);
	assert_int_equal(find("198.51.100.1"), 0);
	assert_int_equal(find("192.0.2.1"), 1);
	assert_int_equal(find("192.0.2.127"), 1);
	assert_int_equal(find("192.0.2.129"), 2);
	assert_int_equal(find("192.0.2.200"), 3);
	assert_int_equal(find("2001:db8:7fff::1"), 4);
	assert_int_equal(find("2001:db8:8000::1"), 5);
	/* No route there is at all. */
	assert_int_equal(find("2001:db9::1"), -1);
}

static void test_blocks_too_many_say_nothing(void **state)
{
	char text[32];

	(void)state;
	add("10.0.0.0", 8);
	for (int i = 1; i <= RCM_BLOCKS_MAX; i++) {
		assert_int_equal(find("10.9.9.9"), 0);
		snprintf(text, sizeof(text), "10.1.%d.%d", i / 256, i % 256);
		add(text, 32);
	}
	assert_int_equal(find("10.9.9.9"), -1);
}

/* Of this host: what the kernel says of two addresses in one block is the same. */
static void test_blocks_of_this_host_have_loopback_apart(void **state)
{
	(void)state;
	if (emulated())
		skip();	/* qemu translates no dump of routes */
	assert_int_equal(rcm_blocks_read(&blocks), 0);
	if (blocks.blind[0])
		skip();
	assert_true(find("127.0.0.1") >= 0);
	assert_int_not_equal(find("127.0.0.1"), find("192.0.2.1"));
	assert_int_equal(find("198.51.100.1"), find("198.51.100.2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_blocks_the_longest_prefix_is_found, clear),
		cmocka_unit_test_teardown(test_blocks_of_more_routes_than_are_told_apart_are_not_read_on, clear),
		cmocka_unit_test_teardown(test_blocks_too_many_say_nothing, clear),
		cmocka_unit_test_teardown(test_blocks_of_this_host_have_loopback_apart, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
