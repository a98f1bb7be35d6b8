/* SPDX-License-Identifier: BSD-2-Clause */
/* Several datagrams by one system call, or one by one, where a sandbox, or an old kernel, has no such call. */
#pragma once

#include <sys/socket.h>

/* As sendmmsg(2) and recvmmsg(2), without waiting: how many, or -errno where there was not even one. */
int rcm_batch_send(int fd, struct mmsghdr *messages, unsigned count);
int rcm_batch_receive(int fd, struct mmsghdr *messages, unsigned count);
