/* SPDX-License-Identifier: BSD-2-Clause */
/* c-ares on the engine's loop: a bounded set of channels, each with a bounded number of names. */
#include "dns/cares.h"

#include <ares.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/container.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "loop/timer.h"

/* c-ares wants to be called now and then while questions are out; to ask it when exactly (ares_timeout) costs a walk
 * over all of them. */
#define TICK_NS (50 * RCM_NS_PER_MS)

enum {
	SOCKETS = 2 * MAXNS,		/* of a channel: UDP and TCP for each server */
	RECEIVE_BUFFER = 1 << 20,	/* a window full of answers, and more */
	EDNS_SIZE = 1200,		/* what glibc announces */
	NO_RCODE = -1
};

struct channel;

struct socket {
	struct rcm_source source;
	struct channel *channel;
	int fd;				/* -1: free */
	union rcm_dns_address peer;
};

struct channel {
	TAILQ_ENTRY(channel) entry;
	struct rcm_cares *cares;
	struct rcm_resolv *resolv;
	ares_channel ares;
	unsigned names;			/* with a question out */
	unsigned wanted;		/* of those, not dropped by who asked */
	int rcode;			/* of the packet c-ares is working on; NO_RCODE between packets */
	const union rcm_dns_address *speaker;	/* who sent it */
	struct socket sockets[SOCKETS];
};

struct rcm_cares {
	struct rcm_loop *loop;
	TAILQ_HEAD(channels, channel) channels;
	unsigned channels_count;
	unsigned names;
	struct rcm_timer tick;
	bool closing;
	bool abandoned;
};

/* What c-ares calls back with; outlives a dropped exchange. */
struct rcm_cares_name {
	struct channel *channel;
	struct rcm_exchange *exchange;	/* NULL: dropped */
	unsigned pending;
};

static struct socket *find_socket(struct channel *channel, int fd)
{
	for (int i = 0; i < SOCKETS; i++)
		if (channel->sockets[i].fd == fd)
			return &channel->sockets[i];
	return NULL;
}

static void socket_ready(struct rcm_source *source, uint32_t events)
{
	struct socket *socket = rcm_container(source, struct socket, source);
	struct channel *channel = socket->channel;
	/* An error is found by reading: c-ares looks at a socket only when told to read or to write. */
	bool readable = events & ~(uint32_t)RCM_WRITABLE;

	ares_process_fd(channel->ares, readable ? socket->fd : ARES_SOCKET_BAD,
			events & RCM_WRITABLE ? socket->fd : ARES_SOCKET_BAD);
	channel->rcode = NO_RCODE;
}

static void watch_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct channel *channel = arg;
	struct socket *socket = find_socket(channel, fd);
	uint32_t events = (readable ? RCM_READABLE : 0U) | (writable ? RCM_WRITABLE : 0U);
	int err = 0;

	if (!socket || channel->cares->abandoned)
		return;
	if (!events)
		rcm_source_remove(&socket->source);
	else if (socket->source.loop)
		err = rcm_source_change(&socket->source, events);
	else
		err = rcm_source_add(channel->cares->loop, &socket->source, fd, events, socket_ready);
	/* Unwatched, its questions end by their timeouts. */
	if (err)
		rcm_error("dns: can't watch a socket: %s", strerror(-err));
}

static ares_socket_t open_socket(int family, int type, int protocol, void *arg)
{
	struct socket *slot = find_socket(arg, -1);
	const int room = RECEIVE_BUFFER, on = 1;
	int fd;

	if (!slot) {
		errno = EMFILE;
		return ARES_SOCKET_BAD;
	}
	fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return ARES_SOCKET_BAD;
	if (type == SOCK_DGRAM)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	else
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	slot->fd = fd;
	return fd;
}

