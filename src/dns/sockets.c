/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets to name servers, on the loop. */
#include "dns/sockets.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/container.h"
#include "base/log.h"

enum {
	RECEIVE_BUFFER = 1 << 20	/* a window full of answers, and more */
};

void rcm_sockets_init(struct rcm_sockets *set, struct rcm_loop *loop, const struct rcm_resolv *resolv,
		      void (*ready)(struct rcm_sockets *set, int fd, uint32_t events))
{
	memset(set, 0, sizeof(*set));
	set->loop = loop;
	set->resolv = resolv;
	set->ready = ready;
	set->rcode = RCM_NO_RCODE;
	for (int i = 0; i < RCM_SOCKETS_MAX; i++) {
		set->sockets[i].set = set;
		set->sockets[i].fd = -1;
	}
}

static struct rcm_socket *find(struct rcm_sockets *set, int fd)
{
	for (int i = 0; i < RCM_SOCKETS_MAX; i++)
		if (set->sockets[i].fd == fd)
			return &set->sockets[i];
	return NULL;
}

static void source_ready(struct rcm_source *source, uint32_t events)
{
	struct rcm_socket *socket = rcm_container(source, struct rcm_socket, source);

	socket->set->ready(socket->set, socket->fd, events);
}

void rcm_socket_watch(void *arg, int fd, int readable, int writable)
{
	struct rcm_sockets *set = arg;
	struct rcm_socket *socket = find(set, fd);
	uint32_t events = (readable ? RCM_READABLE : 0U) | (writable ? RCM_WRITABLE : 0U);
	int err = 0;

	if (!socket || !set->loop)
		return;
	if (!events)
		rcm_source_remove(&socket->source);
	else if (socket->source.loop)
		err = rcm_source_change(&socket->source, events);
	else
		err = rcm_source_add(set->loop, &socket->source, fd, events, source_ready);
	/* Unwatched, its questions end by their timeouts. */
	if (err)
		rcm_error("dns: can't watch a socket: %s", strerror(-err));
}

int rcm_socket_open(int family, int type, int protocol, void *arg)
{
	struct rcm_sockets *set = arg;
	struct rcm_socket *slot = find(set, -1);
	const int room = RECEIVE_BUFFER, on = 1;
	int fd;

	if (!slot) {
		errno = EMFILE;
		return -1;
	}
	fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	set->failed = fd < 0 ? errno : 0;
	if (fd < 0)
		return -1;
	slot->udp = type == SOCK_DGRAM;
	if (slot->udp)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	else
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	slot->fd = fd;
	return fd;
}

int rcm_socket_close(int fd, void *arg)
{
	struct rcm_sockets *set = arg;
	struct rcm_socket *socket = find(set, fd);

	if (socket) {
		if (set->loop)
			rcm_source_remove(&socket->source);
		socket->fd = -1;
	}
	return close(fd);
}

/* c-ares has no place for the scope of a link-local server. */
static void add_scope(const struct rcm_resolv *resolv, union rcm_dns_address *peer)
{
	for (unsigned i = 0; i < resolv->servers_count; i++) {
		const struct sockaddr_in6 *server = &resolv->servers[i].in6;

		if (server->sin6_family == AF_INET6 &&
		    IN6_ARE_ADDR_EQUAL(&server->sin6_addr, &peer->in6.sin6_addr))
			peer->in6.sin6_scope_id = server->sin6_scope_id;
	}
}

int rcm_socket_connect(int fd, const struct sockaddr *address, socklen_t len, void *arg)
{
	struct rcm_sockets *set = arg;
	struct rcm_socket *socket = find(set, fd);

	if (!socket || len > sizeof(socket->peer)) {
		errno = EBADF;
		return -1;
	}
	memset(&socket->peer, 0, sizeof(socket->peer));
	memcpy(&socket->peer, address, len);
	if (address->sa_family == AF_INET6)
		add_scope(set->resolv, &socket->peer);
	return connect(fd, &socket->peer.sa, len);
}

ssize_t rcm_socket_receive(int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *from_len,
			   void *arg)
{
	struct rcm_sockets *set = arg;
	const struct rcm_socket *socket = find(set, fd);
	const unsigned char *header = buf;
	ssize_t n = recvfrom(fd, buf, len, flags, from, from_len);

	set->rcode = RCM_NO_RCODE;
	set->speaker = socket ? &socket->peer : NULL;
	if (n < NS_HFIXEDSZ)
		return n;
	set->rcode = header[3] & 0xf;
	/* RFC 1035 4.1.1: TC. Without EDNS no more than 512 octets are to come. */
	set->cut = (header[2] & 0x02) || (n > NS_PACKETSZ && !set->resolv->edns);
	return n;
}

/*
 * "Connection refused" here is the fate of a question sent before, and told once: c-ares would move on with this
 * question only, and the other would wait for its timeout. Sent again, it is told again, to the one who reads.
 */
ssize_t rcm_socket_send(int fd, const struct iovec *iov, int count, void *set)
{
	const struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count };
	const struct rcm_socket *socket = find(set, fd);
	ssize_t n = sendmsg(fd, &msg, MSG_NOSIGNAL);

	if (n < 0 && errno == ECONNREFUSED && socket && socket->udp)
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	return n;
}
