/* SPDX-License-Identifier: BSD-2-Clause */
/* The sockets of one c-ares channel, in the forms that c-ares calls: CLOEXEC, non-blocking, watched by the loop. */
#pragma once

#include <netinet/in.h>
#include <resolv.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "dns/resolv.h"
#include "loop/loop.h"

enum { RCM_SOCKETS_MAX = 2 * MAXNS, RCM_NO_RCODE = -1 };

struct rcm_sockets;

struct rcm_socket {
	struct rcm_source source;
	struct rcm_sockets *set;
	int fd;					/* -1: free */
	bool udp;
	union rcm_dns_address peer;
};

struct rcm_sockets {
	struct rcm_loop *loop;			/* NULL: abandoned, leave the epoll registrations alone */
	const struct rcm_resolv *resolv;
	void (*ready)(struct rcm_sockets *set, int fd, uint32_t events);
	int failed;				/* errno of the last socket() if it failed, else 0 */
	/* Of the message that was received last, until the next attempt to receive. */
	int rcode;				/* RCM_NO_RCODE: there is none */
	bool cut;				/* truncated by the server, or longer than was agreed */
	const union rcm_dns_address *speaker;	/* who sent it */
	struct rcm_socket sockets[RCM_SOCKETS_MAX];
};

/* Keeps no reference on resolv. */
void rcm_sockets_init(struct rcm_sockets *set, struct rcm_loop *loop, const struct rcm_resolv *resolv,
		      void (*ready)(struct rcm_sockets *set, int fd, uint32_t events));

/* Watches one for these events, or not any more where both are 0. */
void rcm_socket_watch(void *set, int fd, int readable, int writable);

/* Like socket(2), close(2), connect(2), recvfrom(2) and writev(2), with the set last. */
int rcm_socket_open(int family, int type, int protocol, void *set);
int rcm_socket_close(int fd, void *set);
int rcm_socket_connect(int fd, const struct sockaddr *address, socklen_t len, void *set);
ssize_t rcm_socket_receive(int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *from_len,
			   void *set);
ssize_t rcm_socket_send(int fd, const struct iovec *iov, int count, void *set);
