/* SPDX-License-Identifier: BSD-2-Clause */
/* Several datagrams by one system call. */
#include "dns/batch.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { SEND_FLAGS = MSG_NOSIGNAL | MSG_DONTWAIT };

/* A firewall that lets no datagram out says EPERM, too: then one alone fails alike. */
static bool batch_is_refused(int error)
{
	return error == -ENOSYS || error == -EPERM || error == -EACCES;
}

int rcm_batch_send(int fd, struct mmsghdr *messages, unsigned count)
{
	int n = sendmmsg(fd, messages, count, SEND_FLAGS), ret = n < 0 ? rcm_errno() : n;

	if (!batch_is_refused(ret))
		return ret;
	for (unsigned i = 0; i < count; i++)
		if (sendmsg(fd, &messages[i].msg_hdr, SEND_FLAGS) < 0)
			return i ? (int)i : rcm_errno();
	return (int)count;
}

int rcm_batch_receive(int fd, struct mmsghdr *messages, unsigned count)
{
	int n = recvmmsg(fd, messages, count, MSG_DONTWAIT, NULL), ret = n < 0 ? rcm_errno() : n;
	ssize_t len;

	if (!batch_is_refused(ret))
		return ret;
	for (unsigned i = 0; i < count; i++) {
		len = recvmsg(fd, &messages[i].msg_hdr, MSG_DONTWAIT);
		if (len < 0)
			return i ? (int)i : rcm_errno();
		messages[i].msg_len = (unsigned)len;
	}
	return (int)count;
}
