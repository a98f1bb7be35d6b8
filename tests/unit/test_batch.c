/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams by one system call, and one by one where that is refused. */
#include "dns/batch.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "test.h"

enum { MANY = 5 };

static int pair[2];
static struct mmsghdr messages[MANY];
static struct iovec parts[MANY];
static char bytes[MANY][8];
static int refusal;				/* errno of the calls for several; 0: they are not refused */
static unsigned alone;				/* calls for one */
static int alone_left;				/* until those fail, too */

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *some, unsigned count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *some, unsigned count, int flags);
int __real_recvmmsg(int fd, struct mmsghdr *some, unsigned count, int flags, struct timespec *timeout);
int __wrap_recvmmsg(int fd, struct mmsghdr *some, unsigned count, int flags, struct timespec *timeout);

static bool refuses(int error)
{
	errno = error;
	return error;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	assert_int_equal(flags, MSG_NOSIGNAL | MSG_DONTWAIT);
	alone++;
	return !alone_left-- && refuses(EMSGSIZE) ? -1 : __real_sendmsg(fd, message, flags);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	assert_int_equal(flags, MSG_DONTWAIT);
	alone++;
	return !alone_left-- && refuses(EIO) ? -1 : __real_recvmsg(fd, message, flags);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *some, unsigned count, int flags)
{
	assert_int_equal(flags, MSG_NOSIGNAL | MSG_DONTWAIT);
	return refuses(refusal) ? -1 : __real_sendmmsg(fd, some, count, flags);
}

int __wrap_recvmmsg(int fd, struct mmsghdr *some, unsigned count, int flags, struct timespec *timeout)
{
	assert_int_equal(flags, MSG_DONTWAIT);
	assert_null(timeout);
	return refuses(refusal) ? -1 : __real_recvmmsg(fd, some, count, flags, timeout);
}

static int set_up(void **state)
{
	(void)state;
	refusal = 0;
	alone = 0;
	alone_left = MANY + 1;
	return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair);
}

static int tear_down(void **state)
{
	(void)state;
	close(pair[0]);
	return close(pair[1]);
}

/* Of 1, 2, ... bytes to be sent, or of room for 8. */
static void prepare(bool to_send)
{
	for (unsigned i = 0; i < MANY; i++) {
		memset(bytes[i], to_send ? 'a' + (int)i : 0, sizeof(bytes[i]));
		parts[i] = (struct iovec){ bytes[i], to_send ? i + 1 : sizeof(bytes[i]) };
		messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &parts[i], .msg_iovlen = 1 } };
	}
}

static int send_all(void)
{
	prepare(true);
	return rcm_batch_send(pair[0], messages, MANY);
}

static int receive_all(void)
{
	prepare(false);
	return rcm_batch_receive(pair[1], messages, MANY);
}

static void assert_received(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(messages[i].msg_len, i + 1);
		assert_int_equal(bytes[i][i], 'a' + (int)i);
	}
}

static void test_batch_goes_by_one_call(void **state)
{
	(void)state;
	assert_int_equal(send_all(), MANY);
	assert_int_equal(receive_all(), MANY);
	assert_received(MANY);
	assert_int_equal(receive_all(), -EAGAIN);
	assert_int_equal(alone, 0);
}

static void test_batch_whose_call_is_refused_goes_one_by_one(void **state)
{
	static const int refusals[] = { ENOSYS, EPERM, EACCES };

	(void)state;
	for (unsigned i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		refusal = refusals[i];
		alone = 0;
		alone_left = 2 * MANY + 1;
		assert_int_equal(send_all(), MANY);
		assert_int_equal(receive_all(), MANY);
		assert_received(MANY);
		assert_int_equal(alone, 2 * MANY);
	}
}

static void test_batch_that_fails_one_by_one_tells_how_many_went_or_why(void **state)
{
	(void)state;
	refusal = EPERM;
	alone_left = 0;
	assert_int_equal(send_all(), -EMSGSIZE);
	alone_left = 3;
	assert_int_equal(send_all(), 3);
	alone_left = 0;
	assert_int_equal(receive_all(), -EIO);
	alone_left = 1;
	assert_int_equal(receive_all(), 1);
	assert_received(1);
	alone_left = MANY + 1;
	assert_int_equal(receive_all(), 2);
	assert_int_equal(receive_all(), -EAGAIN);
}

static void test_batch_whose_call_fails_otherwise_is_not_tried_again(void **state)
{
	(void)state;
	refusal = ECONNREFUSED;
	assert_int_equal(send_all(), -ECONNREFUSED);
	assert_int_equal(receive_all(), -ECONNREFUSED);
	assert_int_equal(alone, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_batch_goes_by_one_call),
		T(test_batch_whose_call_is_refused_goes_one_by_one),
		T(test_batch_that_fails_one_by_one_tells_how_many_went_or_why),
		T(test_batch_whose_call_fails_otherwise_is_not_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