static int close_socket(ares_socket_t fd, void *arg)
{
	struct channel *channel = arg;
	struct socket *socket = find_socket(channel, fd);

	if (socket) {
		if (!channel->cares->abandoned)
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

static int connect_socket(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t len, void *arg)
{
	struct channel *channel = arg;
	struct socket *socket = find_socket(channel, fd);

	if (!socket || len > sizeof(socket->peer)) {
		errno = EBADF;
		return -1;
	}
	memset(&socket->peer, 0, sizeof(socket->peer));
	memcpy(&socket->peer, address, len);
	if (address->sa_family == AF_INET6)
		add_scope(channel->resolv, &socket->peer);
	return connect(fd, &socket->peer.sa, len);
}

/*
 * Where all servers fail, c-ares says "connection refused", whatever they answered. But it says so while it works on
 * the last answer: so the answer's rcode is noted here, and counts until the next read.
 */
static ares_ssize_t receive(ares_socket_t fd, void *buf, size_t len, int flags, struct sockaddr *from,
			    ares_socklen_t *from_len, void *arg)
{
	struct channel *channel = arg;
	struct socket *socket = find_socket(channel, fd);
	ssize_t n = recvfrom(fd, buf, len, flags, from, from_len);

	channel->rcode = NO_RCODE;
	channel->speaker = socket ? &socket->peer : NULL;
	if (n >= NS_HFIXEDSZ)
		channel->rcode = ((const unsigned char *)buf)[3] & 0xf;
	return n;
}

static ares_ssize_t transmit(ares_socket_t fd, const struct iovec *iov, int count, void *arg)
{
	const struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count };
	ssize_t n = sendmsg(fd, &msg, MSG_NOSIGNAL);

	(void)arg;
	return n;
}

static const struct ares_socket_functions socket_functions = {
	.asocket = open_socket,
	.aclose = close_socket,
	.aconnect = connect_socket,
	.arecvfrom = receive,
	.asendv = transmit,
};

static int status_errno(int status)
{
	return status == ARES_SUCCESS ? 0 : status == ARES_ENOMEM ? -ENOMEM : -EIO;
}

static int set_servers(struct channel *channel)
{
	const struct rcm_resolv *resolv = channel->resolv;
	struct ares_addr_port_node nodes[MAXNS] = { 0 };

	for (unsigned i = 0; i < resolv->servers_count; i++) {
		const union rcm_dns_address *server = &resolv->servers[i];
		struct ares_addr_port_node *node = &nodes[i];

		node->family = server->sa.sa_family;
		if (node->family == AF_INET) {
			node->addr.addr4 = server->in.sin_addr;
			node->udp_port = node->tcp_port = ntohs(server->in.sin_port);
		} else {
			memcpy(&node->addr.addr6, &server->in6.sin6_addr, sizeof(node->addr.addr6));
			node->udp_port = node->tcp_port = ntohs(server->in6.sin6_port);
		}
		if (i)
			nodes[i - 1].next = node;
	}
	return status_errno(ares_set_servers_ports(channel->ares, resolv->servers_count ? nodes : NULL));
}

/* Every option is given, so that c-ares reads no file of its own: it knows fewer of their words than glibc. */
static int init_ares(struct channel *channel)
{
	const struct rcm_resolv *resolv = channel->resolv;
	struct ares_options options = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | (resolv->use_tcp ? ARES_FLAG_USEVC : 0) |
			 (resolv->edns ? ARES_FLAG_EDNS : 0),
		.timeout = resolv->timeout_ms,
		.tries = resolv->attempts,
		.ndots = 1,
		.ednspsz = EDNS_SIZE,
		.lookups = (char[]){ "b" },
		.sock_state_cb = watch_socket,
		.sock_state_cb_data = channel,
	};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_EDNSPSZ |
		   ARES_OPT_LOOKUPS | ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_SORTLIST |
		   ARES_OPT_SOCK_STATE_CB | (resolv->rotate ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
	int err = status_errno(ares_init_options(&channel->ares, &options, mask));

	if (err)
		return err;
	ares_set_socket_functions(channel->ares, &socket_functions, channel);
	err = set_servers(channel);
	if (err)
		ares_destroy(channel->ares);
	return err;
}

static int channel_new(struct rcm_cares *cares, struct rcm_resolv *resolv, struct channel **ret_channel)
{
	struct channel *channel = calloc(1, sizeof(*channel));
	int err;

	if (!channel)
		return -ENOMEM;
	channel->cares = cares;
	channel->resolv = rcm_resolv_get(resolv);
	channel->rcode = NO_RCODE;
	for (int i = 0; i < SOCKETS; i++) {
		channel->sockets[i].channel = channel;
		channel->sockets[i].fd = -1;
	}
	err = init_ares(channel);
	if (err) {
		rcm_resolv_put(channel->resolv);
		free(channel);
		return err;
	}
	TAILQ_INSERT_TAIL(&cares->channels, channel, entry);
	cares->channels_count++;
	*ret_channel = channel;
	return 0;
}

/* Never from within one of the channel's own callbacks. */
static void channel_free(struct channel *channel)
{
	struct rcm_cares *cares = channel->cares;

	ares_destroy(channel->ares);
	TAILQ_REMOVE(&cares->channels, channel, entry);
	cares->channels_count--;
	rcm_resolv_put(channel->resolv);
	free(channel);
}

static void ticked(struct rcm_timer *timer)
{
	struct rcm_cares *cares = rcm_container(timer, struct rcm_cares, tick);
	struct channel *channel;

	TAILQ_FOREACH(channel, &cares->channels, entry)
		if (channel->names)
			ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (cares->names)
		rcm_timer_start(cares->loop, &cares->tick, cares->loop->now + TICK_NS, ticked);
}

/* Looks for a channel to resolv's servers that has a place for a name, and frees what nobody needs on the way. */
static struct channel *find_channel(struct rcm_cares *cares, const struct rcm_resolv *resolv)
{
	struct channel *channel, *next, *found = NULL;

	for (channel = TAILQ_FIRST(&cares->channels); channel; channel = next) {
		bool ours = channel->resolv == resolv;

		next = TAILQ_NEXT(channel, entry);
		if (ours && !found && channel->names < RCM_DNS_WINDOW)
			found = channel;
		else if (!channel->names || (!channel->wanted && cares->channels_count == RCM_DNS_CHANNELS_MAX))
			channel_free(channel);
	}
	return found;
}

static int take_channel(struct rcm_cares *cares, struct rcm_resolv *resolv, struct channel **ret_channel)
{
	struct channel *channel = find_channel(cares, resolv);

	if (channel) {
		*ret_channel = channel;
		return 0;
	}
	return cares->channels_count < RCM_DNS_CHANNELS_MAX ? channel_new(cares, resolv, ret_channel) : -EAGAIN;
}

static enum rcm_dns_verdict verdict_of(int status)
{
	switch (status) {
	case ARES_SUCCESS:
		return RCM_DNS_FOUND;
	case ARES_ENODATA:
		return RCM_DNS_NODATA;
	case ARES_ENOTFOUND:
	case ARES_EBADNAME:
		return RCM_DNS_NXDOMAIN;
	case ARES_EFORMERR:
		return RCM_DNS_FORMERR;
	case ARES_ENOTIMP:
		return RCM_DNS_NOTIMP;
	case ARES_EREFUSED:
		return RCM_DNS_REFUSED;
	case ARES_ESERVFAIL:
		return RCM_DNS_SERVFAIL;
	case ARES_ETIMEOUT:
		return RCM_DNS_TIMEOUT;
	case ARES_ENOMEM:
		return RCM_DNS_NOMEM;
	case ARES_ECONNREFUSED:
		return RCM_DNS_UNREACHABLE;
	default:
		return RCM_DNS_MALFORMED;
	}
}

/* No message: all servers failed. The answer being worked on, if any, was the last of their failures. */
static enum rcm_dns_verdict verdict_without_message(const struct channel *channel, int status)
{
	switch (channel->rcode) {
	case ns_r_servfail:
		return RCM_DNS_SERVFAIL;
	case ns_r_refused:
		return RCM_DNS_REFUSED;
	case ns_r_notimpl:
		return RCM_DNS_NOTIMP;
	default:
		return verdict_of(status);
	}
}

static void answered(struct rcm_cares_name *name, ns_type type, int status, const unsigned char *bytes, int len)
{
	struct channel *channel = name->channel;
	struct rcm_exchange *exchange = name->exchange;
	bool last = !--name->pending;
	struct rcm_cares_answer answer = { .type = type, .bytes = bytes, .len = (size_t)len };

	answer.verdict = bytes ? verdict_of(status) : verdict_without_message(channel, status);
	answer.server = bytes || answer.verdict != verdict_of(status) ? channel->speaker : NULL;
	if (last) {
		channel->names--;
		channel->wanted -= exchange != NULL;
		channel->cares->names--;
		free(name);
		if (exchange)
			exchange->name = NULL;
	}
	if (exchange && !channel->cares->closing)
		exchange->answered(exchange, &answer, last);
}

static void answered_a(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	(void)timeouts;
	answered(arg, ns_t_a, status, bytes, len);
}

static void answered_aaaa(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	(void)timeouts;
	answered(arg, ns_t_aaaa, status, bytes, len);
}

static int ask(struct rcm_cares *cares, struct rcm_resolv *resolv, const char *text, bool a, bool aaaa,
	       struct rcm_exchange *exchange)
{
	struct rcm_cares_name *name = calloc(1, sizeof(*name));
	struct channel *channel;
	int err;

	if (!name)
		return -ENOMEM;
	err = take_channel(cares, resolv, &channel);
	if (err) {
		free(name);
		return err;
	}
	*name = (struct rcm_cares_name){ .channel = channel, .exchange = exchange, .pending = (unsigned)a + aaaa };
	exchange->name = name;
	channel->names++;
	channel->wanted++;
	if (!cares->names++)
		rcm_timer_start(cares->loop, &cares->tick, cares->loop->now + TICK_NS, ticked);
	/* An answer may come at once: when the last has, name is gone, and exchange may be. */
	if (a)
		ares_query(channel->ares, text, ns_c_in, ns_t_a, answered_a, name);
	if (aaaa)
		ares_query(channel->ares, text, ns_c_in, ns_t_aaaa, answered_aaaa, name);
	return 0;
}

static void drop(struct rcm_exchange *exchange)
{
	if (!exchange->name)
		return;
	exchange->name->exchange = NULL;
	exchange->name->channel->wanted--;
	exchange->name = NULL;
}

static int cares_open(struct rcm_loop *loop, struct rcm_cares **ret_cares)
{
	struct rcm_cares *cares;
	int err = status_errno(ares_library_init(ARES_LIB_INIT_ALL));

	if (err)
		return err;
	cares = calloc(1, sizeof(*cares));
	if (!cares)
		return -ENOMEM;
	cares->loop = loop;
	TAILQ_INIT(&cares->channels);
	*ret_cares = cares;
	return 0;
}

static void cares_close(struct rcm_cares *cares)
{
	struct channel *channel;

	if (!cares)
		return;
	cares->closing = true;
	while ((channel = TAILQ_FIRST(&cares->channels)))
		channel_free(channel);
	if (!cares->abandoned)
		rcm_timer_stop(cares->loop, &cares->tick);
	free(cares);
}

static void cares_abandon(struct rcm_cares *cares)
{
	if (!cares)
		return;
	cares->abandoned = true;
	cares_close(cares);
}

const struct rcm_cares_ops rcm_cares_network = {
	.open = cares_open,
	.ask = ask,
	.drop = drop,
	.close = cares_close,
	.abandon = cares_abandon,
};
