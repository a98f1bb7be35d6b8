/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways to addresses on hosts that the test makes up: what is known of a source, and which ways are one. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "dns/order.h"
#include "dns/srcaddr.h"
#include "fake_routes.h"
#include "test.h"

int __wrap_ioctl(int fd, unsigned long request, ...);

/* Devices 1 to 6: Ethernet, three tunnels, one without a name, one without a type. */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	static const unsigned short types[] = { 0, ARPHRD_ETHER, ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_SIT,
						ARPHRD_SIT };
	struct ifreq *ifr;
	va_list list;

	(void)fd;
	va_start(list, request);
	ifr = va_arg(list, struct ifreq *);
	va_end(list);
	if (request == SIOCGIFNAME) {
		ifr->ifr_name[0] = (char)('0' + ifr->ifr_ifindex);
		return ifr->ifr_ifindex == 5 ? -1 : 0;
	}
	assert_int_equal(request, SIOCGIFHWADDR);
	ifr->ifr_hwaddr.sa_family = types[ifr->ifr_name[0] - '0'];
	return ifr->ifr_name[0] == '6' ? -1 : 0;
}

/* ---- What is known of a source ---- */

static const struct fake_way far_ways[] = {
	{ "198.51.100.1", "192.0.2.9" }, { "2001:db8:1::1", "2001:db8::9" },
};

static void check_source(const struct fake_own *own, unsigned count, const char *to, const struct rcm_order *expected)
{
	union rcm_dns_address two[] = { fake_address(to), fake_address("203.0.113.1") };
	struct rcm_srcaddr *srcaddr;
	struct rcm_order *orders, *found;

	host.owns = own;
	host.owns_count = count;
	srcaddr = fake_routes_follow();
	orders = rcm_srcaddr_sort_why(srcaddr, two, 2);
	assert_non_null(orders);
	/* What can't be reached goes last. */
	found = &orders[0];
	assert_memory_equal(&found->to, &two[0], sizeof(two[0]));
	assert_int_equal(found->rule, 1);
	assert_int_equal(orders[1].from.sa.sa_family, AF_UNSPEC);
	assert_int_equal(orders[1].given, 1);
	assert_int_equal(found->given, 0);
	assert_int_equal(found->from.sa.sa_family, found->to.sa.sa_family);
	assert_int_equal(found->from_prefix, expected->from_prefix);
	assert_int_equal(found->from_deprecated, expected->from_deprecated);
	assert_int_equal(found->from_home, expected->from_home);
	assert_int_equal(found->native, expected->native);
	free(orders);
	rcm_srcaddr_close(srcaddr);
}

