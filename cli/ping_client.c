/* SPDX-License-Identifier: BSD-2-Clause */
/* rai ping NODE SERVICE: resolves, connects, sends messages there and back, disconnects, each with its time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "out.h"
#include "ping.h"
#include "tally.h"
#include "wire.h"
#include "words.h"

enum { STOPPED = 1, WHY = 320 };

/* In the order in which they are made. */
enum step { STEP_RESOLVE, STEP_ADDRESS, STEP_ROUTE, STEP_CONNECT, STEP_DISCONNECT, STEPS };

static const char *const step_words[STEPS] = { "resolve", "address", "route", "connect", "disconnect" };

struct client {
	const struct cli_ping *ping;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;		/* until wire has it */
	struct rdma_addrinfo *list;
	struct cli_wire wire;
	char address[80], source[80], device[80];
	int64_t took_us[STEPS];		/* negative: not made */
	enum step step;
	uint64_t sent;
	struct cli_tally tally;		/* of round trips, ns / 100 as its unit is an integer */
	char why[WHY];			/* of a failure */
	int status;			/* of it, -errno */
	bool not_found;
};

static int client_fail(struct client *client, int status, const char *why)
{
	snprintf(client->why, sizeof(client->why), "%s", why);
	client->status = status;
	return -EIO;
}

static int client_fail_call(struct client *client, const char *call)
{
	int error = errno;

	snprintf(client->why, sizeof(client->why), "%s: %s", call, strerror(error));
	client->status = -error;
	return -EIO;
}

/* ---- Waiting ---- */

/* 0: fd is readable, or the channel; STOPPED: a signal; -ETIMEDOUT. */
static int client_wait(struct client *client, int fd, int64_t until_us)
{
	struct pollfd fds[] = {
		{ .fd = client->ping->signals, .events = POLLIN }, { .fd = client->channel->fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	int64_t left = until_us - cli_now_us();
	struct signalfd_siginfo info;

	if (left < 0)
		left = 0;
	if (poll(fds, 3, (int)((left + 999) / 1000)) == 0)
		return -ETIMEDOUT;
	/* Taken, so that the leave that is taken then isn't stopped, too; the next one stops that. */
	return fds[0].revents && read(client->ping->signals, &info, sizeof(info)) > 0 ? STOPPED : 0;
}

static int64_t deadline(const struct client *client)
{
	return cli_now_us() + (int64_t)client->ping->timeout_ms * 1000;
}

/* The next event is the one wanted: 0; STOPPED; or -EIO, and why is said. hello: where what came with it goes. */
static int event_expect(struct client *client, enum rdma_cm_event_type wanted, uint32_t *hello)
{
	int64_t until = deadline(client);
	struct rdma_cm_event *event;
	char text[256], why[WHY];
	int rc;

	while (rdma_get_cm_event(client->channel, &event)) {
		if (errno != EAGAIN)
			return client_fail_call(client, "rdma_get_cm_event");
		rc = client_wait(client, -1, until);
		if (rc == -ETIMEDOUT)
			return client_fail(client, rc, "no answer in time");
		if (rc)
			return rc;
	}
	rc = 0;
	if (event->event != wanted) {
		rai_event_text(event, text, sizeof(text));
		snprintf(why, sizeof(why), "%s (%s)", text, rdma_event_str(event->event));
		if (event->event == RDMA_CM_EVENT_REJECTED)
			snprintf(why, sizeof(why), "refused: nobody listens there, or it is no 'rai ping --server' "
				 "(%s)", rdma_event_str(event->event));
		client->not_found = event->status == -ENOENT || event->status == -ENODATA;
		/* The status of a rejection is the connection manager's reason, and no errno. */
		rc = client_fail(client, event->event == RDMA_CM_EVENT_REJECTED ? -ECONNREFUSED : event->status, why);
	} else if (hello) {
		*hello = cli_hello_read(event->param.conn.private_data, event->param.conn.private_data_len);
	}
	rdma_ack_cm_event(event);
	return rc;
}

/* ---- Steps ---- */

static int id_renew(struct client *client)
{
	if (client->id)
		rdma_destroy_id(client->id);
	client->id = NULL;
	if (rdma_create_id(client->channel, &client->id, NULL, RDMA_PS_TCP))
		return client_fail_call(client, "rdma_create_id");
	return 0;
}

static int resolve(struct client *client)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	const struct cli_ping *ping = client->ping;
	uint32_t ms = ping->timeout_ms;
	int rc;

	if (id_renew(client))
		return -EIO;
	if (rdma_set_option(client->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)) ||
	    rdma_resolve_addrinfo(client->id, ping->node, ping->service, &hints))
		return client_fail_call(client, "rdma_resolve_addrinfo");
	rc = event_expect(client, RDMA_CM_EVENT_ADDRINFO_RESOLVED, NULL);
	if (rc == 0 && rdma_query_addrinfo(client->id, &client->list))
		rc = client_fail_call(client, "rdma_query_addrinfo");
	return rc;
}

