/* SPDX-License-Identifier: BSD-2-Clause */
/* Which service records a resolution takes. */
#include "resolve/accept.h"

#include "base/sysfs.h"
#include "fake_sysfs.h"
#include "test.h"

#define PORT "class/infiniband/mlx5_0/ports/1/"

static const struct rcm_gid own = { { 0xfe, 0x80, [15] = 1 } }, a = { { 0xfe, 0x80, [15] = 7 } },
	b = { { 0xfe, 0x80, [15] = 8 } }, c = { { 0xfe, 0x80, [15] = 9 } };

static struct rcm_accept *accept;
static struct rcm_rank_memory memory;

static int setup(void **state)
{
	(void)state;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add(PORT "state", "4: ACTIVE");
	rcm_fake_sysfs_add(PORT "link_layer", "InfiniBand");
	rcm_fake_sysfs_add(PORT "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	rcm_fake_sysfs_add(PORT "pkeys/0", "0xffff");
	rcm_fake_sysfs_add(PORT "pkeys/1", "0x0005");
	memory = (struct rcm_rank_memory){ .count = 0 };
	accept = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_accept_put(accept);
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	return 0;
}

static bool takes(const struct rcm_gid *gid, uint16_t pkey)
{
	return rcm_accept_takes(accept, &memory, &own, gid, pkey);
}

static void test_accept_of_nothing_said_takes_all(void **state)
{
	(void)state;
	assert_int_equal(rcm_accept_new(false, NULL, 0, &accept), 0);
	assert_null(accept);
	assert_true(takes(&a, 0));
	assert_int_equal(rcm_accept_size(NULL), 0);
}

static void test_accept_of_gids_takes_these_in_whatever_order(void **state)
{
	const struct rcm_gid gids[] = { c, a };

	(void)state;
	assert_int_equal(rcm_accept_new(false, gids, 2, &accept), 0);
	assert_null(rcm_accept_get(NULL));
	rcm_accept_put(NULL);
	/* Each of its holders has it. */
	assert_ptr_equal(rcm_accept_get(accept), accept);
	rcm_accept_put(accept);
	assert_true(takes(&a, 5));
	assert_false(takes(&b, 0xffff));
	assert_true(takes(&c, 0));
}

/* Of a record that names no partition nothing is known. */
static void test_accept_of_full_members_takes_records_of_these_partitions(void **state)
{
	(void)state;
	assert_int_equal(rcm_accept_new(true, NULL, 0, &accept), 0);
	assert_true(takes(&a, 0xffff));
	assert_true(takes(&a, 0x7fff));
	assert_false(takes(&a, 0x8005));
	assert_false(takes(&a, 0x8006));
	assert_false(takes(&a, 0));
}

static void test_accept_of_both_takes_what_is_both(void **state)
{
	(void)state;
	assert_int_equal(rcm_accept_new(true, &a, 1, &accept), 0);
	assert_true(takes(&a, 0xffff));
	assert_false(takes(&a, 0x8005));
	assert_false(takes(&b, 0xffff));
}

static void test_accept_is_written_alike_for_the_same_gids_alone(void **state)
{
	const struct rcm_gid one[] = { a, b }, other[] = { b, a };
	struct rcm_accept *same;
	uint8_t x[33], y[33];

	(void)state;
	assert_int_equal(rcm_accept_new(false, one, 2, &accept), 0);
	assert_int_equal(rcm_accept_new(false, other, 2, &same), 0);
	assert_int_equal(rcm_accept_size(accept), 33);
	rcm_accept_write(accept, x);
	rcm_accept_write(same, y);
	assert_memory_equal(x, y, sizeof(x));
	rcm_accept_put(same);
	assert_int_equal(rcm_accept_new(true, one, 2, &same), 0);
	rcm_accept_write(same, y);
	assert_memory_not_equal(x, y, sizeof(x));
	rcm_accept_put(same);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_accept_of_nothing_said_takes_all),
		T(test_accept_of_gids_takes_these_in_whatever_order),
		T(test_accept_of_full_members_takes_records_of_these_partitions),
		T(test_accept_of_both_takes_what_is_both),
		T(test_accept_is_written_alike_for_the_same_gids_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
