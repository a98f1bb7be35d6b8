/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to the kernel by netlink(7). */
#include "base/nl.h"

#include <netlink/handlers.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdbool.h>

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
	ret = rcm_fds_take(nl_socket_get_fd(sock));
	if (ret) {
		nl_socket_free(sock);
		return ret;
	}
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

struct nl_outcome {
	bool came;			/* an answer, or a refusal */
	int error;
};

static int nl_came(struct nl_msg *msg, void *arg)
{
	struct nl_outcome *outcome = arg;

	(void)msg;
	outcome->came = true;
	return NL_OK;
}

static int nl_refused(struct sockaddr_nl *from, struct nlmsgerr *refusal, void *arg)
{
	struct nl_outcome *outcome = arg;

	(void)from;
	outcome->error = refusal->error;
	return NL_STOP;
}

int rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *msg, void *arg), void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	struct nl_outcome outcome = { 0 };

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_MSG_IN, NL_CB_CUSTOM, nl_came, &outcome);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, take, arg);
	nl_cb_err(cb, NL_CB_CUSTOM, nl_refused, &outcome);
	if (nl_send_auto(sock, msg) >= 0)
		nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	return outcome.came ? outcome.error : -ENOMEM;
}
