/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers in the test itself. */
#include "name_server.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/test.h"
#include "dns/resolv.h"

enum { CONNECTIONS = 64 };

static struct {
	struct sockaddr_in at;
	int udp, listener;
	int connections[CONNECTIONS];
	unsigned count;
} servers[NAME_SERVERS];
static struct rcm_loop *loop;

/* -1: another program has that port. */
static int bind_socket(const struct sockaddr_in *at, int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1, room = 4 << 20;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at))) {
		assert_int_equal(errno, EADDRINUSE);
		close(fd);
		return -1;
	}
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 64), 0);
	return fd;
}

void name_server_listen(unsigned server, bool tcp, bool on)
{
	int *fd = tcp ? &servers[server].listener : &servers[server].udp;

	if (*fd >= 0)
		close(*fd);
	*fd = on ? bind_socket(&servers[server].at, tcp ? SOCK_STREAM : SOCK_DGRAM) : -1;
	assert_true(*fd >= 0 || !on);
}

/* The same port for both, which is free for both. */
static void bind_server(struct sockaddr_in *at, in_addr_t address, int *ret_listener, int *ret_udp)
{
	socklen_t len = sizeof(*at);

	for (;;) {
		*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = address };
		*ret_listener = bind_socket(at, SOCK_STREAM);
		assert_int_equal(getsockname(*ret_listener, (struct sockaddr *)at, &len), 0);
		*ret_udp = bind_socket(at, SOCK_DGRAM);
		if (*ret_udp >= 0)
			return;
		close(*ret_listener);
	}
}

void name_server_open(struct rcm_loop *with)
{
	loop = with;
	for (int i = 0; i < NAME_SERVERS; i++) {
		bind_server(&servers[i].at, htonl(INADDR_LOOPBACK + (unsigned)i), &servers[i].listener, &servers[i].udp);
		servers[i].count = 0;
	}
}

void name_server_close(void)
{
	for (int i = 0; i < NAME_SERVERS; i++) {
		name_server_listen((unsigned)i, true, false);
		name_server_listen((unsigned)i, false, false);
		while (servers[i].count)
			close(servers[i].connections[--servers[i].count]);
	}
}

struct rcm_resolv *name_server_resolv(unsigned count, const char *options)
{
	char path[] = "/tmp/rai-resolv-XXXXXX";
	int fd = mkstemp(path);
	struct rcm_resolv *resolv;

	assert_int_equal(write(fd, options, strlen(options)), strlen(options));
	close(fd);
	assert_int_equal(rcm_resolv_read(path, &resolv), 0);
	unlink(path);
	resolv->servers_count = count;
	for (unsigned i = 0; i < count; i++) {
		memset(&resolv->servers[i], 0, sizeof(resolv->servers[i]));
		resolv->servers[i].in = servers[i].at;
	}
	return resolv;
}

static void parse(struct name_server_question *q)
{
	size_t at = 12, to = 0;

	assert_true(q->len > 17);
	q->id = (uint16_t)(q->bytes[0] << 8 | q->bytes[1]);
	q->ad = q->bytes[3] & 0x20;
	while (q->bytes[at]) {
		if (to)
			q->name[to++] = '.';
		memcpy(q->name + to, q->bytes + at + 1, q->bytes[at]);
		to += q->bytes[at];
		at += q->bytes[at] + 1U;
	}
	q->name[to] = '\0';
	q->type = q->bytes[at + 2];
	q->edns = q->bytes[11];
}

static void accept_all(unsigned server)
{
	int fd;

	while (servers[server].listener >= 0 && (fd = accept4(servers[server].listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		assert_true(servers[server].count < CONNECTIONS);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(const int){ 1 }, sizeof(int));
		servers[server].connections[servers[server].count++] = fd;
	}
}

static bool take_tcp(unsigned server, struct name_server_question *q)
{
	uint8_t length[2];

	/* To connect and to send are two turns. */
	for (int i = 0; i < 3; i++) {
		accept_all(server);
		assert_int_equal(rcm_loop_turn(loop, 0), 0);
	}
	for (unsigned i = 0; i < servers[server].count; i++) {
		q->fd = servers[server].connections[i];
		if (recv(q->fd, length, 2, MSG_DONTWAIT) != 2)
			continue;
		q->len = (size_t)(length[0] << 8 | length[1]);
		assert_int_equal(recv(q->fd, q->bytes, q->len, MSG_WAITALL), q->len);
		return true;
	}
	return false;
}

bool name_server_take(unsigned server, bool tcp, struct name_server_question *q)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n;

	*q = (struct name_server_question){ .server = server, .tcp = tcp };
	if (tcp) {
		if (!take_tcp(server, q))
			return false;
	} else {
		n = recvfrom(servers[server].udp, q->bytes, sizeof(q->bytes), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
		if (n < 0)
			return false;
		q->len = (size_t)n;
		q->port = ntohs(from.sin_port);
	}
	parse(q);
	return true;
}

void name_server_assert_quiet(void)
{
	struct name_server_question q;

	for (unsigned i = 0; i < NAME_SERVERS; i++)
		for (int tcp = 0; tcp < 2; tcp++)
			if (name_server_take(i, tcp, &q))
				fail_msg("server %u was asked for %s", i, q.name);
}

void name_server_begin(struct dns_message *message, const struct name_server_question *q, int rcode)
{
	dns_message_begin(message, q->name, q->type, rcode);
	message->bytes[0] = (uint8_t)(q->id >> 8);
	message->bytes[1] = (uint8_t)q->id;
}

void name_server_send(const struct name_server_question *q, const struct dns_message *message)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(q->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint8_t length[2] = { (uint8_t)(message->len >> 8), (uint8_t)message->len };

	if (q->tcp) {
		assert_int_equal(send(q->fd, length, 2, MSG_MORE | MSG_NOSIGNAL), 2);
		assert_int_equal(send(q->fd, message->bytes, message->len, MSG_NOSIGNAL), message->len);
	} else {
		assert_int_equal(sendto(servers[q->server].udp, message->bytes, message->len, 0,
					(struct sockaddr *)&to, sizeof(to)), message->len);
	}
}

void name_server_fail(const struct name_server_question *q, int rcode)
{
	static struct dns_message message;

	name_server_begin(&message, q, rcode);
	name_server_send(q, &message);
}

void name_server_answer(const struct name_server_question *q)
{
	static struct dns_message message;

	name_server_begin(&message, q, ns_r_noerror);
	dns_message_add(&message, q->name, q->type, 60, q->type == ns_t_a ? "192.0.2.1" : "2001:db8::1");
	name_server_send(q, &message);
}

void name_server_hang_up(const struct name_server_question *q)
{
	unsigned server = q->server, i = 0;

	while (servers[server].connections[i] != q->fd)
		i++;
	close(q->fd);
	servers[server].connections[i] = servers[server].connections[--servers[server].count];
}
