/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to the kernel by netlink. */
#include "base/nl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <unistd.h>

#include "base/fds.h"
#include "fake_malloc.h"
#include "test.h"

static struct nl_sock *sock;
static unsigned objects;
static bool has_no_socket, has_no_callbacks, can_not_send;

struct nl_sock *__real_nl_socket_alloc(void);
struct nl_sock *__wrap_nl_socket_alloc(void);
void __real_nl_socket_free(struct nl_sock *one);
void __wrap_nl_socket_free(struct nl_sock *one);

struct nl_sock *__wrap_nl_socket_alloc(void)
{
	if (has_no_socket)
		return NULL;
	objects++;
	return __real_nl_socket_alloc();
}

void __wrap_nl_socket_free(struct nl_sock *one)
{
	objects--;
	__real_nl_socket_free(one);
}

struct nl_cb *__real_nl_cb_alloc(enum nl_cb_kind kind);
struct nl_cb *__wrap_nl_cb_alloc(enum nl_cb_kind kind);
int __real_nl_send_auto(struct nl_sock *one, struct nl_msg *msg);
int __wrap_nl_send_auto(struct nl_sock *one, struct nl_msg *msg);

struct nl_cb *__wrap_nl_cb_alloc(enum nl_cb_kind kind)
{
	return has_no_callbacks ? NULL : __real_nl_cb_alloc(kind);
}

int __wrap_nl_send_auto(struct nl_sock *one, struct nl_msg *msg)
{
	return can_not_send ? -NLE_NOMEM : __real_nl_send_auto(one, msg);
}

static int set_up(void **state)
{
	(void)state;
	return rcm_nl_open(NETLINK_ROUTE, &sock);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_nl_close(sock);
	return 0;
}

static int take_index(struct nl_msg *msg, void *arg)
{
	const struct ifinfomsg *link = nlmsg_data(nlmsg_hdr(msg));
	int *index = arg;

	*index = link->ifi_index;
	return NL_OK;
}

static int ask_for(int index, int *ret_index)
{
	struct ifinfomsg link = { .ifi_index = index };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	int ret;

	assert_non_null(msg);
	assert_int_equal(nlmsg_append(msg, &link, sizeof(link), NLMSG_ALIGNTO), 0);
	ret = rcm_nl_ask(sock, msg, take_index, ret_index);
	nlmsg_free(msg);
	return ret;
}

static void test_nl_question_is_answered_at_once(void **state)
{
	int lo = (int)if_nametoindex("lo"), index = 0;

	(void)state;
	assert_int_equal(ask_for(lo, &index), 0);
	assert_int_equal(index, lo);
}

static void test_nl_refusal_is_told_and_the_socket_is_good_for_the_next_question(void **state)
{
	int lo = (int)if_nametoindex("lo"), index = 0;

	(void)state;
	assert_int_equal(ask_for(0x7ffffff0, &index), -ENODEV);
	assert_int_equal(index, 0);
	assert_int_equal(ask_for(lo, &index), 0);
	assert_int_equal(index, lo);
}

static void test_nl_question_that_memory_lacks_for_gets_no_answer(void **state)
{
	int lo = (int)if_nametoindex("lo"), index = 0;

	(void)state;
	has_no_callbacks = true;
	assert_int_equal(ask_for(lo, &index), -ENOMEM);
	has_no_callbacks = false;
	can_not_send = true;
	assert_int_equal(ask_for(lo, &index), -ENOMEM);
	can_not_send = false;
	assert_int_equal(index, 0);
	assert_int_equal(ask_for(lo, &index), 0);
	assert_int_equal(index, lo);
}

static void test_nl_protocol_that_the_kernel_lacks_is_told(void **state)
{
	struct nl_sock *none;

	(void)state;
	assert_int_equal(rcm_nl_open(MAX_LINKS - 1, &none), -EPROTONOSUPPORT);
}

/* The first descriptor of all, which takes memory. */
static void test_nl_socket_that_can_not_be_kept_account_of_leaves_nothing(void **state)
{
	int lowest = dup(0);

	(void)state;
	close(lowest);
	has_no_socket = true;
	assert_int_equal(rcm_nl_open(NETLINK_ROUTE, &sock), -ENOMEM);
	has_no_socket = false;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_nl_open(NETLINK_ROUTE, &sock), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_int_equal(objects, 0);
	assert_int_equal(fcntl(lowest, F_GETFD), -1);
}

/* As in the child of a fork, where its number may be another file's. */
static void test_nl_socket_that_is_not_the_librarys_is_not_closed(void **state)
{
	struct nl_sock *lost;
	int fd;

	(void)state;
	assert_int_equal(rcm_nl_open(NETLINK_ROUTE, &lost), 0);
	fd = nl_socket_get_fd(lost);
	assert_true(rcm_fds_forget(fd));
	rcm_nl_close(lost);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	rcm_nl_close(NULL);
	nl_socket_free(lost);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nl_socket_that_can_not_be_kept_account_of_leaves_nothing),
		T(test_nl_question_is_answered_at_once),
		T(test_nl_refusal_is_told_and_the_socket_is_good_for_the_next_question),
		T(test_nl_question_that_memory_lacks_for_gets_no_answer),
		T(test_nl_protocol_that_the_kernel_lacks_is_told),
		T(test_nl_socket_that_is_not_the_librarys_is_not_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
