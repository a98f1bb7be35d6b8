/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding and opening the rdma_cm device: each reason why it can't be used is told apart (F23). */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sysfs.h"
#include "fake_clock.h"
#include "fake_sysfs.h"
#include "few_fds.h"
#include "test.h"
#include "ucma/dev.h"
#include "ucma/ucma.h"

/* Nodes that play rdma_cm, and another device: everybody may open them. */
#define RDMA_CM "/dev/null"
#define OTHER "/dev/zero"

static char folder[64], numbers[64], node[96];

/* The kernel's answer, and how often it was asked. */
static struct rcm_chardev told;
static int answer;
static unsigned asked;

static int ask(struct rcm_chardev *ret_chardev)
{
	asked++;
	if (!answer)
		*ret_chardev = told;
	return answer;
}

static struct rcm_ucma_dev dev;

static dev_t number_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_rdev;
}

/* A kernel that has RDMA and its connection manager, whose node isn't there yet. */
static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/rai-test-dev-XXXXXX");
	strcpy(numbers, "/tmp/rai-test-num-XXXXXX");
	if (!mkdtemp(folder) || !mkdtemp(numbers))
		return -1;
	snprintf(node, sizeof(node), "%s/rdma_cm", folder);
	told = (struct rcm_chardev){ "rdma_cm", number_of(RDMA_CM), 4 };
	answer = 0;
	asked = 0;
	dev = (struct rcm_ucma_dev){ folder, numbers, ask, 0, 0 };
	rcm_fake_clock_use(RCM_NS_PER_S);
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/rxe0", NULL);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	rcm_clock_replace(NULL);
	nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS);
	return nftw(numbers, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

static void opens(void)
{
	int fd = rcm_ucma_dev_open(&dev, O_NONBLOCK);

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
}

static void test_device_is_opened_cloexec_nonblocking(void **state)
{
	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	opens();
}

static void test_device_is_told_from_another_once_it_was_good(void **state)
{
	int fd = open(RDMA_CM, O_RDWR | O_CLOEXEC), other = open(OTHER, O_RDWR | O_CLOEXEC), file = open(folder, O_RDONLY);

	(void)state;
	assert_true(rcm_ucma_dev_is(&dev, other));
	assert_false(rcm_ucma_dev_is(&dev, file));
	assert_false(rcm_ucma_dev_is(&dev, -1));
	assert_int_equal(symlink(RDMA_CM, node), 0);
	opens();
	assert_true(rcm_ucma_dev_is(&dev, fd));
	assert_false(rcm_ucma_dev_is(&dev, other));
	assert_false(rcm_ucma_dev_is(&dev, file));
	assert_false(rcm_ucma_dev_is(&dev, -1));
	close(fd);
	close(other);
	close(file);
}

static void test_device_that_was_good_is_not_asked_for_again(void **state)
{
	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	for (int i = 0; i < 3; i++)
		opens();
	assert_int_equal(asked, 1);
}

/* Its module came anew. */
static void test_device_of_another_number_is_asked_for_again(void **state)
{
	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	opens();
	unlink(node);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(symlink(OTHER, node), 0);
	told.number = number_of(OTHER);
	opens();
	opens();
	assert_int_equal(asked, 3);
}

static void test_device_without_node_is_enodev(void **state)
{
	(void)state;
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	dev.folder = "/dev/null";
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
}

/* What it would make of the commands nobody can know. */
static void test_device_node_of_another_device_is_not_taken(void **state)
{
	FILE *f;

	(void)state;
	assert_int_equal(symlink(OTHER, node), 0);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	unlink(node);
	f = fopen(node, "we");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
}

/* In the folder of those that are named by their numbers. */
static void add_by_number(dev_t number, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%u:%u", numbers, major(number), minor(number));
	assert_int_equal(symlink(target, path), 0);
}

static void test_device_is_found_by_its_number_where_its_name_is_none(void **state)
{
	(void)state;
	assert_int_equal(symlink(OTHER, node), 0);
	add_by_number(told.number, RDMA_CM);
	opens();
	opens();
	assert_int_equal(asked, 1);
}

/* Not even by that one. */
static void test_device_without_number_is_found_by_its_name_alone(void **state)
{
	(void)state;
	told.number = 0;
	add_by_number(0, RDMA_CM);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(symlink(OTHER, node), 0);
	opens();
}

/* Of the 256 octets of a path, its end is one. */
static void test_device_whose_path_is_too_long_is_enodev(void **state)
{
	char long_folder[257] = "";

	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	strcpy(long_folder, folder);
	while (strlen(long_folder) + strlen("/rdma_cm") < 255)
		strcat(long_folder, "/");
	dev.folder = long_folder;
	opens();
	dev.good = 0;
	strcat(long_folder, "/");
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
}

/* A daemon that has closed its standard input. */
static void test_device_may_be_descriptor_0(void **state)
{
	int before = dup(0), fd;

	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	for (int i = 0; i < 2; i++) {
		close(0);
		fd = rcm_ucma_dev_open(&dev, O_NONBLOCK);
		dup2(before, 0);
		assert_int_equal(fd, 0);
	}
	assert_int_equal(asked, 1);
	close(before);
}

static void test_device_that_is_not_taken_is_closed(void **state)
{
	int before = dup(0), after;

	(void)state;
	assert_int_equal(symlink(OTHER, node), 0);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	close(before);
	after = dup(0);
	assert_int_equal(after, before);
	close(after);
}

/* open(2) says ENXIO of a socket as well. */
static void test_device_node_without_driver_is_enodev(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	strcpy(addr.sun_path, node);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	add_by_number(told.number, RDMA_CM);
	opens();
	close(listener);
}

/* open(2) says EPERM of a file of somebody else's whose time of access is to stay. */
static void test_device_that_may_not_be_opened_so_is_eacces(void **state)
{
	bool is_root = !geteuid();
	int ret;

	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	assert_int_equal(chmod(folder, 0711), 0);
	assert_true(!is_root || !seteuid(65534));
	ret = rcm_ucma_dev_open(&dev, O_NOATIME);
	assert_true(!is_root || !seteuid(0));
	assert_int_equal(ret, -EACCES);
}

/* What open(2) says else. */
static void test_device_without_descriptors_is_emfile(void **state)
{
	int ret;

	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	few_fds_left(0);
	ret = rcm_ucma_dev_open(&dev, O_NONBLOCK);
	few_fds_left(UINT_MAX);
	assert_int_equal(ret, -EMFILE);
}

static void test_device_node_without_permission_is_eacces(void **state)
{
	int ret;

	(void)state;
	if (geteuid())
		skip();
	ret = open(node, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(ret >= 0);
	close(ret);
	assert_int_equal(chmod(folder, 0711), 0);
	assert_int_equal(seteuid(65534), 0);
	ret = rcm_ucma_dev_open(&dev, O_NONBLOCK);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(ret, -EACCES);
}

static void test_device_of_other_abi_is_eprotonosupport(void **state)
{
	static const int others[] = { 0, 3, 5, INT_MAX };

	(void)state;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
		told.abi = others[i];
		assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -EPROTONOSUPPORT);
	}
	told.abi = 4;
	opens();
	dev.good = 0;
	told.abi = -1;
	opens();
}

