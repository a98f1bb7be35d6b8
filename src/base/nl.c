/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to the kernel by netlink(7). */
#include "base/nl.h"

#include <netlink/handlers.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "base/err.h"
#include "base/fds.h"

int rcm_nl_open(int protocol, struct nl_sock **ret_sock)
{
	struct nl_sock *sock = nl_socket_alloc();
	int ret;

	if (!sock)
		return -ENOMEM;
	if (nl_connect(sock, protocol)) {
		ret = rcm_errno();
		nl_socket_free(sock);
		return ret;
	}
	ret = rcm_fds_add(nl_socket_get_fd(sock));
	if (ret < 0)
		return ret;
	nl_socket_set_nonblocking(sock);
	nl_socket_disable_auto_ack(sock);
	*ret_sock = sock;
	return 0;
}

/* libnl closes by number. */
void rcm_nl_close(struct nl_sock *sock)
{
	if (sock && rcm_fds_forget(nl_socket_get_fd(sock)))
		nl_socket_free(sock);
}

static int nl_refused(struct sockaddr_nl *from, struct nlmsgerr *refusal, void *arg)
{
	int *ret = arg;

	(void)from;
	*ret = refusal->error;
	return NL_STOP;
}

int rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *msg, void *arg), void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret = 0;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, take, arg);
	nl_cb_err(cb, NL_CB_CUSTOM, nl_refused, &ret);
	if (nl_send_auto(sock, msg) >= 0)
		nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	return ret;
}
