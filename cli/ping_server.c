/* SPDX-License-Identifier: BSD-2-Clause */
/* rai ping --server: gives each message back, to so many clients at a time, in one thread. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "ping.h"
#include "wire.h"
#include "words.h"

struct client {
	struct cli_wire wire;
	char name[80];
	uint64_t messages;
};

struct server {
	const struct cli_ping *ping;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned served;
	struct client clients[CLI_PING_CLIENTS_MAX];
};

static void client_end(struct server *server, struct client *client, const char *why)
{
	printf("%s: %s after %" PRIu64 " message%s\n", client->name, why, client->messages,
	       client->messages == 1 ? "" : "s");
	cli_output_flush();
	cli_wire_close(&client->wire);
	server->served++;
}

static struct client *client_find(struct server *server, const struct rdma_cm_id *id)
{
	for (size_t i = 0; i < CLI_PING_CLIENTS_MAX; i++)
		if (server->clients[i].wire.id == id)
			return &server->clients[i];
	return NULL;
}

/* Somebody else's connection is none of ours. */
static void request_refuse(struct rdma_cm_id *id, const char *name, const char *why)
{
	printf("%s: refused: %s\n", name, why);
	cli_output_flush();
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

static void request_arrived(struct server *server, struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	uint32_t size = cli_hello_read(asked->private_data, asked->private_data_len);
	struct client *client = client_find(server, NULL);
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct cli_hello hello;
	const char *call;
	char name[80];

	cli_address_word(rdma_get_peer_addr(id), name, sizeof(name));
	if (!size || !client) {
		request_refuse(id, name, size ? "too many clients" : "it is no rai ping");
		return;
	}
	if (cli_wire_open(&client->wire, id, size, &call)) {
		request_refuse(id, name, call);
		return;
	}
	cli_hello_make(size, &hello);
	param.private_data = &hello;
	param.private_data_len = sizeof(hello);
	client->messages = 0;
	snprintf(client->name, sizeof(client->name), "%s", name);
	if (rdma_accept(id, &param)) {
		client_end(server, client, strerror(errno));
		return;
	}
	printf("%s: connected, %" PRIu32 " bytes a message\n", name, size);
	cli_output_flush();
}

static void event_arrived(struct server *server)
{
	struct rdma_cm_event *event;
	struct rdma_conn_param param;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;
	struct client *client;
	char hello[256];

	if (rdma_get_cm_event(server->channel, &event))
		return;
	type = event->event;
	id = event->id;
	param = event->param.conn;
	/* What came with it is gone after the ack. */
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST && param.private_data) {
		memcpy(hello, param.private_data, param.private_data_len);
		param.private_data = hello;
	}
	rdma_ack_cm_event(event);
	client = client_find(server, id);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		request_arrived(server, id, &param);
	else if (client && type == RDMA_CM_EVENT_DISCONNECTED)
		client_end(server, client, "disconnected");
	else if (client && type != RDMA_CM_EVENT_ESTABLISHED && type != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		client_end(server, client, rdma_event_str(type));
}

static void messages_arrived(struct server *server, struct client *client)
{
	const char *why;
	int rc;

	while ((rc = cli_wire_take(&client->wire, &why)) > 0) {
		client->messages++;
		memcpy(client->wire.out, client->wire.in, client->wire.size);
		rc = cli_wire_send(&client->wire);
		if (rc < 0) {
			client_end(server, client, strerror(-rc));
			return;
		}
	}
	/* A peer that disconnects flushes what waits; the event tells of it. */
	if (rc < 0 && strcmp(why, "Work Request Flushed Error") != 0)
		client_end(server, client, why);
}

static bool server_goes_on(const struct server *server)
{
	return server->ping->count == 0 || server->served < server->ping->count;
}

static int server_run(struct server *server)
{
	struct pollfd fds[2 + CLI_PING_CLIENTS_MAX] = {
		{ .fd = server->ping->signals, .events = POLLIN }, { .fd = server->channel->fd, .events = POLLIN },
	};

	while (server_goes_on(server)) {
		for (size_t i = 0; i < CLI_PING_CLIENTS_MAX; i++) {
			const struct cli_wire *wire = &server->clients[i].wire;

			fds[2 + i] = (struct pollfd) { .fd = wire->id ? wire->id->recv_cq_channel->fd : -1,
						       .events = POLLIN };
		}
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		/* Messages first: a client that has gone has sent them before. */
		for (size_t i = 0; i < CLI_PING_CLIENTS_MAX; i++)
			if (fds[2 + i].fd >= 0 && fds[2 + i].revents)
				messages_arrived(server, &server->clients[i]);
		if (fds[1].revents)
			event_arrived(server);
	}
	return 0;
}

/* Of the wildcard addresses that of IPv6 takes both families. */
static const struct rdma_addrinfo *choose(const struct rdma_addrinfo *list, bool wildcard)
{
	for (const struct rdma_addrinfo *info = list; info && wildcard; info = info->ai_next)
		if (info->ai_family == AF_INET6)
			return info;
	return list;
}

/* Where to listen: 0; -ECANCELED: a signal came; other -errno, and answer->text says why where that is known. */
static int server_resolve(const struct cli_ping *ping, struct cli_answer *answer, const char **ret_step)
{
	const struct cli_question question = {
		.node = ping->node, .service = ping->service, .places = 1,
		.hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP },
		.deadline_ms = &ping->timeout_ms, .stop = ping->signals,
	};
	int rc = cli_ask(&question, answer, ret_step);

	if (rc < 0)
		return rc;
	*ret_step = "resolve";
	return answer->list ? 0 : answer->status;
}