/* Loading a module starts a process. */
static void test_device_that_the_kernel_lacks_is_asked_for_once_a_second(void **state)
{
	(void)state;
	rcm_fake_sysfs_add("class/misc/other", NULL);
	assert_int_equal(symlink(RDMA_CM, node), 0);
	answer = -ENODEV;
	for (int i = 0; i < 5; i++)
		assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(asked, 1);
	rcm_fake_clock_advance(RCM_NS_PER_S - 1);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(asked, 1);
	rcm_fake_clock_advance(1);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(asked, 2);
}

static void add_to_sysfs(const char *of, const char *abi)
{
	char text[32];
	dev_t number = number_of(of);

	snprintf(text, sizeof(text), "%u:%u", major(number), minor(number));
	rcm_fake_sysfs_add("class/misc/rdma_cm/dev", text);
	rcm_fake_sysfs_add("class/misc/rdma_cm/abi_version", abi);
}

/* Whoever says so in /sys. */
static void test_device_that_the_kernel_lacks_is_not_looked_for(void **state)
{
	(void)state;
	answer = -ENODEV;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	add_to_sysfs(RDMA_CM, "4");
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
}

/* Loaded by somebody else, while we don't ask. */
static void test_device_that_appears_meanwhile_is_found(void **state)
{
	(void)state;
	answer = -ENODEV;
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(symlink(RDMA_CM, node), 0);
	add_to_sysfs(RDMA_CM, "4");
	opens();
	assert_int_equal(asked, 1);
}

