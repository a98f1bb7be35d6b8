/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of several service records comes first. */
#include "resolve/rank.h"

#include "base/sysfs.h"
#include "fake_sysfs.h"
#include "test.h"

/* From the best on: each difference outweighs all that come after it. */
static void test_rank_goes_by_reach_then_partition_then_preference_then_chance(void **state)
{
	static const struct rcm_rank ranks[] = {
		{ true, true, 1, 9 }, { true, true, 2, 0 }, { true, true, 2, 1 }, { true, false, 0, 0 },
		{ false, true, 0, 0 }, { false, true, 255, 0 }, { false, false, 0, 0 }, { false, false, 0, UINT64_MAX },
	};
	enum { N = sizeof(ranks) / sizeof(*ranks) };

	(void)state;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			assert_int_equal(rcm_rank_compare(&ranks[i], &ranks[j]), i < j ? -1 : i > j);
}

static void test_rank_preference_is_the_last_octet_of_the_first_two_words(void **state)
{
	uint8_t data[64];

	(void)state;
	memset(data, 7, sizeof(data));
	data[15] = 0;
	assert_int_equal(rcm_rank_preference(data), 128);
	data[15] = 1;
	assert_int_equal(rcm_rank_preference(data), 1);
	data[15] = 255;
	assert_int_equal(rcm_rank_preference(data), 255);
}

/* The number was worked out by another program. */
static void test_rank_spread_is_of_client_server_and_service(void **state)
{
	struct rcm_gid client, server, other = { { 0 } };
	const uint64_t id = 0x0707070707070707;
	uint64_t spread;

	(void)state;
	for (uint8_t i = 0; i < 16; i++) {
		client.raw[i] = (uint8_t)(1 + i);
		server.raw[i] = (uint8_t)(101 + i);
	}
	spread = rcm_rank_spread(&client, &server, id);
	assert_true(spread == 0x49f270929ec05d87);
	assert_true(rcm_rank_spread(&other, &server, id) != spread);
	assert_true(rcm_rank_spread(&client, &other, id) != spread);
	assert_true(rcm_rank_spread(&client, &server, id + 1) != spread);
}

#define PORT "class/infiniband/mlx5_0/ports/1/"

static void test_rank_looks_each_partition_up_once_as_long_as_sixteen_are_remembered(void **state)
{
	static const struct rcm_gid port = { { 0xfe, 0x80, [15] = 1 } }, other = { { 0xfe, 0x80, [15] = 2 } };
	struct rcm_rank_memory memory = { .count = 0 };

	(void)state;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add(PORT "state", "4: ACTIVE");
	rcm_fake_sysfs_add(PORT "link_layer", "InfiniBand");
	rcm_fake_sysfs_add(PORT "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	rcm_fake_sysfs_add(PORT "pkeys/0", "0xffff");
	rcm_fake_sysfs_add(PORT "pkeys/1", "0x0005");
	assert_false(rcm_rank_is_full(&memory, &port, 0));
	assert_int_equal(memory.count, 0);
	assert_true(rcm_rank_is_full(&memory, &port, 0x7fff));
	assert_false(rcm_rank_is_full(&memory, &port, 0x8005));
	assert_false(rcm_rank_is_full(&memory, &other, 0x7fff));
	assert_int_equal(memory.count, 3);
	rcm_fake_sysfs_done();
	assert_true(rcm_rank_is_full(&memory, &port, 0x7fff));
	for (uint16_t pkey = 100; pkey < 113; pkey++)
		assert_false(rcm_rank_is_full(&memory, &port, pkey));
	assert_int_equal(memory.count, 16);
	assert_true(rcm_rank_is_full(&memory, &port, 0x7fff));
	assert_false(rcm_rank_is_full(&memory, &port, 112));
	assert_int_equal(memory.count, 16);
	/* The oldest makes room. */
	assert_false(rcm_rank_is_full(&memory, &port, 113));
	assert_false(rcm_rank_is_full(&memory, &port, 0x7fff));
	assert_int_equal(memory.count, 18);
	assert_false(rcm_rank_is_full(&memory, &other, 0x7fff));
	assert_int_equal(memory.count, 18);
	rcm_sysfs_replace(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_goes_by_reach_then_partition_then_preference_then_chance),
		cmocka_unit_test(test_rank_preference_is_the_last_octet_of_the_first_two_words),
		cmocka_unit_test(test_rank_spread_is_of_client_server_and_service),
		cmocka_unit_test(test_rank_looks_each_partition_up_once_as_long_as_sixteen_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
