/* SPDX-License-Identifier: BSD-2-Clause */
/* A context of the library's own, and what its device tells. */
#include "verbs/alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/sysfs.h"
#include "fake_malloc.h"
#include "fake_sysfs.h"
#include "fake_verbs.h"
#include "test.h"

static unsigned device;
static unsigned takes_left = 100;		/* until there is no account of a descriptor to be had */

int __real_rcm_fds_take(int fd);
int __wrap_rcm_fds_take(int fd);

int __wrap_rcm_fds_take(int fd)
{
	return takes_left-- ? __real_rcm_fds_take(fd) : -ENOMEM;
}
static struct rcm_alerts *alerts;

static int begin(void **state)
{
	(void)state;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband_verbs/abi_version", "6");
	rcm_fake_verbs_reset();
	rcm_fake_verbs_add("other", 1, 1);
	device = rcm_fake_verbs_add("mlx5_0", 2, 2);
	rcm_fake_verbs_tells(device);
	alerts = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	rcm_alerts_verbs.close(alerts);
	assert_int_equal(rcm_fake_verbs_open_now(device), 0);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
	/* No number that another file may have by now is taken for one of the library's. */
	for (int fd = 0; fd < 100; fd++)
		assert_false(rcm_fds_forget(fd));
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
	return 0;
}

static void opened(void)
{
	assert_int_equal(rcm_alerts_verbs.open("mlx5_0", &alerts), 0);
}

/* An event of a type, and what it means. */
static void assert_means(enum ibv_event_type type, enum rcm_alert meaning)
{
	enum rcm_alert alert;

	rcm_fake_verbs_tell(device, type);
	assert_int_equal(rcm_alerts_verbs.read(alerts, &alert), 0);
	assert_int_equal(alert, meaning);
}

static void test_alerts_of_a_port_are_told_as_such(void **state)
{
	(void)state;
	opened();
	assert_means(IBV_EVENT_PORT_ACTIVE, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_PORT_ERR, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_LID_CHANGE, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_PKEY_CHANGE, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_SM_CHANGE, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_GID_CHANGE, RCM_ALERT_PORT);
	assert_means(IBV_EVENT_CLIENT_REREGISTER, RCM_ALERT_REREGISTER);
	assert_means(IBV_EVENT_DEVICE_FATAL, RCM_ALERT_GONE);
	assert_means(IBV_EVENT_SQ_DRAINED, RCM_ALERT_OTHER);
}

static void test_alerts_without_any_are_not_waited_for(void **state)
{
	enum rcm_alert alert;

	(void)state;
	opened();
	assert_int_equal(rcm_alerts_verbs.read(alerts, &alert), -EAGAIN);
}

static void test_alerts_of_a_device_that_went_are_an_error(void **state)
{
	enum rcm_alert alert;

	(void)state;
	opened();
	rcm_fake_verbs_unplug(device);
	assert_int_equal(rcm_alerts_verbs.read(alerts, &alert), -EIO);
}

static void test_alerts_open_the_device_of_that_name_alone(void **state)
{
	(void)state;
	opened();
	assert_int_equal(rcm_fake_verbs_opens(device), 1);
	assert_int_equal(rcm_fake_verbs_opens(0), 0);
	assert_int_equal(fcntl(rcm_alerts_verbs.fd(alerts), F_GETFD), FD_CLOEXEC);
}

static void test_alerts_that_can_not_be_opened_say_why(void **state)
{
	(void)state;
	assert_int_equal(rcm_alerts_verbs.open("mlx5_9", &alerts), -ENODEV);
	rcm_fake_verbs_open_error(device, EACCES);
	assert_int_equal(rcm_alerts_verbs.open("mlx5_0", &alerts), -EACCES);
	assert_null(alerts);
}

/* Libibverbs, its list, and the library's account of either descriptor. */
static void test_alerts_without_memory_leave_no_device_open(void **state)
{
	(void)state;
	for (unsigned nth = 1; nth <= 2; nth++) {
		errno = ENOMEM;
		rcm_fake_malloc_fail(nth);
		assert_int_equal(rcm_alerts_verbs.open("mlx5_0", &alerts), -ENOMEM);
		assert_true(rcm_fake_malloc_calm());
		assert_int_equal(rcm_fake_verbs_opens(device), 0);
	}
	for (unsigned good = 0; good < 2; good++) {
		takes_left = good;
		assert_int_equal(rcm_alerts_verbs.open("mlx5_0", &alerts), -ENOMEM);
		takes_left = 100;
		assert_int_equal(rcm_fake_verbs_opens(device), good + 1);
		assert_int_equal(rcm_fake_verbs_open_now(device), 0);
	}
	assert_null(alerts);
}

/* Which would have libibverbs look for modules. */
static void test_alerts_of_a_host_without_verbs_ask_for_no_device(void **state)
{
	(void)state;
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	assert_int_equal(rcm_alerts_verbs.open("mlx5_0", &alerts), -ENODEV);
	assert_int_equal(rcm_fake_verbs_lists(), 0);
}

/* The numbers may be files of the child's by the time it closes what it has. */
static void test_alerts_close_nothing_in_the_child_of_a_fork(void **state)
{
	pid_t pid;
	int status, fd;

	(void)state;
	opened();
	fd = rcm_alerts_verbs.fd(alerts);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* Closed at the fork: the lowest number that is free is its, or one before. */
		if (fcntl(fd, F_GETFD) != -1 || dup2(STDERR_FILENO, fd) != fd)
			_exit(1);
		rcm_alerts_verbs.close(alerts);
		_exit(fcntl(fd, F_GETFD) == -1 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(test_alerts_of_a_port_are_told_as_such),
		T(test_alerts_without_any_are_not_waited_for),
		T(test_alerts_of_a_device_that_went_are_an_error),
		T(test_alerts_open_the_device_of_that_name_alone),
		T(test_alerts_that_can_not_be_opened_say_why),
		T(test_alerts_without_memory_leave_no_device_open),
		T(test_alerts_of_a_host_without_verbs_ask_for_no_device),
		T(test_alerts_close_nothing_in_the_child_of_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