/* Before Linux 5.2, or where a sandbox lets nobody use netlink. */
static void test_device_is_known_from_sysfs_where_netlink_does_not_answer(void **state)
{
	(void)state;
	answer = -EOPNOTSUPP;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	add_to_sysfs(OTHER, "4");
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	add_to_sysfs(RDMA_CM, "3");
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -EPROTONOSUPPORT);
	add_to_sysfs(RDMA_CM, "4");
	opens();
	assert_int_equal(asked, 3);
}

static void test_device_whose_version_sysfs_does_not_tell_is_believed(void **state)
{
	(void)state;
	answer = -EOPNOTSUPP;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	add_to_sysfs(RDMA_CM, "");
	opens();
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/misc/rdma_cm/dev", "1:3");
	dev.good = 0;
	opens();
}

static void test_device_whose_number_sysfs_does_not_tell_is_enodev(void **state)
{
	static const char *const lines[] = { "", "1", "1:", ":3", "x" };

	(void)state;
	answer = -EOPNOTSUPP;
	assert_int_equal(symlink(RDMA_CM, node), 0);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		rcm_fake_sysfs_add("class/misc/rdma_cm/dev", lines[i]);
		assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	}
}

static void test_device_on_a_host_without_rdma_is_not_asked_for(void **state)
{
	(void)state;
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/misc/other", NULL);
	assert_int_equal(symlink(RDMA_CM, node), 0);
	assert_int_equal(rcm_ucma_dev_open(&dev, O_NONBLOCK), -ENODEV);
	assert_int_equal(asked, 0);
}

static void test_device_node_is_believed_where_sysfs_is_not_mounted(void **state)
{
	(void)state;
	rcm_sysfs_replace("/nowhere");
	assert_int_equal(symlink(RDMA_CM, node), 0);
	opens();
	assert_int_equal(asked, 0);
}

/* ---- Commands ---- */

static void test_command_failed_write_is_its_errno(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(rcm_ucma_device.command(ends[1], "12345678", 8), 0);
	assert_int_equal(rcm_ucma_device.command(ends[0], "12345678", 8), -EBADF);
	assert_int_equal(rcm_ucma_device.command(ends[1], "", 0), 0);
	rcm_ucma_device.close(ends[0]);
	rcm_ucma_device.close(ends[1]);
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	assert_int_equal(fcntl(ends[1], F_GETFD), -1);
}

static void test_command_that_is_written_in_part_is_eio(void **state)
{
	int ends[2], size;
	void *bytes;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	size = fcntl(ends[1], F_GETPIPE_SZ);
	bytes = calloc(2, (size_t)size);
	assert_int_equal(rcm_ucma_device.command(ends[1], bytes, 2 * (size_t)size), -EIO);
	free(bytes);
	close(ends[0]);
	close(ends[1]);
}

static void test_command_goes_to_a_character_device_alone(void **state)
{
	int device = open(RDMA_CM, O_RDWR | O_CLOEXEC), file = open(folder, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(rcm_ucma_device.is(device));
	assert_false(rcm_ucma_device.is(file));
	close(device);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_device_is_opened_cloexec_nonblocking),
		T(test_device_is_told_from_another_once_it_was_good),
		T(test_device_that_was_good_is_not_asked_for_again),
		T(test_device_of_another_number_is_asked_for_again),
		T(test_device_without_node_is_enodev),
		T(test_device_node_of_another_device_is_not_taken),
		T(test_device_is_found_by_its_number_where_its_name_is_none),
		T(test_device_without_number_is_found_by_its_name_alone),
		T(test_device_whose_path_is_too_long_is_enodev),
		T(test_device_may_be_descriptor_0),
		T(test_device_that_is_not_taken_is_closed),
		T(test_device_node_without_driver_is_enodev),
		T(test_device_that_may_not_be_opened_so_is_eacces),
		T(test_device_without_descriptors_is_emfile),
		T(test_device_node_without_permission_is_eacces),
		T(test_device_of_other_abi_is_eprotonosupport),
		T(test_device_that_the_kernel_lacks_is_asked_for_once_a_second),
		T(test_device_that_the_kernel_lacks_is_not_looked_for),
		T(test_device_that_appears_meanwhile_is_found),
		T(test_device_is_known_from_sysfs_where_netlink_does_not_answer),
		T(test_device_whose_version_sysfs_does_not_tell_is_believed),
		T(test_device_whose_number_sysfs_does_not_tell_is_enodev),
		T(test_device_on_a_host_without_rdma_is_not_asked_for),
		T(test_device_node_is_believed_where_sysfs_is_not_mounted),
		T(test_command_failed_write_is_its_errno),
		T(test_command_that_is_written_in_part_is_eio),
		T(test_command_goes_to_a_character_device_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
