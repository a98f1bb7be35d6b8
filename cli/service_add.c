/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service add: publishes a service at the SA of a port, and tells what becomes of it until it is stopped. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "notify.h"
#include "out.h"
#include "read.h"
#include "service.h"
#include "words.h"

enum {
	SERVICE_NAME_MAX = 63,
	PORT_NAME_MAX = 253,
	LEASE_MAX = 86400,	/* as rai_service_register(3) has them */
	WORDS = 256,
	GONE_TRIES = 40,	/* times that the SA is asked whether it has deleted the record, and between them */
	GONE_PAUSE_US = 50000,
	GONE_DEADLINE_MS = 2000,	/* for each answer */
};

struct service {
	struct rai_service record;
	const char *port;
	bool json;
	bool ever;		/* it has been registered */
};

static const struct argp_option options[] = {
	{ "port", 'p', "PORT", 0, "The InfiniBand port that offers the service, DEVICE/PORT (mlx5_0/1) or its GID", 0 },
	{ "id", 'i', "NUMBER", 0, "Service id, in C notation", 0 },
	{ "pkey", 'k', "NUMBER", 0, "P_Key of the partition; otherwise the default one", 0 },
	{ "lease", 'l', "SECONDS", 0, "How long the record outlives a publisher that is killed, 1 to 86400; "
	  "otherwise 120", 0 },
	{ "data", 'd', "HEX", 0, "The record's data, up to 64 bytes in hexadecimal digits", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object a line", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static void read_data(struct argp_state *state, const char *arg, uint8_t data[64])
{
	size_t len = strlen(arg);
	char pair[3] = "";

	if (len == 0 || len % 2 || len > 128 || arg[strspn(arg, "0123456789abcdefABCDEF")])
		argp_error(state, "the data are 1 to 64 bytes, two hexadecimal digits each: '%s'", arg);
	for (size_t i = 0; i < len / 2; i++) {
		memcpy(pair, arg + 2 * i, 2);
		data[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
}

/* In C notation, of any size: rai_service_register(3) refuses it as a name. */
static bool is_number(const char *text)
{
	char *end;

	strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end;
}

static void read_name(struct argp_state *state, struct service *service, const char *arg)
{
	if (service->record.name)
		argp_error(state, "one NAME at most");
	service->record.name = cli_read_word(state, "NAME", arg, SERVICE_NAME_MAX);
	if (is_number(arg))
		argp_error(state, "NAME is a number, which clients would take for a service id: '%s'; --id gives one",
			   arg);
}

static void check(struct argp_state *state, const struct service *service)
{
	if (!service->record.name)
		argp_error(state, "NAME is missing: rai service add NAME -p PORT");
	if (!service->port)
		argp_error(state, "--port is missing; 'rai ports' lists them");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct service *service = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 'p':
		service->port = cli_read_word(state, "PORT", arg, PORT_NAME_MAX);
		return 0;
	case 'i':
		service->record.id = cli_read_number(state, "a service id", arg, UINT64_MAX);
		return 0;
	case 'k':
		service->record.pkey = (uint16_t)cli_read_number(state, "a P_Key", arg, UINT16_MAX);
		return 0;
	case 'l':
		service->record.lease_s = (uint32_t)cli_read_number(state, "a lease", arg, LEASE_MAX);
		return 0;
	case 'd':
		read_data(state, arg, service->record.data);
		return 0;
	case 'j':
		service->json = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		read_name(state, service, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, service);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_json(const struct service *service, const char *what, int status, const char *text)
{
	char now[CLI_TIME_WORDS];
	json_t *json;

	cli_time_word(now);
	json = json_pack("{s:i, s:s, s:s, s:s, s:s?, s:i, s:s}", "version", CLI_JSON_VERSION, "time", now,
			 "event", what, "name", service->record.name, "status", status ? cli_errno_word(status) : NULL,
			 "errno", -status, "text", text);
	cli_print_object(json, JSON_COMPACT, 0);
}

/* systemd takes the service for started once it was tried, so that a subnet manager that comes late holds up nothing;
 * what became of it is its status. */
static void tell_systemd(const char *what, const char *text)
{
	char lines[WORDS + 64];

	snprintf(lines, sizeof(lines), "READY=1\nSTATUS=%s%s%s", what, *text ? ": " : "", text);
	cli_notify(lines);
}

/* Of a P_Key that the port lacks an SA says no more than that the request is invalid. */
static void explain_refusal(const struct service *service, int status, char text[WORDS])
{
	size_t len = strlen(text);

	if (status == -EIO && service->record.pkey && cli_port_lacks_pkey(service->port, service->record.pkey))
		snprintf(text + len, WORDS - len, "; %s is in no partition 0x%04x", service->port,
			 service->record.pkey);
}

/* A line an event; each goes out at once, as somebody may wait for it. */
static void tell(struct service *service, const struct rdma_cm_event *event)
{
	const char *name = service->record.name, *what = "registered";
	char text[WORDS] = "";

	if (event->status)
		what = service->ever ? "lost" : "not registered";
	else if (service->ever)
		what = "registered again";
	service->ever = service->ever || !event->status;
	rai_event_text(event, text, sizeof(text));
	explain_refusal(service, event->status, text);
	if (service->json)
		print_json(service, what, event->status, text);
	else if (event->status)
		printf("%s: %s: %s (-%s)\n", name, what, text, cli_errno_word(event->status));
	else
		printf("%s: %s\n", name, what);
	tell_systemd(what, event->status ? text : "");
	cli_output_flush();
}

static int tell_all(struct service *service, struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(channel, &event) == 0) {
		if ((int)event->event == RAI_EVENT_SERVICE)
			tell(service, event);
		rdma_ack_cm_event(event);
	}
	return errno == EAGAIN ? 0 : -errno;
}

/* Until a signal ends it, or nobody can be told any more, which is told at the end of the process: 0, or -errno. */
static int keep(struct service *service, struct rdma_event_channel *channel, int signals)
{
	struct pollfd fds[] = { { .fd = channel->fd, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	int rc = 0;

	while (rc == 0 && !fds[1].revents && !ferror(stdout)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			rc = tell_all(service, channel);
	}
	return rc;
}

static bool has_gid(const struct rdma_addrinfo *list, const struct sockaddr_ib *gid)
{
	for (; list; list = list->ai_next) {
		const struct sockaddr_ib *dst = (const void *)list->ai_dst_addr;

		if (memcmp(&dst->sib_addr, &gid->sib_addr, sizeof(gid->sib_addr)) == 0)
			return true;
	}
	return false;
}

/* The record is deleted in the background, and not at all once the process has ended: that is waited for. */
static void wait_gone(const char *name, const struct cli_port *port)
{
	const struct rai_service_filter filter = { .name = name };
	const uint32_t deadline_ms = GONE_DEADLINE_MS;
	const struct cli_question question = {
		.filter = &filter, .deadline_ms = &deadline_ms, .ports = port, .places = 1,
	};
	const char *step;
	bool there = true;

	for (int i = 0; i < GONE_TRIES && there; i++) {
		struct cli_answer answer = { 0 };

		if (i > 0)
			usleep(GONE_PAUSE_US);
		if (cli_ask(&question, &answer, &step) < 0 || (answer.status && answer.status != -ENOENT))
			break;
		there = has_gid(answer.list, &port->gid);
		cli_answers_free(&answer, 1);
	}
	if (there)
		fprintf(stderr, "rai service add: %s: the SA may have the record until its lease runs out\n", name);
}

static int publish(struct service *service, struct cli_port *port, int signals)
{
	struct rdma_event_channel *channel = NULL;
	struct rdma_cm_id *id = NULL;
	const char *step = "opening an event channel";
	int status = CLI_FAILED, rc;
	uint64_t registration;

	channel = rdma_create_event_channel();
	if (!channel || fcntl(channel->fd, F_SETFL, O_NONBLOCK) < 0)
		goto failed;
	step = "making an id";
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_IB))
		goto failed;
	step = "binding to the port";
	if (rdma_bind_addr(id, (struct sockaddr *)&port->gid))
		goto failed;
	step = "publishing";
	if (rai_service_register(id, &service->record, &registration))
		goto failed;
	step = "telling what became of it";
	rc = keep(service, channel, signals);
	cli_notify("STOPPING=1\nSTATUS=the record is being deleted");
	rai_service_unregister(id, registration);
	wait_gone(service->record.name, port);
	if (rc == 0) {
		status = CLI_FOUND;
		goto out;
	}
	errno = -rc;
failed:
	cli_fail(step, strerror(errno), status);
out:
	if (id)
		rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return status;
}

int cli_service_add(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "NAME --port PORT",
		.doc = "Publish the service NAME at the SA of an InfiniBand port, and keep it published until stopped "
		       "by SIGINT (Ctrl-C) or SIGTERM. A line tells each time that it was registered or lost.\v"
		       "Exit status: 0 stopped, 2 wrong usage, 3 any other failure.",
	};
	struct service service = { 0 };
	struct cli_port *ports;
	int signals, status, count, error;

	if (argp_parse(&argp, argc, argv, 0, NULL, &service))
		return CLI_FAILED;
	signals = cli_signals_open();
	if (signals < 0)
		return cli_fail("waiting for signals", strerror(errno), CLI_FAILED);
	ports = calloc(CLI_PORTS_MAX, sizeof(*ports));
	count = ports ? cli_service_ports(service.port, ports, &error) :
			-cli_fail("memory", strerror(errno), CLI_FAILED);
	status = count > 0 ? publish(&service, &ports[0], signals) : -count;
	free(ports);
	close(signals);
	return status;
}
