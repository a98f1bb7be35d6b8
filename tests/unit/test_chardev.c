/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking RDMA netlink for the rdma_cm device: the question, and what is made of each answer. */
#include "ucma/chardev.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>

#include "base/nl.h"
#include "test.h"

static struct {
	size_t number_len, name_len, abi_len;	/* of what the kernel says; 0: nothing */
	int open, ret;				/* of opening the socket, and of the exchange */
	bool no_message, no_room;
	int opened;
} netlink;

int __wrap_rcm_nl_open(int protocol, struct nl_sock **ret_sock);
int __wrap_rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *msg, void *arg), void *arg);
void __wrap_rcm_nl_close(struct nl_sock *sock);
struct nl_msg *__wrap_nlmsg_alloc_simple(int type, int flags);
struct nl_msg *__real_nlmsg_alloc_simple(int type, int flags);
int __wrap_nla_put_string(struct nl_msg *msg, int type, const char *text);
int __real_nla_put_string(struct nl_msg *msg, int type, const char *text);

struct nl_msg *__wrap_nlmsg_alloc_simple(int type, int flags)
{
	return netlink.no_message ? NULL : __real_nlmsg_alloc_simple(type, flags);
}

int __wrap_nla_put_string(struct nl_msg *msg, int type, const char *text)
{
	return netlink.no_room ? -NLE_NOMEM : __real_nla_put_string(msg, type, text);
}

int __wrap_rcm_nl_open(int protocol, struct nl_sock **ret_sock)
{
	assert_int_equal(protocol, NETLINK_RDMA);
	*ret_sock = NULL;
	netlink.opened += !netlink.open;
	return netlink.open;
}

static void check_question(struct nlmsghdr *hdr)
{
	struct nlattr *type = nlmsg_find_attr(hdr, 0, RDMA_NLDEV_ATTR_CHARDEV_TYPE);

	assert_int_equal(hdr->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV));
	assert_int_equal(hdr->nlmsg_flags, NLM_F_REQUEST);
	assert_non_null(type);
	assert_string_equal(nla_get_string(type), "rdma_cm");
}

/* Longer than any that the kernel has. */
static const char said_name[] = "rdma_cm-rdma_cm-rdma_cm-rdma_cm-rdma_cm-rdma_cm-rdma_cm-rdma_cm-";

int __wrap_rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *msg, void *arg), void *arg)
{
	const uint64_t number = 0x0a07, abi = 4;
	struct nl_msg *reply = nlmsg_alloc_simple(nlmsg_hdr(msg)->nlmsg_type, 0);

	(void)sock;
	check_question(nlmsg_hdr(msg));
	assert_non_null(reply);
	if (netlink.number_len)
		assert_int_equal(nla_put(reply, RDMA_NLDEV_ATTR_CHARDEV, (int)netlink.number_len, &number), 0);
	if (netlink.name_len)
		assert_int_equal(nla_put(reply, RDMA_NLDEV_ATTR_CHARDEV_NAME, (int)netlink.name_len, said_name), 0);
	if (netlink.abi_len)
		assert_int_equal(nla_put(reply, RDMA_NLDEV_ATTR_CHARDEV_ABI, (int)netlink.abi_len, &abi), 0);
	take(reply, arg);
	nlmsg_free(reply);
	return netlink.ret;
}

void __wrap_rcm_nl_close(struct nl_sock *sock)
{
	assert_null(sock);
	netlink.opened--;
}

static int setup(void **state)
{
	(void)state;
	netlink = (typeof(netlink)){ .number_len = 8, .name_len = strlen("rdma_cm"), .abi_len = 8 };
	return 0;
}

static int ask_netlink(struct rcm_chardev *chardev)
{
	int ret;

	*chardev = (struct rcm_chardev){ .abi = 77 };
	ret = rcm_chardev_ask(chardev);
	assert_int_equal(netlink.opened, 0);
	assert_true(!ret || chardev->abi == 77);
	return ret;
}

static void test_chardev_whose_kernel_says_no_whole_version_has_none(void **state)
{
	static const struct { size_t len; int64_t abi; } versions[] = { { 8, 4 }, { 7, -1 }, { 0, -1 } };
	struct rcm_chardev chardev;

	(void)state;
	for (unsigned i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		netlink.abi_len = versions[i].len;
		assert_int_equal(ask_netlink(&chardev), 0);
		assert_string_equal(chardev.name, "rdma_cm");
		assert_int_equal(chardev.number, 0x0a07);
		assert_int_equal(chardev.abi, versions[i].abi);
	}
}

static void test_chardev_of_an_endless_name_has_what_there_is_room_for(void **state)
{
	struct rcm_chardev chardev;

	(void)state;
	netlink.name_len = strlen(said_name);
	assert_int_equal(ask_netlink(&chardev), 0);
	assert_int_equal(strlen(chardev.name), sizeof(chardev.name) - 1);
	assert_memory_equal(chardev.name, said_name, sizeof(chardev.name) - 1);
}

/* An older kernel says nothing, or not all. */
static void test_chardev_of_which_the_kernel_does_not_say_all_can_not_be_asked_for(void **state)
{
	static const struct { size_t number_len, name_len; int ret, wanted; } answers[] = {
		{ 7, 7, 0, -EOPNOTSUPP }, { 0, 7, 0, -EOPNOTSUPP }, { 8, 0, 0, -EOPNOTSUPP },
		{ 0, 0, -EPERM, -EPERM }, { 0, 0, -ENOENT, -ENODEV }, { 8, 7, -ENOENT, 0 }, { 8, 7, 0, 0 },
	};
	struct rcm_chardev chardev;

	(void)state;
	for (unsigned i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		netlink.number_len = answers[i].number_len;
		netlink.name_len = answers[i].name_len;
		netlink.ret = answers[i].ret;
		assert_int_equal(ask_netlink(&chardev), answers[i].wanted);
	}
}

static void test_chardev_can_not_be_asked_for_without_means(void **state)
{
	struct rcm_chardev chardev;

	(void)state;
	netlink.no_room = true;
	assert_int_equal(ask_netlink(&chardev), -ENOMEM);
	netlink.no_message = true;
	assert_int_equal(ask_netlink(&chardev), -ENOMEM);
	netlink.open = -EMFILE;
	assert_int_equal(ask_netlink(&chardev), -EMFILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, setup)
		T(test_chardev_whose_kernel_says_no_whole_version_has_none),
		T(test_chardev_of_an_endless_name_has_what_there_is_room_for),
		T(test_chardev_of_which_the_kernel_does_not_say_all_can_not_be_asked_for),
		T(test_chardev_can_not_be_asked_for_without_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
