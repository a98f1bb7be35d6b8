/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to the kernel by netlink(7), one that it answers at once. */
#pragma once

struct nl_msg;
struct nl_sock;

/* A socket of that protocol, which waits for nothing: the kernel has answered before the question's sendmsg() returns.
 * 0; -ENOMEM; what socket(2) said. */
int rcm_nl_open(int protocol, struct nl_sock **ret_sock);

/* NULL: nothing. In the child of a fork, where the number may be a file of the application's, it is left open. */
void rcm_nl_close(struct nl_sock *sock);

/* Sends a question, and gives each message of the answer to take, which returns NL_OK. 0; the -errno with which the
 * kernel refuses; -ENOMEM: the answer may still be in the socket, which is to be closed, as it would be taken for the
 * next question's. A caller at a time. */
int rcm_nl_ask(struct nl_sock *sock, struct nl_msg *msg, int (*take)(struct nl_msg *msg, void *arg), void *arg);