static void test_srcaddr_source_is_known_by_its_prefix_flags_and_device(void **state)
{
	static const struct {
		struct fake_own own;
		struct rcm_order is;
	} rows[] = {
		{ { .family = AF_INET, .prefix = 24, .index = 1, .local = "192.0.2.9" }, { .from_prefix = 24, .native = true } },
		{ { .family = AF_INET, .prefix = 25, .index = 1, .address = "192.0.2.9" }, { .from_prefix = 25, .native = true } },
		{ { .family = AF_INET, .prefix = 26, .index = 1, .local = "192.0.2.9", .address = "192.0.2.8" },
		  { .from_prefix = 26, .native = true } },
		{ { .family = AF_INET, .prefix = 27, .index = 1, .local = "192.0.2.9", .address = "192.0.2.8", .local_last = true },
		  { .from_prefix = 27, .native = true } },
		{ { .family = AF_INET, .prefix = 24, .index = 2, .local = "192.0.2.8", .address = "192.0.2.9" },
		  { .from_prefix = 32, .native = true } },
		{ { .family = AF_INET, .prefix = 24, .index = 2, .local = "192.0.2.9", .cut = 1 },
		  { .from_prefix = 32, .native = true } },
		{ { .family = AF_INET, .prefix = 24, .index = 2 }, { .from_prefix = 32, .native = true } },
		{ { .type = RTM_DELADDR, .family = AF_INET, .prefix = 24, .index = 2, .local = "192.0.2.9" },
		  { .from_prefix = 32, .native = true } },
		{ { .family = AF_APPLETALK, .prefix = 24, .index = 2, .local = "192.0.2.9" },
		  { .from_prefix = 32, .native = true } },
		{ { .family = AF_INET, .prefix = 24, .index = 2, .local = "192.0.2.9" }, { .from_prefix = 24 } },
		{ { .family = AF_INET, .prefix = 24, .index = 3, .local = "192.0.2.9" }, { .from_prefix = 24 } },
		{ { .family = AF_INET, .prefix = 24, .index = 4, .local = "192.0.2.9" }, { .from_prefix = 24 } },
		{ { .family = AF_INET, .prefix = 24, .index = 5, .local = "192.0.2.9" }, { .from_prefix = 24, .native = true } },
		{ { .family = AF_INET, .prefix = 24, .index = 6, .local = "192.0.2.9" }, { .from_prefix = 24, .native = true } },
		{ { .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::9" },
		  { .from_prefix = 64, .native = true } },
		{ { .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::9", .cut = 12 },
		  { .from_prefix = 32, .native = true } },
		{ { .family = AF_INET6, .prefix = 64, .flags = IFA_F_DEPRECATED | IFA_F_PERMANENT, .index = 1,
		    .address = "2001:db8::9" }, { .from_prefix = 64, .from_deprecated = true, .native = true } },
		{ { .family = AF_INET6, .prefix = 64, .flags = IFA_F_HOMEADDRESS | IFA_F_PERMANENT, .index = 1,
		    .address = "2001:db8::9" }, { .from_prefix = 64, .from_home = true, .native = true } },
	};

	(void)state;
	HOST_HAS(ways, far_ways);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_source(&rows[i].own, 1, far_ways[rows[i].own.family == AF_INET6].to, &rows[i].is);
}

/* Nor are the octets of an address of the other family those of this one. */
static void test_srcaddr_source_of_several_addresses_is_the_one_that_is_the_same(void **state)
{
	static const struct fake_own several[] = {
		{ .family = AF_INET, .prefix = 1, .index = 2, .local = "0.0.0.0" },
		{ .family = AF_INET6, .prefix = 1, .index = 2, .address = "::" },
		{ .family = AF_INET, .prefix = 1, .index = 2, .local = "192.0.2.8" },
		{ .family = AF_INET6, .prefix = 1, .index = 2, .address = "2001:db8::8" },
		{ .family = AF_INET, .prefix = 24, .index = 1, .local = "192.0.2.9" },
		{ .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::9" },
		{ .family = AF_INET, .prefix = 2, .index = 2, .local = "192.0.2.9" },
	};

	(void)state;
	HOST_HAS(ways, far_ways);
	check_source(several, 7, "198.51.100.1", &(struct rcm_order){ .from_prefix = 24, .native = true });
	check_source(several, 7, "2001:db8:1::1", &(struct rcm_order){ .from_prefix = 64, .native = true });
}

/* ---- Which ways are one ---- */

static const struct fake_own one_each[] = {
	{ .family = AF_INET, .prefix = 24, .index = 1, .local = "192.0.2.9" },
	{ .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::9" },
	{ .family = AF_INET6, .prefix = 64, .index = 1, .address = "fe80::9" },
	{ .family = AF_INET6, .prefix = 128, .index = 1, .address = "::1" },
};

static void test_srcaddr_ways_of_one_class_in_one_block_are_asked_for_once(void **state)
{
	static const struct fake_block blocks[] = {
		{ "192.0.2.0", 24 }, { "198.51.100.0", 24 }, { "2001:db8::", 32 }, { "2002::", 16 }, { "::", 0 },
	};
	static const struct {
		const char *a, *b;
		unsigned asked;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.2", 1 }, { "192.0.2.3", "192.0.2.4", 0 }, { "192.0.2.5", "198.51.100.1", 1 },
		/* In no block: each by itself, and kept. */
		{ "203.0.113.1", "203.0.113.2", 2 }, { "203.0.113.1", "203.0.113.2", 0 },
		{ "2001:db8::1", "2001:db8:1::1", 1 }, { "2002::1", "2002::2", 1 }, { "2001:db8::1", "2002::1", 0 },
		/* Of other labels and scopes. */
		{ "fd00::1", "fec0::1", 2 }, { "fe80::1", "3000::1", 2 }, { "fd00::2", "3000::2", 0 },
	};
	struct rcm_srcaddr *srcaddr;

	(void)state;
	HOST_HAS(owns, one_each);
	HOST_HAS(blocks, blocks);
	srcaddr = fake_routes_follow();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (fake_routes_asked_for(srcaddr, rows[i].a, rows[i].b) != rows[i].asked)
			fail_msg("%s and %s: %u", rows[i].a, rows[i].b, host.asked);
	rcm_srcaddr_close(srcaddr);
}

/* With a second IPv6 address that others can reach, or where none is known, the kernel chooses by the destination. */
static void test_srcaddr_ways_of_ipv6_are_one_each_where_the_source_is_chosen_by_the_address(void **state)
{
	static const struct fake_own two[] = {
		{ .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::9" },
		{ .family = AF_INET6, .prefix = 64, .index = 1, .address = "2001:db8::8" },
	};
	static const struct fake_block all[] = { { "::", 0 }, { "0.0.0.0", 0 } };
	union rcm_dns_address scoped[] = { fake_address("2001:db8::1"), fake_address("2001:db8::1") };
	struct rcm_srcaddr *srcaddr;

	(void)state;
	HOST_HAS(blocks, all);
	for (int i = 0; i < 3; i++) {
		HOST_HAS(owns, one_each);
		if (i == 1)
			HOST_HAS(owns, two);
		host.addresses_error = i == 2 ? -EPERM : 0;
		srcaddr = fake_routes_follow();
		assert_int_equal(fake_routes_asked_for(srcaddr, "2001:db8::1", "2001:db8::2"), i ? 2 : 1);
		assert_int_equal(fake_routes_asked_for(srcaddr, "2001:db8::1", "2001:db8::2"), 0);
		assert_int_equal(fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2"), 1);
		/* On a device the way is another one. */
		scoped[0].in6.sin6_scope_id = 1;
		scoped[1].in6.sin6_scope_id = 2;
		host.asked = 0;
		rcm_srcaddr_sort(srcaddr, scoped, 2);
		assert_int_equal(host.asked, 2);
		rcm_srcaddr_sort(srcaddr, scoped, 2);
		assert_int_equal(host.asked, 2);
		rcm_srcaddr_close(srcaddr);
	}
}

/* What the kernel doesn't say is no way. */
static void test_srcaddr_destination_whose_source_is_not_told_is_out_of_reach(void **state)
{
	static const struct fake_way untold[] = { { "203.0.113.1", NULL }, { "198.51.100.1", "192.0.2.9" } };
	union rcm_dns_address two[] = { fake_address("203.0.113.1"), fake_address("198.51.100.1") };
	struct rcm_srcaddr *srcaddr;

	(void)state;
	HOST_HAS(ways, untold);
	srcaddr = fake_routes_follow();
	rcm_srcaddr_sort(srcaddr, two, 2);
	assert_int_equal(ntohl(two[0].in.sin_addr.s_addr), 0xc6336401);
	rcm_srcaddr_close(srcaddr);
}

static void test_srcaddr_of_one_address_or_none_nothing_is_asked(void **state)
{
	union rcm_dns_address one = fake_address("192.0.2.1");
	struct rcm_srcaddr *srcaddr;

	(void)state;
	srcaddr = fake_routes_follow();
	for (unsigned count = 0; count < 2; count++) {
		rcm_srcaddr_sort(srcaddr, &one, count);
		assert_null(rcm_srcaddr_sort_why(srcaddr, &one, count));
	}
	assert_int_equal(host.asked, 0);
	rcm_srcaddr_close(srcaddr);
}

#define WAYS_TEST(f) cmocka_unit_test_setup_teardown(f, fake_routes_begin, fake_routes_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WAYS_TEST(test_srcaddr_source_is_known_by_its_prefix_flags_and_device),
		WAYS_TEST(test_srcaddr_source_of_several_addresses_is_the_one_that_is_the_same),
		WAYS_TEST(test_srcaddr_ways_of_one_class_in_one_block_are_asked_for_once),
		WAYS_TEST(test_srcaddr_ways_of_ipv6_are_one_each_where_the_source_is_chosen_by_the_address),
		WAYS_TEST(test_srcaddr_destination_whose_source_is_not_told_is_out_of_reach),
		WAYS_TEST(test_srcaddr_of_one_address_or_none_nothing_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
