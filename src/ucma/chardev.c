/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks RDMA netlink for the rdma_cm character device. */
#include "ucma/chardev.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>

#include "base/fds.h"

struct chardev_answer {
	struct rcm_chardev *chardev;
	bool came;
	int error;			/* -errno, where the kernel refuses */
};

static int chardev_take(struct nl_msg *msg, void *arg)
{
	struct chardev_answer *answer = arg;
	struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX];

	if (nlmsg_parse(nlmsg_hdr(msg), 0, attrs, RDMA_NLDEV_ATTR_MAX - 1, NULL) ||
	    !attrs[RDMA_NLDEV_ATTR_CHARDEV] || nla_len(attrs[RDMA_NLDEV_ATTR_CHARDEV]) < 8 ||
	    !attrs[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		return NL_OK;
	/* The kernel packs a number as the C library's dev_t does. */
	answer->chardev->number = nla_get_u64(attrs[RDMA_NLDEV_ATTR_CHARDEV]);
	answer->chardev->abi = -1;
	if (attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI] && nla_len(attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI]) >= 8)
		answer->chardev->abi = (int64_t)nla_get_u64(attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI]);
	nla_strlcpy(answer->chardev->name, attrs[RDMA_NLDEV_ATTR_CHARDEV_NAME], sizeof(answer->chardev->name));
	answer->came = true;
	return NL_OK;
}

static int chardev_refused(struct sockaddr_nl *from, struct nlmsgerr *refusal, void *arg)
{
	struct chardev_answer *answer = arg;

	(void)from;
	answer->error = refusal->error;
	return NL_STOP;
}

static int chardev_exchange(struct nl_sock *sock, struct nl_msg *msg, struct rcm_chardev *chardev)
{
	struct chardev_answer answer = { .chardev = chardev };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, chardev_take, &answer);
	nl_cb_err(cb, NL_CB_CUSTOM, chardev_refused, &answer);
	if (nl_send_auto(sock, msg) >= 0)
		nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	if (answer.came)
		return 0;
	return answer.error == -ENOENT || answer.error == -ENODEV ? -ENODEV : -EOPNOTSUPP;
}

static int chardev_question(struct nl_sock *sock, struct rcm_chardev *ret_chardev)
{
	struct rcm_chardev chardev = { 0 };
	struct nl_msg *msg;
	int ret;

	msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV), NLM_F_REQUEST);
	if (!msg)
		return -ENOMEM;
	ret = nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm") ? -ENOMEM :
		chardev_exchange(sock, msg, &chardev);
	nlmsg_free(msg);
	if (!ret)
		*ret_chardev = chardev;
	return ret;
}

int rcm_chardev_ask(struct rcm_chardev *ret_chardev)
{
	struct nl_sock *sock = nl_socket_alloc();
	int ret = -EOPNOTSUPP;

	if (!sock)
		return -ENOMEM;
	if (nl_connect(sock, NETLINK_RDMA))
		goto out;
	ret = rcm_fds_add(nl_socket_get_fd(sock));
	if (ret < 0)
		return ret;
	/* The kernel has answered before the question's sendmsg() returns: there is nothing to wait for. */
	nl_socket_set_nonblocking(sock);
	nl_socket_disable_auto_ack(sock);
	ret = chardev_question(sock, ret_chardev);
	/* libnl closes by number, which in the child of a fork isn't ours any more. */
	if (!rcm_fds_forget(nl_socket_get_fd(sock)))
		return ret;
out:
	nl_socket_free(sock);
	return ret;
}
