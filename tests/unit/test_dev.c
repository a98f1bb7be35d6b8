/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the rdma_cm device: each reason why it can't be used is told apart (F23). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "ucma/dev.h"
#include "ucma/ucma.h"

static char dir[] = "/tmp/rai-test-dev-XXXXXX";
static char device[64], abi[64];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(device, sizeof(device), "%s/rdma_cm", dir);
	snprintf(abi, sizeof(abi), "%s/abi_version", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(device);
	unlink(abi);
	return rmdir(dir);
}

static void test_device_without_node_is_enodev(void **state)
{
	(void)state;
	assert_int_equal(rcm_ucma_dev_open("/nonexistent/rdma_cm", abi), -ENODEV);
	assert_int_equal(rcm_ucma_dev_open("/dev/null/rdma_cm", abi), -ENODEV);
}

static void test_device_node_without_permission_is_eacces(void **state)
{
	int ret;

	(void)state;
	write_file(device, "");
	assert_int_equal(chmod(device, 0), 0);
	if (!geteuid()) {
		assert_int_equal(chmod(dir, 0711), 0);
		assert_int_equal(seteuid(65534), 0);
		ret = rcm_ucma_dev_open(device, abi);
		assert_int_equal(seteuid(0), 0);
	} else {
		ret = rcm_ucma_dev_open(device, abi);
	}
	assert_int_equal(ret, -EACCES);
	assert_int_equal(chmod(device, 0600), 0);
}

static void test_device_of_other_abi_is_eprotonosupport(void **state)
{
	(void)state;
	write_file(device, "");
	write_file(abi, "3\n");
	assert_int_equal(rcm_ucma_dev_open(device, abi), -EPROTONOSUPPORT);
}

static void test_device_of_abi_4_is_opened_cloexec_nonblocking(void **state)
{
	int fd;

	(void)state;
	write_file(device, "");
	write_file(abi, "4\n");
	fd = rcm_ucma_dev_open(device, abi);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	unlink(abi);
	fd = rcm_ucma_dev_open(device, abi);	/* no sysfs here: the node itself is believed */
	assert_true(fd >= 0);
	close(fd);
}

static void test_command_failed_write_is_its_errno(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(rcm_ucma_device.command(ends[1], "12345678", 8), 0);
	assert_int_equal(rcm_ucma_device.command(ends[0], "12345678", 8), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_without_node_is_enodev),
		cmocka_unit_test(test_device_node_without_permission_is_eacces),
		cmocka_unit_test(test_device_of_other_abi_is_eprotonosupport),
		cmocka_unit_test(test_device_of_abi_4_is_opened_cloexec_nonblocking),
		cmocka_unit_test(test_command_failed_write_is_its_errno),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
