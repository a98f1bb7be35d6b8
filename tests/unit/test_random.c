/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that nobody can guess, where the kernel has none, or few. */
#include "dns/random.h"

#include <errno.h>
#include <limits.h>
#include <sys/random.h>

#include "test.h"

static unsigned calls;
static ssize_t most;		/* bytes of a call; < 0: -errno */

ssize_t __real_getrandom(void *bytes, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t len, unsigned flags);

ssize_t __wrap_getrandom(void *bytes, size_t len, unsigned flags)
{
	calls++;
	/* A thread that serves others must not wait for the kernel to have seen enough of the world. */
	assert_true(flags & GRND_NONBLOCK);
	if (most < 0) {
		errno = (int)-most;
		return -1;
	}
	return __real_getrandom(bytes, len < (size_t)most ? len : (size_t)most, flags);
}

static void test_random_without_any_is_an_error_until_there_are_some(void **state)
{
	struct rcm_random random = { 0 };
	uint16_t number;

	(void)state;
	most = -EAGAIN;
	assert_int_equal(rcm_random_take(&random, &number), -EAGAIN);
	most = -ENOSYS;
	assert_int_equal(rcm_random_take(&random, &number), -ENOSYS);
	most = 0;
	assert_int_equal(rcm_random_take(&random, &number), -EIO);
	/* Half a number is none. */
	most = 1;
	assert_int_equal(rcm_random_take(&random, &number), -EIO);
	most = 2;
	assert_int_equal(rcm_random_take(&random, &number), 0);
}

static void test_random_hands_out_what_came_and_no_more(void **state)
{
	struct rcm_random random = { 0 };
	uint16_t number;

	(void)state;
	most = 7;
	calls = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(rcm_random_take(&random, &number), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(rcm_random_take(&random, &number), 0);
	assert_int_equal(calls, 2);
}

static void test_random_of_many_calls_the_system_once(void **state)
{
	struct rcm_random random = { 0 };
	uint16_t number;

	(void)state;
	most = SSIZE_MAX;
	calls = 0;
	for (size_t i = 0; i < sizeof(random.stock) / sizeof(*random.stock); i++)
		assert_int_equal(rcm_random_take(&random, &number), 0);
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_without_any_is_an_error_until_there_are_some),
		cmocka_unit_test(test_random_hands_out_what_came_and_no_more),
		cmocka_unit_test(test_random_of_many_calls_the_system_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
