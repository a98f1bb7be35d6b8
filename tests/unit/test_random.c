/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of chance, where the kernel has none, or few. */
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dns/random.h"
#include "sandbox.h"
#include "test.h"
#include "asleep.h"

enum { MANY = 64 };

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

static ssize_t device_has = -1;	/* bytes of /dev/urandom, each DEVICES; -1: the real one is read */
enum { DEVICES = 0x42 };

ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);

ssize_t __wrap_read(int fd, void *bytes, size_t len)
{
	if (device_has < 0)
		return __real_read(fd, bytes, len);
	len = len < (size_t)device_has ? len : (size_t)device_has;
	memset(bytes, DEVICES, len);
	return (ssize_t)len;
}

/* No two alike, and none that was left as it was. */
static bool are_all_different(void)
{
	uint64_t words[MANY][3];

	for (int i = 0; i < MANY; i++) {
		memset(words[i], 0, sizeof(words[i]));
		rcm_random_fill(words[i], sizeof(words[i]));
		for (int j = 0; j < 3 * i + 3; j++)
			for (int k = 0; k < j; k++)
				if (words[j / 3][j % 3] == words[k / 3][k % 3] || !words[j / 3][j % 3])
					return false;
	}
	return true;
}

static void test_random_that_the_kernel_has_not_or_not_enough_of_is_had_all_the_same(void **state)
{
	static const ssize_t rows[] = { SSIZE_MAX, -EAGAIN, -ENOSYS, -EPERM, 0, 1, 23 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		most = rows[i];
		errno = ENOENT;
		assert_true(are_all_different());
		assert_int_equal(errno, ENOENT);
	}
}

/* All of it, or nothing: half a number of chance is none. */
static void test_random_that_the_kernel_has_not_is_the_devices(void **state)
{
	uint8_t bytes[16], devices[16];

	(void)state;
	most = -EAGAIN;
	memset(devices, DEVICES, sizeof(devices));
	for (device_has = 0; device_has <= 16; device_has++) {
		memset(bytes, 0, sizeof(bytes));
		rcm_random_fill(bytes, sizeof(bytes));
		assert_int_equal(!memcmp(bytes, devices, sizeof(bytes)), device_has == 16);
	}
	device_has = -1;
}

/* Of whatever length, as the library makes them itself where the device has none. */
static void test_random_fills_what_it_is_to_and_no_more(void **state)
{
	static const uint8_t none[32];
	uint8_t bytes[32];

	(void)state;
	most = -EAGAIN;
	device_has = 0;
	for (size_t len = 0; len < 24; len++) {
		memset(bytes, 0, sizeof(bytes));
		rcm_random_fill(bytes, len);
		assert_memory_equal(bytes + len, none, sizeof(bytes) - len);
		if (len > 8)
			assert_memory_not_equal(bytes + len - 8, none, 8);
	}
	device_has = -1;
}

/* Zero, too, is the number of a descriptor. */
static void test_random_of_the_device_leaves_no_descriptor(void **state)
{
	uint8_t bytes[16], devices[16];
	int input = dup(STDIN_FILENO);

	(void)state;
	most = -EAGAIN;
	device_has = sizeof(bytes);
	memset(devices, DEVICES, sizeof(devices));
	close(STDIN_FILENO);
	rcm_random_fill(bytes, sizeof(bytes));
	assert_memory_equal(bytes, devices, sizeof(bytes));
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	device_has = -1;
	if (input >= 0) {
		dup2(input, STDIN_FILENO);
		close(input);
	}
}

static void *fill_cancelled(void *arg)
{
	int before;

	pthread_cancel(pthread_self());
	rcm_random_fill(arg, 16);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before == PTHREAD_CANCEL_ENABLE ? arg : NULL;
}

static void test_random_is_no_cancellation_point(void **state)
{
	uint8_t bytes[16];
	pthread_t thread;
	void *ended;

	(void)state;
	most = -EAGAIN;
	assert_int_equal(pthread_create(&thread, NULL, fill_cancelled, bytes), 0);
	pthread_join(thread, &ended);
	assert_ptr_equal(ended, bytes);
}

/* Nor /dev/urandom, as in a sandbox without /dev; and a child doesn't get its parent's. */
static void test_random_without_any_source_differs_in_each_call_and_process(void **state)
{
	uint64_t own = 0, theirs = 0;
	int status = -1, ends[2];
	pid_t pid;

	(void)state;
	if (emulated())
		skip();
	most = -EAGAIN;
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!sandbox_enter(SYS_openat, SANDBOX_ANY, SANDBOX_REFUSES, EACCES))
			_exit(1);
		if (!are_all_different())
			_exit(2);
		pid = fork();
		rcm_random_fill(&own, sizeof(own));
		if (!pid)
			_exit(write(ends[1], &own, sizeof(own)) != sizeof(own));
		wait(&status);
		_exit(read(ends[0], &theirs, sizeof(theirs)) != sizeof(theirs) || own == theirs ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_random_of_many_calls_the_system_once(void **state)
{
	struct rcm_random random = { 0 };
	unsigned same = 0;
	uint16_t last = 0;

	(void)state;
	most = SSIZE_MAX;
	calls = 0;
	for (size_t i = 0; i < sizeof(random.stock) / sizeof(*random.stock); i++) {
		uint16_t number = rcm_random_take(&random);

		same += number == last;
		last = number;
	}
	assert_int_equal(calls, 1);
	assert_true(same < 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_that_the_kernel_has_not_or_not_enough_of_is_had_all_the_same),
		cmocka_unit_test(test_random_that_the_kernel_has_not_is_the_devices),
		cmocka_unit_test(test_random_fills_what_it_is_to_and_no_more),
		cmocka_unit_test(test_random_of_the_device_leaves_no_descriptor),
		cmocka_unit_test(test_random_is_no_cancellation_point),
		cmocka_unit_test(test_random_without_any_source_differs_in_each_call_and_process),
		cmocka_unit_test(test_random_of_many_calls_the_system_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
