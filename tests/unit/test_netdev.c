/* SPDX-License-Identifier: BSD-2-Clause */
/* Network interfaces of RDMA devices, in a directory that stands for /sys. */
#include <net/if.h>
#include <stdio.h>

#include "addr/netdev.h"
#include "base/clock.h"
#include "base/sysfs.h"
#include "fake_clock.h"
#include "fake_sysfs.h"
#include "test.h"

static struct rcm_netdevs known;
static unsigned lo;
static unsigned searches, lists;
static bool no_list;
static const char *only;			/* the name of the one interface there is, of index ONLY */

static unsigned many;				/* so many there are, net0 of index ONLY and so on */

enum { ONLY = 7777 };

unsigned __real_if_nametoindex(const char *name);
unsigned __wrap_if_nametoindex(const char *name);

unsigned __wrap_if_nametoindex(const char *name)
{
	searches++;
	return __real_if_nametoindex(name);
}

struct if_nameindex *__real_if_nameindex(void);
struct if_nameindex *__wrap_if_nameindex(void);

struct if_nameindex *__wrap_if_nameindex(void)
{
	struct if_nameindex *list;

	lists++;
	if (many) {
		list = calloc(many + 1, sizeof(*list));
		assert_non_null(list);
		for (unsigned i = 0; i < many; i++) {
			list[i].if_index = ONLY + i;
			assert_true(asprintf(&list[i].if_name, "net%u", i) > 0);
		}
		return list;
	}
	if (!only)
		return no_list ? NULL : __real_if_nameindex();
	/* As the C library makes and frees it. */
	list = calloc(2, sizeof(*list));
	assert_non_null(list);
	list->if_index = ONLY;
	list->if_name = strdup(only);
	return list;
}

static int setup(void **state)
{
	(void)state;
	known = (struct rcm_netdevs){ 0 };
	lo = if_nametoindex("lo");
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_clock_use(RCM_NS_PER_S);
	return lo == 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	rcm_clock_replace(NULL);
	return 0;
}

static void test_netdev_without_rdma_device_there_is_none(void **state)
{
	(void)state;
	assert_false(rcm_netdevs_any(&known));
	assert_false(rcm_netdevs_has(&known, lo));
}

static void test_netdev_of_the_device_itself_is_found(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/mlx5_0/device/net/lo", NULL);
	assert_true(rcm_netdevs_any(&known));
	assert_true(rcm_netdevs_has(&known, lo));
	assert_false(rcm_netdevs_has(&known, lo + 1000));
}

static void test_netdev_that_a_gid_stands_for_is_found(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "no-such-dev");
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1", "");
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/7", "lo");
	assert_true(rcm_netdevs_has(&known, lo));
}

/* The kernel starts modprobe for each. */
static void test_netdev_of_another_namespace_is_not_asked_for_by_name(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "no-such-dev");
	searches = 0;
	assert_false(rcm_netdevs_has(&known, lo));
	assert_int_equal(searches, 0);
}

/* No descriptor, say: a table may have hundreds of GIDs. */
static void test_netdev_list_that_is_not_to_be_had_is_asked_for_once(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "lo");
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1", "lo");
	no_list = true;
	lists = 0;
	assert_false(rcm_netdevs_has(&known, lo));
	no_list = false;
	assert_int_equal(lists, 1);
	rcm_fake_clock_advance(RCM_NS_PER_S);
	assert_true(rcm_netdevs_has(&known, lo));
}

/* A table of a thousand entries is not read to its end. */
static void test_netdev_gids_after_many_empty_entries_are_none(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "no-such-dev");
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/33", "lo");
	assert_false(rcm_netdevs_has(&known, lo));
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1", "no-such-dev");
	rcm_fake_clock_advance(RCM_NS_PER_S);
	assert_true(rcm_netdevs_has(&known, lo));
}

static void test_netdev_names_that_fit_no_interface_are_left_out(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/infiniband/rxe0/device/net/a-name-that-is-much-too-long-for-one", NULL);
	rcm_fake_sysfs_add("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "a-name-that-is-much-too-long-for-one");
	assert_true(rcm_netdevs_any(&known));
	assert_false(rcm_netdevs_has(&known, lo));
}

static void test_netdevs_are_told_apart_up_to_their_limit(void **state)
{
	char path[80], name[16];

	(void)state;
	many = RCM_NETDEVS_MAX + 1;
	for (unsigned i = 0; i < many; i++) {
		snprintf(path, sizeof(path), "class/infiniband/rxe0/ports/1/gid_attrs/ndevs/%u", i);
		snprintf(name, sizeof(name), "net%u", i);
		rcm_fake_sysfs_add(path, name);
	}
	assert_true(rcm_netdevs_has(&known, ONLY + RCM_NETDEVS_MAX - 1));
	assert_false(rcm_netdevs_has(&known, ONLY + RCM_NETDEVS_MAX));
	many = 0;
}

static void test_netdev_of_the_longest_name_is_found(void **state)
{
	(void)state;
	only = "fifteen-letters";
	rcm_fake_sysfs_add("class/infiniband/rxe0/device/net/fifteen-letters", NULL);
	assert_true(rcm_netdevs_has(&known, ONLY));
	only = "sixteen--letters";
	rcm_fake_sysfs_add("class/infiniband/rxe0/device/net/sixteen--letters", NULL);
	rcm_fake_clock_advance(RCM_NS_PER_S);
	assert_false(rcm_netdevs_has(&known, ONLY));
	only = NULL;
}

/* F22: new devices appear, removed ones go. */
static void test_netdev_changes_are_noticed_within_a_second(void **state)
{
	(void)state;
	assert_false(rcm_netdevs_any(&known));
	rcm_fake_sysfs_add("class/infiniband/mlx5_0/device/net/lo", NULL);
	rcm_fake_clock_advance(RCM_NS_PER_S - 1);
	assert_false(rcm_netdevs_has(&known, lo));
	rcm_fake_clock_advance(1);
	assert_true(rcm_netdevs_has(&known, lo));
	rcm_fake_sysfs_done();
	rcm_fake_clock_advance(RCM_NS_PER_S);
	assert_false(rcm_netdevs_has(&known, lo));
	assert_false(rcm_netdevs_any(&known));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_netdev_without_rdma_device_there_is_none),
		T(test_netdev_of_the_device_itself_is_found),
		T(test_netdev_that_a_gid_stands_for_is_found),
		T(test_netdev_of_another_namespace_is_not_asked_for_by_name),
		T(test_netdev_list_that_is_not_to_be_had_is_asked_for_once),
		T(test_netdev_gids_after_many_empty_entries_are_none),
		T(test_netdev_names_that_fit_no_interface_are_left_out),
		T(test_netdevs_are_told_apart_up_to_their_limit),
		T(test_netdev_of_the_longest_name_is_found),
		T(test_netdev_changes_are_noticed_within_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
