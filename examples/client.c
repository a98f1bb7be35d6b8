/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a name to a connection: resolves HOST, connects to the first of its addresses that answers, sends MESSAGE, and
 * prints what comes back. One thread, which waits in poll() only. Goes with server.c.
 *
 * usage: client HOST PORT MESSAGE. Exit status: 0; 1 where the name or every address failed; 3 for any other failure.
 */
#include <err.h>
#include <poll.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 256, STEP_MS = 2000 };

struct client {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_addrinfo *list;		/* every address of the name, best first */
	const struct rdma_addrinfo *next;	/* the address to try next */
	bool done, failed;
	struct ibv_mr *mr;			/* of both buffers */
	struct {
		char out[MESSAGE_MAX], in[MESSAGE_MAX];
	} buffers;
};

static void id_make(struct client *client)
{
	if (rdma_create_id(client->channel, &client->id, NULL, RDMA_PS_TCP))
		err(3, "rdma_create_id");
}

static void id_free(struct client *client)
{
	if (client->mr)
		rdma_dereg_mr(client->mr);
	client->mr = NULL;
	rdma_destroy_qp(client->id);
	rdma_destroy_id(client->id);
}

static void give_up(struct client *client)
{
	client->done = client->failed = true;
}

static void id_renew(struct client *client)
{
	id_free(client);
	id_make(client);
}

/* An address can fail at once, too: without a route to it, or a device on that route. */
static void next_address(struct client *client)
{
	while (client->next) {
		const struct rdma_addrinfo *address = client->next;

		client->next = address->ai_next;
		if (rdma_resolve_addr(client->id, NULL, address->ai_dst_addr, STEP_MS) == 0)
			return;
		warn("rdma_resolve_addr");
		id_renew(client);
	}
	give_up(client);
}

/* An event said that the address failed: the next one is tried, with a new id. */
static void address_failed(struct client *client, const char *text)
{
	warnx("%s", text);
	id_renew(client);
	next_address(client);
}

/* The same, said by a call that returned -1: no event follows. */
static void call_failed(struct client *client, const char *call)
{
	warn("%s", call);
	id_renew(client);
	next_address(client);
}

static void addresses_arrived(struct client *client)
{
	if (rdma_query_addrinfo(client->id, &client->list))
		err(3, "rdma_query_addrinfo");
	client->next = client->list;
	next_address(client);
}

/* The buffer for the answer is posted before the peer can send one. NULL, or the call that failed. */
static const char *make_ready(struct client *client)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id = client->id;

	if (rdma_create_qp(id, NULL, &attr))
		return "rdma_create_qp";
	client->mr = rdma_reg_msgs(id, &client->buffers, sizeof(client->buffers));
	if (!client->mr)
		return "rdma_reg_msgs";
	if (ibv_req_notify_cq(id->recv_cq, 0))
		return "ibv_req_notify_cq";
	if (rdma_post_recv(id, NULL, client->buffers.in, MESSAGE_MAX, client->mr))
		return "rdma_post_recv";
	return NULL;
}

/* The id has a device and a route now. */
static void ask_for_connection(struct client *client)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	const char *call = make_ready(client);

	if (!call && rdma_connect(client->id, &param))
		call = "rdma_connect";
	if (call)
		call_failed(client, call);
}

static void send_message(struct client *client)
{
	char *out = client->buffers.out;

	if (rdma_post_send(client->id, NULL, out, strlen(out), client->mr, 0))
		err(3, "rdma_post_send");
}

static void answer_arrived(struct client *client)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(client->id, &wc) != 1)
		err(3, "rdma_get_recv_comp");
	client->done = true;
	client->failed = wc.status != IBV_WC_SUCCESS;
	if (client->failed)
		warnx("receiving: %s", ibv_wc_status_str(wc.status));
	else
		printf("%.*s\n", (int)wc.byte_len, client->buffers.in);
}

static void event_arrived(struct client *client)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	char why[256], text[320];

	if (rdma_get_cm_event(client->channel, &event))
		err(3, "rdma_get_cm_event");
	type = event->event;
	rai_event_text(event, why, sizeof(why));
	snprintf(text, sizeof(text), "%s: %s", rdma_event_str(type), why);
	rdma_ack_cm_event(event);	/* before the id is destroyed, which waits for it */

	switch (type) {
	case RDMA_CM_EVENT_ADDRINFO_RESOLVED:
		addresses_arrived(client);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(client->id, STEP_MS))
			call_failed(client, "rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask_for_connection(client);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		send_message(client);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		address_failed(client, text);
		break;
	default:			/* the name failed, or the connection ended too early */
		warnx("%s", text);
		give_up(client);
	}
}

/* The program's event loop: the channel, and once there is a queue pair the completions of what it received. */
static void run(struct client *client)
{
	while (!client->done) {
		const struct rdma_cm_id *id = client->id;
		struct pollfd fds[] = {
			{ .fd = client->channel->fd, .events = POLLIN },
			{ .fd = id->recv_cq_channel ? id->recv_cq_channel->fd : -1, .events = POLLIN },
		};

		if (poll(fds, 2, -1) < 0)
			err(3, "poll");
		if (fds[1].revents)
			answer_arrived(client);
		else if (fds[0].revents)
			event_arrived(client);
	}
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct client client = { 0 };

	if (argc != 4 || strlen(argv[3]) >= MESSAGE_MAX)
		errx(3, "usage: client HOST PORT MESSAGE");
	strcpy(client.buffers.out, argv[3]);
	client.channel = rdma_create_event_channel();
	if (!client.channel)
		err(3, "rdma_create_event_channel");
	id_make(&client);
	if (rdma_resolve_addrinfo(client.id, argv[1], argv[2], &hints))	/* returns at once */
		err(3, "rdma_resolve_addrinfo");
	run(&client);
	if (!client.failed)
		rdma_disconnect(client.id);
	id_free(&client);
	rdma_freeaddrinfo(client.list);
	rdma_destroy_event_channel(client.channel);
	return client.failed;
}
