/* SPDX-License-Identifier: BSD-2-Clause */
/* Order by reach, with routes that the test makes up: 10.0.0.0/8 goes out of the interface that an RDMA device uses. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>

#include "addr/reach.h"
#include "base/clock.h"
#include "base/sysfs.h"
#include "fake_clock.h"
#include "fake_sysfs.h"
#include "test.h"

static struct rcm_result results[6];
static unsigned count, asked;
static bool route_gone;

static struct rcm_reach reach;

static int made_up(struct rcm_router *router, const union rcm_sockaddr *dst, struct rcm_route *ret_route)
{
	(void)router;
	asked++;
	if (dst->sa.sa_family != AF_INET)
		return -ENETUNREACH;
	*ret_route = (struct rcm_route){ .ifindex = 99999 };
	if (ntohl(dst->in.sin_addr.s_addr) >> 24 == 10 && !route_gone)
		ret_route->ifindex = if_nametoindex("lo");
	assert_int_equal(rcm_sockaddr_parse("10.9.9.9", AF_INET, &ret_route->src), 1);
	return 0;
}

static void add(const char *text)
{
	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &results[count++].dst), 1);
}

static void is(unsigned i, const char *text, const char *src)
{
	union rcm_sockaddr want;

	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &want), 1);
	assert_true(rcm_sockaddr_equal(&results[i].dst.sa, &want.sa));
	if (!src) {
		assert_int_equal(results[i].src.sa.sa_family, 0);
		return;
	}
	assert_int_equal(rcm_sockaddr_parse(src, AF_UNSPEC, &want), 1);
	assert_true(rcm_sockaddr_equal(&results[i].src.sa, &want.sa));
}

static int setup(void **state)
{
	(void)state;
	memset(results, 0, sizeof(results));
	count = asked = 0;
	route_gone = false;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/rxe0/device/net/lo", NULL);
	reach = (struct rcm_reach){ .lookup = made_up };
	rcm_fake_clock_use(RCM_NS_PER_S);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	rcm_clock_replace(NULL);
	return 0;
}

/* F11: the name's first address is on a network without RDMA. */
static void test_reach_puts_what_an_rdma_device_reaches_first_and_keeps_the_order_else(void **state)
{
	(void)state;
	add("192.0.2.1");
	add("10.0.0.1");
	add("fd00::1");
	add("10.0.0.2");
	add("192.0.2.2");
	rcm_reach_order(&reach, results, count);
	is(0, "10.0.0.1", "10.9.9.9");
	is(1, "10.0.0.2", "10.9.9.9");
	is(2, "192.0.2.1", NULL);
	is(3, "fd00::1", NULL);
	is(4, "192.0.2.2", NULL);
}

static void test_reach_fills_the_source_only_where_it_is_empty(void **state)
{
	(void)state;
	add("10.0.0.1");
	assert_int_equal(rcm_sockaddr_parse("10.1.1.1", AF_INET, &results[0].src), 1);
	rcm_reach_order(&reach, results, count);
	is(0, "10.0.0.1", "10.1.1.1");
}

static void test_reach_without_rdma_device_asks_nothing_and_changes_nothing(void **state)
{
	(void)state;
	rcm_fake_sysfs_done();
	add("192.0.2.1");
	add("10.0.0.1");
	assert_false(rcm_netdevs_any(&reach.netdevs));
	rcm_reach_order(&reach, results, count);
	is(0, "192.0.2.1", NULL);
	is(1, "10.0.0.1", NULL);
	assert_int_equal(asked, 0);
}

static void test_reach_leaves_ib_addresses_alone(void **state)
{
	(void)state;
	rcm_sockaddr_ib(&results[0].dst, (const uint8_t[16]){ 1 }, 0xffff, 0, 0);
	count = 1;
	add("10.0.0.1");
	rcm_reach_order(&reach, results, count);
	is(0, "10.0.0.1", "10.9.9.9");
	assert_int_equal(results[1].dst.sa.sa_family, AF_IB);
	assert_int_equal(asked, 1);
}

/* F27: a route that changed counts within a second. */
static void test_reach_remembers_a_route_for_a_second(void **state)
{
	(void)state;
	add("10.0.0.1");
	rcm_reach_order(&reach, results, count);
	rcm_fake_clock_advance(RCM_NS_PER_S - 1);
	rcm_reach_order(&reach, results, count);
	assert_int_equal(asked, 1);
	route_gone = true;
	rcm_fake_clock_advance(1);
	memset(&results[0].src, 0, sizeof(results[0].src));
	rcm_reach_order(&reach, results, count);
	assert_int_equal(asked, 2);
	is(0, "10.0.0.1", NULL);
}

static void test_reach_that_is_reset_looks_at_routes_and_devices_anew(void **state)
{
	(void)state;
	add("10.0.0.1");
	rcm_reach_order(&reach, results, count);
	rcm_reach_reset(&reach);
	rcm_reach_order(&reach, results, count);
	assert_int_equal(asked, 2);
	rcm_fake_sysfs_done();
	assert_true(rcm_netdevs_any(&reach.netdevs));
	rcm_reach_reset(&reach);
	assert_false(rcm_netdevs_any(&reach.netdevs));
}

static void test_reach_tells_scopes_of_one_address_apart(void **state)
{
	(void)state;
	add("fe80::1%1");
	add("fe80::1%2");
	rcm_reach_order(&reach, results, count);
	assert_int_equal(asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_reach_puts_what_an_rdma_device_reaches_first_and_keeps_the_order_else),
		T(test_reach_fills_the_source_only_where_it_is_empty),
		T(test_reach_without_rdma_device_asks_nothing_and_changes_nothing),
		T(test_reach_leaves_ib_addresses_alone),
		T(test_reach_remembers_a_route_for_a_second),
		T(test_reach_that_is_reset_looks_at_routes_and_devices_anew),
		T(test_reach_tells_scopes_of_one_address_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
