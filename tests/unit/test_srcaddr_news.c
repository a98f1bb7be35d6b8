/* SPDX-License-Identifier: BSD-2-Clause */
/* For how long the ways to addresses are known, on hosts that the test makes up, and what runs out there. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "dns/order.h"
#include "dns/srcaddr.h"
#include "fake_routes.h"
#include "test.h"

static void test_srcaddr_ways_are_forgotten_when_the_kernel_tells_of_a_change(void **state)
{
	static const struct {
		int reads[4];
		bool stale;
		unsigned read;		/* so often until nothing is left */
	} rows[] = {
		{ { 0 }, false, 1 }, { { 1 }, true, 2 }, { { 4096, 100, 1 }, true, 4 }, { { -ENOBUFS }, true, 2 },
		{ { -EINTR, 100 }, false, 1 }, { { 100, -EPERM, 100 }, true, 2 },
	};
	struct rcm_srcaddr *srcaddr;

	(void)state;
	srcaddr = fake_routes_follow();
	fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2"), 0);
		memcpy(host.reads, rows[i].reads, sizeof(host.reads));
		host.read = host.dumped = 0;
		assert_int_equal(rcm_srcaddr_is_stale(srcaddr), rows[i].stale);
		assert_int_equal(host.read, rows[i].read);
		assert_int_equal(host.dumped, 0);
		memset(host.reads, 0, sizeof(host.reads));
		/* Until they are read anew each is asked for, and none is kept. */
		for (int j = 0; j < 2; j++)
			assert_int_equal(fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2"), rows[i].stale ? 2 : 0);
		assert_int_equal(rcm_srcaddr_is_stale(srcaddr), rows[i].stale);
		rcm_srcaddr_follow(srcaddr);
		assert_int_equal(host.dumped, rows[i].stale);
		assert_false(rcm_srcaddr_is_stale(srcaddr));
		assert_int_equal(fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2"), rows[i].stale ? 2 : 0);
	}
	rcm_srcaddr_close(srcaddr);
}

/* What ran out may be there next time; what isn't told isn't asked for again. */
static void test_srcaddr_lists_that_can_not_be_read_are_read_again_where_means_ran_out(void **state)
{
	static const struct {
		int addresses, routes;
		bool stale;
	} rows[] = {
		{ 0, 0, false }, { -EPERM, -EPERM, false }, { -ENOMEM, 0, true }, { 0, -ENOMEM, true }, { -EMFILE, -EMFILE, true },
		{ 0, -ENFILE, true },
	};
	struct rcm_srcaddr *srcaddr;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		host.addresses_error = rows[i].addresses;
		host.routes_error = rows[i].routes;
		srcaddr = fake_routes_follow();
		assert_int_equal(rcm_srcaddr_is_stale(srcaddr), rows[i].stale);
		host.addresses_error = host.routes_error = host.dumped = 0;
		rcm_srcaddr_follow(srcaddr);
		assert_int_equal(host.dumped, rows[i].stale);
		assert_false(rcm_srcaddr_is_stale(srcaddr));
		rcm_srcaddr_close(srcaddr);
	}
}

static void test_srcaddr_loop_tells_of_a_change_once_until_it_is_followed(void **state)
{
	struct rcm_srcaddr *srcaddr;
	struct rcm_loop loop;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_srcaddr_open(&srcaddr), 0);
	rcm_srcaddr_watch(srcaddr, &loop);
	rcm_srcaddr_follow(srcaddr);
	for (int i = 0; i < 2; i++) {
		host.read = 0;
		assert_false(rcm_srcaddr_is_stale(srcaddr));
		assert_int_equal(host.read, 0);
		assert_int_equal(write(host.news, "x", 1), 1);
		for (int j = 0; j < 3; j++)
			assert_int_equal(rcm_loop_turn(&loop, 0), 0);
		assert_int_equal(host.read, 0);
		host.reads[0] = 1;
		assert_true(rcm_srcaddr_is_stale(srcaddr));
		assert_int_equal(host.read, 2);
		/* The fake's monitor is read by nobody. */
		host.dumped = 0;
		rcm_srcaddr_follow(srcaddr);
		assert_int_equal(host.dumped, 1);
	}
	rcm_srcaddr_close(srcaddr);
	rcm_loop_done(&loop);
}