static int server_listen(struct server *server, const struct rdma_addrinfo *list, const char **ret_step)
{
	const struct rdma_addrinfo *info = choose(list, !server->ping->node);

	*ret_step = "opening an event channel";
	server->channel = rdma_create_event_channel();
	if (!server->channel || fcntl(server->channel->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret_step = "making an id";
	if (rdma_create_id(server->channel, &server->listener, NULL, RDMA_PS_TCP))
		return -errno;
	*ret_step = "listening";
	return rdma_bind_addr(server->listener, info->ai_src_addr) || rdma_listen(server->listener, 16) ? -errno : 0;
}

int cli_ping_server(const struct cli_ping *ping)
{
	struct server *server = calloc(1, sizeof(*server));
	struct cli_answer answer = { 0 };
	const char *step = "beginning";
	int rc = -ENOMEM;

	if (!server)
		goto out;
	server->ping = ping;
	rc = server_resolve(ping, &answer, &step);
	if (rc == 0)
		rc = server_listen(server, answer.list, &step);
	if (rc < 0)
		goto out;
	printf("listening at port %u\n", be16toh(rdma_get_src_port(server->listener)));
	cli_output_flush();
	step = "serving";
	rc = server_run(server);
	for (size_t i = 0; i < CLI_PING_CLIENTS_MAX; i++)
		if (server->clients[i].wire.id) {
			rdma_disconnect(server->clients[i].wire.id);
			client_end(server, &server->clients[i], "ended by this side");
		}
out:
	if (server && server->listener)
		rdma_destroy_id(server->listener);
	if (server)
		rdma_destroy_event_channel(server->channel);
	free(server);
	cli_answers_free(&answer, 1);
	if (rc == -ECANCELED)
		return CLI_FOUND;
	if (rc < 0 && answer.text[0])
		return cli_fail(step, answer.text, rc == -ENOENT || rc == -ENODATA ? CLI_NOT_FOUND : CLI_FAILED);
	/* The second is the kernel's word for it where one of the two addresses is the wildcard. */
	if (rc == -EADDRINUSE || (rc == -EADDRNOTAVAIL && !ping->node))
		return cli_fail(step, "somebody listens at that port already", CLI_FAILED);
	if (rc == -ENODEV)
		return cli_fail(step, "no RDMA device has that address, or there is none at all: 'rai ports' lists "
				"them, 'rai doctor' says what is missing", CLI_FAILED);
	return rc < 0 ? cli_fail(step, strerror(-rc), CLI_FAILED) : CLI_FOUND;
}
