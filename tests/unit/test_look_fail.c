/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at a port in a process that has no descriptor left for one of their files, whichever: that says nothing of it. */
#include <arpa/inet.h>
#include <errno.h>

#include "base/sysfs.h"
#include "fake_means.h"
#include "fake_sysfs.h"
#include "publish/look.h"
#include "sa/port.h"
#include "test.h"

#define PORT "class/infiniband/mlx5_0/ports/1/"

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
	rcm_fake_sysfs_add(PORT "pkeys/1", "0x8002");
	rcm_fake_sysfs_add(PORT "pkeys/2", "0xffff");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	return 0;
}

/* Each descriptor in its turn, until a look needs no more of them. */
static unsigned look_with_each_failing(const char *known_by)
{
	struct rcm_publish_port port, before;
	unsigned nth = 1;
	int ret;

	inet_pton(AF_INET6, known_by, gid.raw);
	for (;; nth++) {
		memset(&port, 0x5a, sizeof(port));
		before = port;
		fake_means_fail(FAKE_DESCRIPTORS, nth);
		ret = rcm_publish_look(&gid, true, &port);
		if (!fake_means_calm())
			break;
		assert_int_equal(ret, -EMFILE);
		assert_memory_equal(&port, &before, sizeof(port));
	}
	assert_int_equal(ret, 0);
	assert_int_equal(port.pkey, 0xffff);
	return nth;
}

static void test_look_without_a_descriptor_says_so_and_finds_nothing(void **state)
{
	(void)state;
	assert_true(look_with_each_failing("fe80::10:0:0:1") > 7);
}

static void test_look_by_the_guid_without_a_descriptor_says_so_and_finds_nothing(void **state)
{
	(void)state;
	assert_true(look_with_each_failing("fec0::10:0:0:1") > 7);
}

static void test_port_pkey_without_a_descriptor_is_not_another(void **state)
{
	uint16_t pkey, index;

	(void)state;
	for (unsigned nth = 1; nth <= 3; nth++) {
		fake_means_fail(FAKE_DESCRIPTORS, nth);
		assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), -EMFILE);
		assert_true(fake_means_calm());
	}
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(index, 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_look_without_a_descriptor_says_so_and_finds_nothing),
		T(test_look_by_the_guid_without_a_descriptor_says_so_and_finds_nothing),
		T(test_port_pkey_without_a_descriptor_is_not_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