static void test_srcaddr_without_a_monitor_nothing_is_kept_nor_read(void **state)
{
	struct rcm_srcaddr *srcaddr;

	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(host.socket_error, 0, sizeof(host.socket_error));
		host.socket_error[AF_NETLINK] = i == 0 ? EAFNOSUPPORT : i == 1 ? EPERM : 0;
		host.bind_error = i == 2 ? EPERM : 0;
		srcaddr = fake_routes_follow();
		for (int j = 0; j < 2; j++)
			assert_int_equal(fake_routes_asked_for(srcaddr, "192.0.2.1", "192.0.2.2"), 2);
		assert_false(rcm_srcaddr_is_stale(srcaddr));
		assert_int_equal(host.dumped, 0);
		assert_int_equal(host.read, 0);
		rcm_srcaddr_close(srcaddr);
	}
}

static void test_srcaddr_can_not_be_opened_where_means_ran_out(void **state)
{
	static const int errors[] = { ENOMEM, EMFILE, ENFILE };
	struct rcm_srcaddr *srcaddr = (void *)&host, *other = (void *)&host;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		host.socket_error[AF_NETLINK] = errors[i];
		assert_int_equal(rcm_srcaddr_open(&srcaddr), -errors[i]);
		assert_ptr_equal(srcaddr, &host);
	}
	host.socket_error[AF_NETLINK] = 0;
	srcaddr = fake_routes_follow();
	host.socket_error[AF_NETLINK] = EMFILE;
	assert_int_equal(rcm_srcaddr_renew(srcaddr, &other), -EMFILE);
	assert_ptr_equal(other, &host);
	rcm_srcaddr_close(srcaddr);
}

/* A family that isn't there is out of reach; what this process lacks says nothing, and no order is made of it. */
static void test_srcaddr_without_sockets_only_a_missing_family_says_something(void **state)
{
	static const struct fake_way both[] = { { "192.0.2.1", "192.0.2.9" }, { "2001:db8::1", "2001:db8::9" } };
	static const struct {
		int family, error;
		const char *given[2], *first;
	} rows[] = {
		{ AF_INET6, 0, { "192.0.2.1", "2001:db8::1" }, "2001:db8::1" },
		{ AF_INET6, EAFNOSUPPORT, { "2001:db8::1", "192.0.2.1" }, "192.0.2.1" },
		{ AF_INET, EAFNOSUPPORT, { "192.0.2.1", "2001:db8::1" }, "2001:db8::1" },
		{ AF_INET6, EMFILE, { "192.0.2.1", "2001:db8::1" }, "192.0.2.1" },
		{ AF_INET, EPERM, { "192.0.2.1", "2001:db8::1" }, "192.0.2.1" },
	};
	struct rcm_srcaddr *srcaddr;

	(void)state;
	HOST_HAS(ways, both);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		union rcm_dns_address two[] = { fake_address(rows[i].given[0]), fake_address(rows[i].given[1]) };
		union rcm_dns_address first = fake_address(rows[i].first);

		memset(host.socket_error, 0, sizeof(host.socket_error));
		srcaddr = fake_routes_follow();
		host.socket_error[rows[i].family] = rows[i].error;
		rcm_srcaddr_sort(srcaddr, two, 2);
		assert_memory_equal(&two[0], &first, sizeof(first));
		rcm_srcaddr_close(srcaddr);
	}
}

