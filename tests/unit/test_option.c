/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: the resolver's values and lengths, the kernel's passed on. */
#include "cm/option.h"

#include <errno.h>
#include <rdma/rai.h>

#include "cm/id.h"
#include "cm/life.h"
#include "fake_engine.h"
#include "fake_ucma.h"
#include "resolve/accept.h"
#include "resolve/resolve.h"
#include "test.h"

static struct rcm_channel *channel;
static struct rcm_id *id;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_open_result(-ENODEV);
	return rcm_channel_new(&channel) || rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	return 0;
}

static int set(int name, uint32_t value)
{
	return rcm_option_set(id, RDMA_OPTION_RAI, name, &value, sizeof(value));
}

static void test_option_of_the_resolver_is_kept(void **state)
{
	(void)state;
	assert_int_equal(id->options.deadline_ms, RCM_DEADLINE_DEFAULT);
	assert_int_equal(set(RAI_OPTION_DEADLINE_MS, 250), 0);
	assert_int_equal(set(RAI_OPTION_FRESH, 1), 0);
	assert_int_equal(set(RAI_OPTION_SOURCE, RAI_SOURCE_HOSTS), 0);
	assert_int_equal(id->options.deadline_ms, 250);
	assert_true(id->options.fresh);
	assert_int_equal(id->options.source, RCM_DNS_HOSTS);
	assert_int_equal(set(RAI_OPTION_DEADLINE_MS, 0), 0);
	assert_int_equal(id->options.deadline_ms, 0);
	assert_int_equal(set(RAI_OPTION_DEADLINE_MS, UINT32_MAX), 0);
	assert_int_equal(id->options.deadline_ms, UINT32_MAX - 1);
}

static void test_option_of_wrong_value_or_length_changes_nothing(void **state)
{
	struct rcm_options before = id->options;
	uint32_t value = 1;

	(void)state;
	assert_int_equal(set(RAI_OPTION_FRESH, 2), -EINVAL);
	assert_int_equal(set(RAI_OPTION_SOURCE, 3), -EINVAL);
	for (size_t len = 0; len <= 8; len++)
		if (len != 4)
			assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &value, len),
					 -EINVAL);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, NULL, 4), -EINVAL);
	assert_memory_equal(&before, &id->options, sizeof(before));
}

static void test_option_of_accepted_records_is_kept_of_both_kinds(void **state)
{
	static const struct rcm_gid gids[RCM_ACCEPT_GIDS_MAX + 1] = { { { 9 } }, { { 7 } } };

	(void)state;
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, gids, 32), 0);
	assert_int_equal(set(RAI_OPTION_SERVICE_FULL, 1), 0);
	assert_true(id->options.accept->full);
	assert_int_equal(id->options.accept->count, 2);
	assert_int_equal(id->options.accept->gids[0].raw[0], 7);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, NULL, 16), -EINVAL);
	assert_int_equal(id->options.accept->count, 2);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, NULL, 0), 0);
	assert_true(id->options.accept->full);
	assert_int_equal(id->options.accept->count, 0);
	assert_int_equal(set(RAI_OPTION_SERVICE_FULL, 0), 0);
	assert_null(id->options.accept);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, gids, sizeof(gids) - 16), 0);
	assert_int_equal(id->options.accept->count, RCM_ACCEPT_GIDS_MAX);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, gids, sizeof(gids)), -EINVAL);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, gids, 15), -EINVAL);
	assert_int_equal(set(RAI_OPTION_SERVICE_FULL, 2), -EINVAL);
	assert_int_equal(id->options.accept->count, RCM_ACCEPT_GIDS_MAX);
}

static void test_option_of_unknown_level_or_name_is_enosys(void **state)
{
	uint32_t value = 1;

	(void)state;
	assert_int_equal(set(0, 1), -ENOSYS);
	assert_int_equal(set(6, 1), -ENOSYS);
	assert_int_equal(set(-1, 1), -ENOSYS);
	assert_int_equal(rcm_option_set(id, 2, 1, &value, 4), -ENOSYS);
}

static void test_option_of_the_kernel_without_kernel_is_enodev(void **state)
{
	uint8_t tos = 8;

	(void)state;
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), -ENODEV);
}

