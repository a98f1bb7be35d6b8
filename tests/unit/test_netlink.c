/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists by rtnetlink, as kernels answer that have none. */
#include "dns/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "test.h"

static struct {
	struct nlmsghdr nlh;
	struct nlmsgerr refusal;
} answer = { .nlh = { .nlmsg_len = sizeof(answer), .nlmsg_type = NLMSG_ERROR } };
static ssize_t answer_len;

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	(void)fd;
	(void)flags;
	assert_true(len >= sizeof(answer));
	memcpy(buf, &answer, sizeof(answer));
	if (answer_len < 0)
		errno = (int)-answer_len;
	return answer_len < 0 ? -1 : answer_len;
}

static int take_none(const struct nlmsghdr *nlh, void *arg)
{
	(void)nlh;
	(void)arg;
	fail();
	return 0;
}

static int dump_answered(int error, size_t len)
{
	answer.refusal.error = error;
	answer.nlh.nlmsg_len = (uint32_t)len;
	answer_len = (ssize_t)len;
	return rcm_netlink_dump(RTM_GETROUTE, AF_INET, take_none, NULL);
}

/* As of rules, without CONFIG_IP_MULTIPLE_TABLES. Emulators hand on no question for those. */
static void test_list_that_the_kernel_was_built_without_is_empty(void **state)
{
	(void)state;
	assert_int_equal(dump_answered(-EOPNOTSUPP, sizeof(answer)), 0);
}

static void test_list_that_is_refused_says_why(void **state)
{
	(void)state;
	assert_int_equal(dump_answered(-EPERM, sizeof(answer)), -EPERM);
	assert_int_equal(dump_answered(-ENOMEM, sizeof(answer)), -ENOMEM);
	assert_int_equal(dump_answered(0, sizeof(answer)), -EIO);
	assert_int_equal(dump_answered(-EPERM, sizeof(answer.nlh)), -EIO);
}

/* Nothing there: a blocking call would have had the engine's thread stand still for it. */
static void test_list_that_does_not_come_is_not_waited_for(void **state)
{
	(void)state;
	answer_len = -EAGAIN;
	assert_int_equal(rcm_netlink_dump(RTM_GETROUTE, AF_INET, take_none, NULL), -EAGAIN);
	answer_len = 0;
	assert_int_equal(rcm_netlink_dump(RTM_GETROUTE, AF_INET, take_none, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_that_the_kernel_was_built_without_is_empty),
		cmocka_unit_test(test_list_that_is_refused_says_why),
		cmocka_unit_test(test_list_that_does_not_come_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
