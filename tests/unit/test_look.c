/* SPDX-License-Identifier: BSD-2-Clause */
/* What a registration depends on of its port, in a /sys of the test's own. */
#include "publish/look.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/sysfs.h"
#include "fake_sysfs.h"
#include "test.h"

#define PORT "class/infiniband/mlx5_0/ports/1/"

static struct rcm_publish_port port;
static struct rcm_gid gid;

static int setup(void **state)
{
	(void)state;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add(PORT "state", "4: ACTIVE");
	rcm_fake_sysfs_add(PORT "lid", "0x4");
	rcm_fake_sysfs_add(PORT "sm_lid", "0x9");
	rcm_fake_sysfs_add(PORT "link_layer", "InfiniBand");
	rcm_fake_sysfs_add(PORT "gids/0", "fe80:0000:0000:0000:0010:0000:0000:0001");
	rcm_fake_sysfs_add(PORT "pkeys/0", "0x8001");
	rcm_fake_sysfs_add(PORT "pkeys/1", "0x0000");
	inet_pton(AF_INET6, "fe80::10:0:0:1", gid.raw);
	memset(&port, 0, sizeof(port));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	return 0;
}

static void test_look_finds_state_lids_and_the_first_p_key(void **state)
{
	(void)state;
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	assert_true(port.active);
	assert_int_equal(port.lid, 4);
	assert_int_equal(port.sm_lid, 9);
	assert_int_equal(port.pkey, 0x8001);
	assert_memory_equal(&port.gid, &gid, sizeof(gid));
}

/* A file that isn't there, or has no number in it. */
static void test_look_of_what_is_not_told_is_zero(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add(PORT "link_layer", "InfiniBand");
	rcm_fake_sysfs_add(PORT "gids/0", "fe80:0000:0000:0000:0010:0000:0000:0001");
	rcm_fake_sysfs_add(PORT "state", "4: ACTIVE");
	rcm_fake_sysfs_add(PORT "sm_lid", "none");
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	assert_true(port.active);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port.sm_lid, 0);
	assert_int_equal(port.pkey, 0);
}

static void test_look_prefers_the_default_partition(void **state)
{
	unsigned before;

	(void)state;
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	before = port.pkeys;
	rcm_fake_sysfs_add(PORT "pkeys/1", "0x7fff");
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	assert_int_equal(port.pkey, 0x7fff);
	assert_int_not_equal(port.pkeys, before);
	rcm_fake_sysfs_add(PORT "pkeys/2", "0xffff");
	rcm_fake_sysfs_add(PORT "pkeys/3", "0x7fff");
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	assert_int_equal(port.pkey, 0xffff);
}

static void test_look_without_p_keys_leaves_those_alone(void **state)
{
	(void)state;
	port.pkey = 0x8005;
	port.pkeys = 5;
	assert_int_equal(rcm_publish_look(&gid, false, &port), 0);
	assert_int_equal(port.pkey, 0x8005);
	assert_int_equal(port.pkeys, 5);
	assert_int_equal(port.sm_lid, 9);
}

static void test_look_follows_a_port_whose_prefix_has_changed(void **state)
{
	(void)state;
	inet_pton(AF_INET6, "fec0::10:0:0:1", gid.raw);
	assert_int_equal(rcm_publish_look(&gid, true, &port), 0);
	assert_int_equal(port.gid.raw[1], 0x80);
	assert_int_equal(port.sm_lid, 9);
}

static void test_look_for_another_port_finds_none(void **state)
{
	(void)state;
	inet_pton(AF_INET6, "fe80::10:0:0:2", gid.raw);
	assert_int_equal(rcm_publish_look(&gid, true, &port), -ENODEV);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_look_finds_state_lids_and_the_first_p_key),
		T(test_look_of_what_is_not_told_is_zero),
		T(test_look_prefers_the_default_partition),
		T(test_look_without_p_keys_leaves_those_alone),
		T(test_look_follows_a_port_whose_prefix_has_changed),
		T(test_look_for_another_port_finds_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
