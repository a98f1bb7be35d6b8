/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks RDMA netlink for the rdma_cm character device. */
#include "ucma/chardev.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>

#include "base/nl.h"

struct chardev_answer {
	struct rcm_chardev chardev;
	bool came;
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
	answer->chardev.number = nla_get_u64(attrs[RDMA_NLDEV_ATTR_CHARDEV]);
	answer->chardev.abi = -1;
	if (attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI] && nla_len(attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI]) >= 8)
		answer->chardev.abi = (int64_t)nla_get_u64(attrs[RDMA_NLDEV_ATTR_CHARDEV_ABI]);
	nla_strlcpy(answer->chardev.name, attrs[RDMA_NLDEV_ATTR_CHARDEV_NAME], sizeof(answer->chardev.name));
	answer->came = true;
	return NL_OK;
}

static int chardev_question(struct nl_sock *sock, struct rcm_chardev *ret_chardev)
{
	struct chardev_answer answer = { .came = false };
	struct nl_msg *msg;
	int ret;

	msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV), NLM_F_REQUEST);
	if (!msg)
		return -ENOMEM;
	ret = nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm") ? -ENOMEM :
		rcm_nl_ask(sock, msg, chardev_take, &answer);
	nlmsg_free(msg);
	if (!answer.came)
		return ret == -ENOENT ? -ENODEV : ret ? ret : -EOPNOTSUPP;
	*ret_chardev = answer.chardev;
	return 0;
}

int rcm_chardev_ask(struct rcm_chardev *ret_chardev)
{
	struct nl_sock *sock;
	int ret = rcm_nl_open(NETLINK_RDMA, &sock);

	if (ret)
		return ret;
	ret = chardev_question(sock, ret_chardev);
	rcm_nl_close(sock);
	return ret;
}
