/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists by rtnetlink. */
#include "dns/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/fds.h"

/* A list that this kernel was built without has nothing in it: rules, say, or all of IPv6. */
static int netlink_refused(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *refusal = NLMSG_DATA(nlh);

	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*refusal)) || refusal->error >= 0)
		return -EIO;
	return refusal->error == -EOPNOTSUPP ? 0 : refusal->error;
}

/* 1: there is more; 0: that was all; or -errno. */
static int netlink_take(const void *bytes, size_t len, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	int ret = 0;

	for (const struct nlmsghdr *nlh = bytes; !ret && NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
		if (nlh->nlmsg_type == NLMSG_DONE)
			return 0;
		if (nlh->nlmsg_type == NLMSG_ERROR)
			return netlink_refused(nlh);
		ret = take(nlh, arg);
	}
	return ret ? ret : 1;
}

int rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	const struct {
		struct nlmsghdr nlh;
		struct rtmsg msg;	/* of which a rule's and an address's head are like enough */
	} ask = {
		.nlh = { .nlmsg_len = sizeof(ask), .nlmsg_type = (uint16_t)type,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.msg = { .rtm_family = (uint8_t)family },
	};
	int fd = rcm_fds_add(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)), ret;
	_Alignas(struct nlmsghdr) char buf[16384];

	if (fd < 0)
		return fd;
	ret = send(fd, &ask, sizeof(ask), 0) < 0 ? rcm_errno() : 1;
	/* The kernel has put the next part there before a call returns: nothing is waited for. */
	while (ret > 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		ret = n <= 0 ? (n ? rcm_errno() : -EIO) : netlink_take(buf, (size_t)n, take, arg);
	}
	rcm_fds_close(fd);
	return ret;
}
