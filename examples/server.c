/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers every message with the same message, for up to 64 clients at a time, in one thread. Goes with client.c.
 *
 * usage: server [-n CLIENTS] PORT [HOST]. Listens at PORT of every address, or of HOST; ends after CLIENTS clients, or
 * never. Prints "listening at port N" first, which with PORT 0 is a free one. Exit status: 0, or 3 after a failure.
 */
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_MAX = 256, CLIENTS_MAX = 64 };

/* One client. The id of its connection has it as its context. */
struct client {
	struct rdma_cm_id *id;		/* NULL: free */
	struct ibv_mr *mr;
	char message[MESSAGE_MAX];	/* comes in, and goes out again */
};

static struct client clients[CLIENTS_MAX];

static struct client *client_find_free(void)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (!clients[i].id)
			return &clients[i];
	return NULL;
}

static void client_free(struct client *client)
{
	if (client->mr)
		rdma_dereg_mr(client->mr);
	rdma_destroy_qp(client->id);
	rdma_destroy_id(client->id);
	memset(client, 0, sizeof(*client));
}

static int client_receive(struct client *client)
{
	return rdma_post_recv(client->id, NULL, client->message, MESSAGE_MAX, client->mr);
}

/* A queue pair, memory and a posted buffer, so that the client may send as soon as it is accepted. */
static int client_set_up(struct client *client)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	if (rdma_create_qp(client->id, NULL, &attr))
		return -1;
	client->mr = rdma_reg_msgs(client->id, client->message, MESSAGE_MAX);
	if (!client->mr)
		return -1;
	if (ibv_req_notify_cq(client->id->recv_cq, 0) || ibv_req_notify_cq(client->id->send_cq, 0))
		return -1;
	return client_receive(client);
}

static void request_arrived(struct rdma_cm_id *id)
{
	struct client *client = client_find_free();

	if (!client) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	client->id = id;
	id->context = client;
	if (client_set_up(client) == 0 && rdma_accept(id, NULL) == 0)
		return;
	warn("accepting a client");
	rdma_reject(id, NULL, 0);
	client_free(client);
}

/*
 * A message that came is sent back; once it is out, its buffer is posted again. A peer may be gone without a word, and
 * some devices never complete what it didn't acknowledge: so nothing here waits for one client.
 */
static void client_go_on(struct client *client, const struct ibv_wc *wc)
{
	int ret = -1;

	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV)
		ret = rdma_post_send(client->id, NULL, client->message, wc->byte_len, client->mr, 0);
	else if (wc->status == IBV_WC_SUCCESS)
		ret = client_receive(client);
	if (ret)
		rdma_disconnect(client->id);	/* its event frees the client */
}

static void completions_arrived(struct client *client, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		return;
	ibv_ack_cq_events(cq, 1);
	/* Armed before the queue is emptied: what comes after that makes the descriptor readable again. */
	if (ibv_req_notify_cq(cq, 0))
		return;
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		client_go_on(client, &wc);
}

/* Returns how many clients ended by this event. */
static int event_arrived(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		err(3, "rdma_get_cm_event");
	type = event->event;
	id = event->id;
	rdma_ack_cm_event(event);

	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		request_arrived(id);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		client_free(id->context);
		return 1;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		client_free(id->context);
		return 1;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (!id->context)
			errx(3, "the device to listen at is gone");
		client_free(id->context);
		return 1;
	default:		/* ESTABLISHED: the client speaks first */
		return 0;
	}
}

/* Serves until that many clients are gone; a negative number is never reached. */
static void run(struct rdma_event_channel *channel, long count)
{
	struct pollfd fds[1 + 2 * CLIENTS_MAX] = { { .fd = channel->fd, .events = POLLIN } };

	while (count != 0) {
		for (size_t i = 0; i < CLIENTS_MAX; i++) {
			const struct rdma_cm_id *id = clients[i].id;

			fds[1 + 2 * i] = (struct pollfd) { .fd = id ? id->recv_cq_channel->fd : -1, .events = POLLIN };
			fds[2 + 2 * i] = (struct pollfd) { .fd = id ? id->send_cq_channel->fd : -1, .events = POLLIN };
		}
		if (poll(fds, 1 + 2 * CLIENTS_MAX, -1) < 0)
			err(3, "poll");
		for (size_t i = 0; i < CLIENTS_MAX; i++) {
			if (fds[1 + 2 * i].revents)
				completions_arrived(&clients[i], clients[i].id->recv_cq_channel);
			if (fds[2 + 2 * i].revents)
				completions_arrived(&clients[i], clients[i].id->send_cq_channel);
		}
		if (fds[0].revents)
			count -= event_arrived(channel);
	}
}

/* Of the wildcard addresses that of IPv6 takes clients of both families. */
static struct sockaddr *choose(const struct rdma_addrinfo *list, const char *host)
{
	for (const struct rdma_addrinfo *at = list; at && !host; at = at->ai_next)
		if (at->ai_family == AF_INET6)
			return at->ai_src_addr;
	return list->ai_src_addr;
}

/* Nobody is served yet, so this may wait: rdma_getaddrinfo() is the call that does. */
static struct rdma_cm_id *listen_at(struct rdma_event_channel *channel, const char *host, const char *port)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *list;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(host, port, &hints, &list))
		errx(3, "no address to listen at");
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		err(3, "rdma_create_id");
	if (rdma_bind_addr(id, choose(list, host)) || rdma_listen(id, CLIENTS_MAX))
		err(3, "listening");
	rdma_freeaddrinfo(list);
	return id;
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	long count = -1;
	int option;

	while ((option = getopt(argc, argv, "n:")) != -1) {
		if (option != 'n')
			exit(3);
		count = strtol(optarg, NULL, 10);
	}
	if (argc - optind < 1 || argc - optind > 2)
		errx(3, "usage: server [-n CLIENTS] PORT [HOST]");
	channel = rdma_create_event_channel();
	if (!channel)
		err(3, "rdma_create_event_channel");
	listener = listen_at(channel, argv[optind + 1], argv[optind]);
	printf("listening at port %u\n", ntohs(rdma_get_src_port(listener)));
	fflush(stdout);
	run(channel, count);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (clients[i].id)
			client_free(&clients[i]);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