static void test_srcaddr_renewed_one_ranks_alike_and_has_read_all(void **state)
{
	static const struct fake_way both[] = { { "192.0.2.1", "192.0.2.9" }, { "2001:db8::1", "2001:db8::9" } };
	struct rcm_policy upside_down = rcm_policy_default;
	struct rcm_srcaddr *srcaddr, *renewed;

	(void)state;
	HOST_HAS(ways, both);
	upside_down.precedences.rows[1].value = 100;
	srcaddr = fake_routes_follow();
	for (int i = 0; i < 2; i++) {
		union rcm_dns_address two[] = { fake_address("192.0.2.1"), fake_address("2001:db8::1") };

		rcm_srcaddr_sort(srcaddr, two, 2);
		assert_int_equal(two[0].sa.sa_family, i ? AF_INET : AF_INET6);
		/* The ways are the same. */
		assert_int_equal(host.asked, 2);
		rcm_srcaddr_rank(srcaddr, &upside_down);
	}
	host.dumped = 0;
	assert_int_equal(rcm_srcaddr_renew(srcaddr, &renewed), 0);
	assert_int_equal(host.dumped, 1);
	assert_false(rcm_srcaddr_is_stale(renewed));
	for (int i = 0; i < 2; i++) {
		union rcm_dns_address two[] = { fake_address("2001:db8::1"), fake_address("192.0.2.1") };
		struct rcm_order *orders = rcm_srcaddr_sort_why(i ? srcaddr : renewed, two, 2);

		assert_int_equal(two[0].sa.sa_family, AF_INET);
		assert_int_equal(orders[0].rule, 6);
		assert_int_equal(host.asked, 4);
		free(orders);
	}
	rcm_srcaddr_close(renewed);
	rcm_srcaddr_close(srcaddr);
}

static void test_srcaddr_ways_are_kept_up_to_their_limit_and_begun_anew_beyond_it(void **state)
{
	union rcm_dns_address many[RCM_WAYS_MAX];
	struct rcm_srcaddr *srcaddr;

	(void)state;
	for (unsigned i = 0; i < RCM_WAYS_MAX; i++) {
		many[i] = fake_address("10.0.0.0");
		many[i].in.sin_addr.s_addr = htonl(0x0a000000 + i);
	}
	srcaddr = fake_routes_follow();
	rcm_srcaddr_sort(srcaddr, many, RCM_WAYS_MAX);
	rcm_srcaddr_sort(srcaddr, many, RCM_WAYS_MAX);
	assert_int_equal(host.asked, RCM_WAYS_MAX);
	assert_int_equal(fake_routes_asked_for(srcaddr, "10.0.0.0", "10.1.0.0"), 1);
	assert_int_equal(fake_routes_asked_for(srcaddr, "10.1.0.0", "10.0.0.1"), 1);
	assert_int_equal(fake_routes_asked_for(srcaddr, "10.0.0.1", "10.1.0.0"), 0);
	rcm_srcaddr_close(srcaddr);
}

#define NEWS_TEST(f) cmocka_unit_test_setup_teardown(f, fake_routes_begin, fake_routes_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NEWS_TEST(test_srcaddr_ways_are_forgotten_when_the_kernel_tells_of_a_change),
		NEWS_TEST(test_srcaddr_lists_that_can_not_be_read_are_read_again_where_means_ran_out),
		NEWS_TEST(test_srcaddr_loop_tells_of_a_change_once_until_it_is_followed),
		NEWS_TEST(test_srcaddr_without_a_monitor_nothing_is_kept_nor_read),
		NEWS_TEST(test_srcaddr_can_not_be_opened_where_means_ran_out),
		NEWS_TEST(test_srcaddr_without_sockets_only_a_missing_family_says_something),
		NEWS_TEST(test_srcaddr_renewed_one_ranks_alike_and_has_read_all),
		NEWS_TEST(test_srcaddr_ways_are_kept_up_to_their_limit_and_begun_anew_beyond_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