static int address(struct client *client, const struct rdma_addrinfo *info)
{
	if (rdma_resolve_addr(client->id, NULL, info->ai_dst_addr, (int)client->ping->timeout_ms))
		return client_fail_call(client, "rdma_resolve_addr");
	return event_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

static int route(struct client *client)
{
	if (rdma_resolve_route(client->id, (int)client->ping->timeout_ms))
		return client_fail_call(client, "rdma_resolve_route");
	return event_expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

/* From then on the id is the wire's. */
static int connect_to(struct client *client)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct cli_hello hello;
	uint32_t answered = 0;
	const char *call;
	int rc = cli_wire_open(&client->wire, client->id, client->ping->size, &call);

	if (rc < 0) {
		errno = -rc;
		return client_fail_call(client, call);
	}
	client->id = NULL;
	cli_hello_make(client->ping->size, &hello);
	param.private_data = &hello;
	param.private_data_len = sizeof(hello);
	if (rdma_connect(client->wire.id, &param))
		return client_fail_call(client, "rdma_connect");
	rc = event_expect(client, RDMA_CM_EVENT_ESTABLISHED, &answered);
	if (rc == 0 && answered != client->ping->size)
		rc = client_fail(client, -EPROTO, "who answers there is no 'rai ping --server'");
	return rc;
}

static int disconnect(struct client *client)
{
	if (rdma_disconnect(client->wire.id))
		return client_fail_call(client, "rdma_disconnect");
	return event_expect(client, RDMA_CM_EVENT_DISCONNECTED, NULL);
}

/* Runs one with its time. */
static int timed(struct client *client, enum step step, int (*run)(struct client *client))
{
	int64_t start = cli_now_us();
	int rc;

	client->step = step;
	rc = run(client);
	if (rc == 0)
		client->took_us[step] = cli_now_us() - start;
	return rc;
}

static void describe(struct client *client, const struct rdma_addrinfo *info)
{
	const struct rdma_cm_id *id = client->id;

	cli_address_word(info->ai_dst_addr, client->address, sizeof(client->address));
	cli_address_word(rdma_get_local_addr(client->id), client->source, sizeof(client->source));
	snprintf(client->device, sizeof(client->device), "%s/%u", ibv_get_device_name(id->verbs->device), id->port_num);
}

/* Address, route and connection by the first address that has them. */
static int connect_any(struct client *client)
{
	int rc = -EIO;

	for (const struct rdma_addrinfo *info = client->list; info && rc == -EIO; info = info->ai_next) {
		int64_t start = cli_now_us();

		cli_address_word(info->ai_dst_addr, client->address, sizeof(client->address));
		client->step = STEP_ADDRESS;
		rc = address(client, info);
		client->took_us[STEP_ADDRESS] = cli_now_us() - start;
		if (rc == 0)
			describe(client, info);
		if (rc == 0)
			rc = timed(client, STEP_ROUTE, route);
		if (rc == 0)
			rc = timed(client, STEP_CONNECT, connect_to);
		if (rc != -EIO || !info->ai_next)
			break;
		fprintf(stderr, "rai ping: %s: %s: %s; the next address is tried\n", client->address,
			step_words[client->step], client->why);
		cli_wire_close(&client->wire);
		if (id_renew(client))
			return -EIO;
	}
	return rc;
}

/* ---- Round trips ---- */

/* ns. */
static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int await_message(struct client *client)
{
	int64_t until = deadline(client);
	const char *why;
	int rc;

	for (;;) {
		rc = cli_wire_take(&client->wire, &why);
		if (rc < 0)
			return client_fail(client, -EIO, why);
		if (rc > 0)
			return 0;
		rc = client_wait(client, client->wire.id->recv_cq_channel->fd, until);
		if (rc == -ETIMEDOUT) {
			why = cli_wire_fault(&client->wire);
			return client_fail(client, rc, why ? why : "no message came back in time");
		}
		if (rc)
			return rc;
		/* While a connection is up the channel tells of its end alone. */
		rc = client_wait(client, -1, 0);
		if (rc == 0)
			return event_expect(client, RDMA_CM_EVENT_ESTABLISHED, NULL);
		if (rc == STOPPED)
			return rc;
	}
}

static int round_trip(struct client *client, uint64_t number)
{
	struct cli_wire *wire = &client->wire;
	int64_t start, took;
	int rc;

	for (uint32_t i = 0; i < wire->size; i++)
		wire->out[i] = (char)(number + i);
	start = now_ns();
	rc = cli_wire_send(wire);
	if (rc < 0) {
		errno = -rc;
		return client_fail_call(client, "rdma_post_send");
	}
	client->sent++;
	rc = await_message(client);
	took = now_ns() - start;
	if (rc)
		return rc;
	if (memcmp(wire->in, wire->out, wire->size) != 0)
		return client_fail(client, -EBADMSG, "another message came back than was sent");
	cli_tally_add(&client->tally, 0, took / 100);
	if (!client->ping->quiet && !client->ping->json) {
		printf("%" PRIu32 " bytes back, number %" PRIu64 ": %.1f us\n", wire->size, number,
		       (double)took / 1000);
		cli_output_flush();
	}
	return 0;
}

static int round_trips(struct client *client)
{
	const struct cli_ping *ping = client->ping;
	int rc = 0;

	for (uint64_t number = 1; rc == 0 && (ping->count == 0 || number <= ping->count); number++) {
		if (number > 1 && ping->interval_ms) {
			int64_t until = cli_now_us() + (int64_t)ping->interval_ms * 1000;

			rc = client_wait(client, -1, until);
			if (rc == 0)
				return event_expect(client, RDMA_CM_EVENT_ESTABLISHED, NULL);
			rc = rc == -ETIMEDOUT ? 0 : rc;
		}
		if (rc == 0)
			rc = round_trip(client, number);
	}
	return rc;
}

/* ---- What is printed ---- */

static double micros(struct client *client, double share)
{
	return cli_percentile(client->tally.latencies, client->tally.count, share) / 10.0;
}

static void print_head(const struct client *client)
{
	if (client->ping->json)
		return;
	printf("%s (%s) %s, %" PRIu32 " bytes, from %s through %s\n", client->ping->node, client->address,
	       client->ping->service, client->ping->size, client->source, client->device);
	for (enum step step = STEP_RESOLVE; step <= STEP_CONNECT; step++)
		printf("%-10s %8.3f ms\n", step_words[step], (double)client->took_us[step] / 1000);
	cli_output_flush();
}

static void print_tail(struct client *client)
{
	if (client->took_us[STEP_DISCONNECT] >= 0)
		printf("%-10s %8.3f ms\n", step_words[STEP_DISCONNECT],
		       (double)client->took_us[STEP_DISCONNECT] / 1000);
	printf("%" PRIu64 " sent, %zu back\n", client->sent, client->tally.count);
	if (client->tally.count > 0)
		printf("round trip in us: shortest %.1f, 50 %% %.1f, 99 %% %.1f, longest %.1f\n", micros(client, 0),
		       micros(client, 0.5), micros(client, 0.99), micros(client, 1));
}

static json_t *json_time(int64_t us)
{
	return us < 0 ? json_null() : json_integer(us);
}

static void print_json(struct client *client, bool failed)
{
	bool any = client->tally.count > 0;
	const int64_t *t = client->took_us;
	json_t *json;

	json = json_pack("{s:i, s:s, s:s, s:s?, s:s?, s:s?, s:i, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "version",
			 CLI_JSON_VERSION, "node", client->ping->node, "service", client->ping->service,
			 "address", client->address[0] ? client->address : NULL,
			 "source", client->source[0] ? client->source : NULL,
			 "device", client->device[0] ? client->device : NULL, "size", (int)client->ping->size,
			 "resolve_us", json_time(t[STEP_RESOLVE]), "address_us", json_time(t[STEP_ADDRESS]),
			 "route_us", json_time(t[STEP_ROUTE]), "connect_us", json_time(t[STEP_CONNECT]),
			 "disconnect_us", json_time(t[STEP_DISCONNECT]), "sent", (json_int_t)client->sent,
			 "back", (json_int_t)client->tally.count);
	json_object_set_new(json, "shortest_us", any ? json_real(micros(client, 0)) : json_null());
	json_object_set_new(json, "median_us", any ? json_real(micros(client, 0.5)) : json_null());
	json_object_set_new(json, "p99_us", any ? json_real(micros(client, 0.99)) : json_null());
	json_object_set_new(json, "longest_us", any ? json_real(micros(client, 1)) : json_null());
	json_object_set_new(json, "failure", !failed ? json_null() :
			    json_pack("{s:s, s:s, s:s}", "step", step_words[client->step], "status",
				      cli_errno_word(client->status), "text", client->why));
	cli_print_object(json, JSON_INDENT(2), 0);
}

/* ---- All of it ---- */

static int client_run(struct client *client)
{
	int rc, end;

	client->channel = rdma_create_event_channel();
	if (!client->channel || fcntl(client->channel->fd, F_SETFL, O_NONBLOCK) < 0)
		return client_fail_call(client, "rdma_create_event_channel");
	rc = timed(client, STEP_RESOLVE, resolve);
	if (rc == 0)
		rc = connect_any(client);
	if (rc)
		return rc;
	print_head(client);
	rc = round_trips(client);
	/* After Ctrl-C, too; who has gone can't be taken leave of. */
	if (rc == -EIO)
		return rc;
	end = timed(client, STEP_DISCONNECT, disconnect);
	return end ? end : rc;
}

static const char *advice(const struct client *client)
{
	switch (client->step) {
	case STEP_RESOLVE:
		return "'rai explain' shows how it resolves";
	case STEP_ADDRESS:
	case STEP_ROUTE:
		return "'rai ports' shows which interfaces have an RDMA device";
	case STEP_CONNECT:
		return "at the other host: rai ping --server SERVICE";
	default:
		return "was the other end stopped?";
	}
}

static int client_end(struct client *client, int rc)
{
	bool failed = rc < 0;

	if (client->tally.count > 0)
		cli_tally_sort(&client->tally);
	if (client->ping->json)
		print_json(client, failed);
	else if (client->took_us[STEP_CONNECT] >= 0)
		print_tail(client);
	if (failed)
		fprintf(stderr, "rai ping: %s: %s (-%s); %s\n", step_words[client->step], client->why,
			cli_errno_word(client->status), advice(client));
	if (!failed)
		return CLI_FOUND;
	return client->not_found ? CLI_NOT_FOUND : CLI_FAILED;
}

int cli_ping_client(const struct cli_ping *ping)
{
	struct client client = { .ping = ping, .took_us = { -1, -1, -1, -1, -1 } };
	int rc, status;

	cli_tally_begin(&client.tally, "round trip");
	rc = client_run(&client);
	status = client_end(&client, rc);
	cli_wire_close(&client.wire);
	if (client.id)
		rdma_destroy_id(client.id);
	rdma_freeaddrinfo(client.list);
	rdma_destroy_event_channel(client.channel);
	cli_tally_done(&client.tally);
	return status;
}