static void test_option_of_the_kernel_goes_there(void **state)
{
	struct rcm_fake_step *step;
	struct rcm_channel *with;
	struct rcm_id *mine;
	uint8_t tos = 8;

	(void)state;
	rcm_fake_ucma_open_result(0);
	assert_int_equal(rcm_channel_new(&with), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(with, NULL, RDMA_PS_TCP, IBV_QPT_RC, &mine), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);
	rcm_fake_step_field(step, rdma_ucm_set_option, optname, RDMA_OPTION_ID_TOS);
	rcm_fake_step_field(step, rdma_ucm_set_option, optlen, 1);
	assert_int_equal(rcm_option_set(mine, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);
	rcm_fake_step_error(step, EINVAL);
	assert_int_equal(rcm_option_set(mine, RDMA_OPTION_ID, 77, &tos, 1), -EINVAL);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_id_destroy(mine);
	rcm_channel_close(with);
}

/* A kernel's id that takes the place of another has to be told what that was told. */
static void test_option_that_the_kernel_took_is_given_to_the_next_kernels_id(void **state)
{
	static const struct {
		int level, name;
		size_t len;
		int error;
		bool again;
	} cases[] = {
		{ RDMA_OPTION_ID, 0, 1, 0, true },
		{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 4, 0, true },
		{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT + 1, 1, 0, false },
		{ RDMA_OPTION_ID, -1, 1, 0, false },
		{ RDMA_OPTION_ID, 1, 5, 0, false },
		{ RDMA_OPTION_ID, 1, 4, EINVAL, false },
		{ RDMA_OPTION_IB, 1, 4, 0, false },
	};
	uint8_t value[] = { 1, 2, 3, 4, 5 };
	struct rcm_channel *with;
	struct rcm_id *mine;

	(void)state;
	rcm_fake_ucma_open_result(0);
	rcm_fake_ucma_lenient(true);
	assert_int_equal(rcm_channel_new(&with), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned before;

		assert_int_equal(rcm_id_new(with, NULL, RDMA_PS_TCP, IBV_QPT_RC, &mine), 0);
		if (cases[i].error)
			rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION), cases[i].error);
		assert_int_equal(rcm_option_set(mine, cases[i].level, cases[i].name, value, cases[i].len), -cases[i].error);
		before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_SET_OPTION);
		if (cases[i].again) {
			struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);

			rcm_fake_step_field(step, rdma_ucm_set_option, level, RDMA_OPTION_ID);
			rcm_fake_step_field(step, rdma_ucm_set_option, optname, (uint32_t)cases[i].name);
			rcm_fake_step_field(step, rdma_ucm_set_option, optlen, (uint32_t)cases[i].len);
		}
		assert_int_equal(rcm_option_replay(mine), 0);
		assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_SET_OPTION), before + cases[i].again);
		rcm_id_destroy(mine);
	}
	rcm_channel_close(with);
}

static void test_options_are_given_again_until_the_kernel_refuses_one(void **state)
{
	struct rcm_channel *with;
	struct rcm_id *mine;
	uint8_t value = 1;
	unsigned before;

	(void)state;
	rcm_fake_ucma_open_result(0);
	rcm_fake_ucma_lenient(true);
	assert_int_equal(rcm_channel_new(&with), 0);
	assert_int_equal(rcm_id_new(with, NULL, RDMA_PS_TCP, IBV_QPT_RC, &mine), 0);
	for (int name = 0; name < 3; name++)
		assert_int_equal(rcm_option_set(mine, RDMA_OPTION_ID, name, &value, 1), 0);
	before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_SET_OPTION);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION), EPERM);
	assert_int_equal(rcm_option_replay(mine), -EPERM);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_SET_OPTION), before + 2);
	rcm_id_destroy(mine);
	rcm_channel_close(with);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_option_of_the_resolver_is_kept),
		TEST(test_option_of_wrong_value_or_length_changes_nothing),
		TEST(test_option_of_accepted_records_is_kept_of_both_kinds),
		TEST(test_option_of_unknown_level_or_name_is_enosys),
		TEST(test_option_of_the_kernel_without_kernel_is_enodev),
		TEST(test_option_of_the_kernel_goes_there),
		TEST(test_option_that_the_kernel_took_is_given_to_the_next_kernels_id),
		TEST(test_options_are_given_again_until_the_kernel_refuses_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
