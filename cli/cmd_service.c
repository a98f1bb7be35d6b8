/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service add: publishes a service at the SA of a port, and tells what becomes of it until it is stopped. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "ports.h"
#include "read.h"
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
	bool add;
};

static const struct argp_option options[] = {
	{ "port", 'p', "PORT", 0, "The InfiniBand port that offers the service, DEVICE/PORT (mlx5_0/1) or its GID", 0 },
	{ "id", 'i', "NUMBER", 0, "Service id, in C notation", 0 },
	{ "pkey", 'k', "NUMBER", 0, "P_Key of the partition; otherwise the default one", 0 },
	{ "lease", 'l', "SECONDS", 0, "How long the record outlives a publisher that is killed, 1 to 86400; "
	  "otherwise 120", 0 },
	{ "data", 'd', "HEX", 0, "The record's data, up to 64 bytes in hexadecimal digits", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static uint64_t read_number(struct argp_state *state, const char *what, const char *arg, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(arg, &end, 0);
	if (!isdigit((unsigned char)*arg) || *end || errno || number == 0 || number > max)
		argp_error(state, "%s is a number from 1 to %llu: '%s'", what, (unsigned long long)max, arg);
	return number;
}

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

static void read_argument(struct argp_state *state, struct service *service, const char *arg)
{
	if (!service->add) {
		if (strcmp(arg, "add") != 0)
			argp_error(state, "no such command: 'service %s'; there is 'service add'", arg);
		service->add = true;
		return;
	}
	if (service->record.name)
		argp_error(state, "one NAME at most");
	service->record.name = cli_read_word(state, "NAME", arg, SERVICE_NAME_MAX);
	if (is_number(arg))
		argp_error(state, "NAME is a number, which clients would take for a service id: '%s'; --id gives one",
			   arg);
}

static void check(struct argp_state *state, const struct service *service)
{
	if (!service->add)
		argp_error(state, "what to do is missing: rai service add NAME -p PORT");
	if (!service->record.name)
		argp_error(state, "NAME is missing");
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
		service->record.id = read_number(state, "a service id", arg, UINT64_MAX);
		return 0;
	case 'k':
		service->record.pkey = (uint16_t)read_number(state, "a P_Key", arg, UINT16_MAX);
		return 0;
	case 'l':
		service->record.lease_s = (uint32_t)read_number(state, "a lease", arg, LEASE_MAX);
		return 0;
	case 'd':
		read_data(state, arg, service->record.data);
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		read_argument(state, service, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, service);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int service_fail(const char *what, const char *why, enum cli_exit status)
{
	fprintf(stderr, "rai service: %s: %s\n", what, why);
	return status;
}

static int find_port(const char *name, struct cli_port *ret_port)
{
	char why[CLI_PORTS_WORDS];

	switch (cli_port_find(name, ret_port)) {
	case 0:
		return CLI_FOUND;
	case -EINVAL:
		return service_fail(name, "neither DEVICE/PORT nor a GID", CLI_USAGE);
	case -EPROTOTYPE:
		return service_fail(name, "not an InfiniBand port: no SA to publish at", CLI_FAILED);
	default:
		cli_ports_words(why, sizeof(why));
		return service_fail(name, why, CLI_FAILED);
	}
}

/* A line an event; each goes out at once, as somebody may wait for it. */
static int tell(const struct rdma_cm_event *event, const char *name, bool *ever)
{
	char text[WORDS] = "";
	const char *what = "registered";

	if (event->status)
		what = *ever ? "lost" : "not registered";
	else if (*ever)
		what = "registered again";
	*ever = *ever || !event->status;
	rai_event_text(event, text, sizeof(text));
	printf("%s: %s", name, what);
	if (event->status)
		printf(": %s (-%s)", text, cli_errno_word(event->status));
	putchar('\n');
	return fflush(stdout) == 0 ? 0 : -errno;
}

static int tell_all(struct rdma_event_channel *channel, const char *name, bool *ever)
{
	struct rdma_cm_event *event;
	int rc = 0;

	while (rc == 0 && rdma_get_cm_event(channel, &event) == 0) {
		if ((int)event->event == RAI_EVENT_SERVICE)
			rc = tell(event, name, ever);
		rdma_ack_cm_event(event);
	}
	return rc < 0 || errno == EAGAIN ? rc : -errno;
}

/* Until a signal ends it: 0, or -errno. */
static int keep(struct rdma_event_channel *channel, int signals, const char *name)
{
	struct pollfd fds[] = { { .fd = channel->fd, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	bool ever = false;
	int rc = 0;

	while (rc == 0 && !fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			rc = tell_all(channel, name, &ever);
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
	const uint32_t deadline_ms = GONE_DEADLINE_MS;
	const struct cli_question question = {
		.service = name, .hints = { .ai_flags = RAI_SA }, .deadline_ms = &deadline_ms, .ports = port,
		.places = 1,
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
		fprintf(stderr, "rai service: %s: the SA may have the record until its lease runs out\n", name);
}

/* Before any library has threads: a signal that one of them doesn't block ends the process. */
static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int publish(const struct service *service, struct cli_port *port, int signals)
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
	rc = keep(channel, signals, service->record.name);
	rai_service_unregister(id, registration);
	wait_gone(service->record.name, port);
	if (rc == 0) {
		status = CLI_FOUND;
		goto out;
	}
	errno = -rc;
failed:
	service_fail(step, strerror(errno), status);
out:
	if (id)
		rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return status;
}

int cli_service(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "add NAME --port PORT",
		.doc = "Publish the service NAME at the SA of an InfiniBand port, and keep it published until stopped "
		       "by SIGINT (Ctrl-C) or SIGTERM. A line tells each time that it was registered or lost.\v"
		       "Exit status: 0 stopped, 2 wrong usage, 3 any other failure.",
	};
	struct service service = { 0 };
	struct cli_port port;
	int signals, status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &service))
		return CLI_FAILED;
	signals = signals_open();
	if (signals < 0)
		return service_fail("waiting for signals", strerror(errno), CLI_FAILED);
	/* Whether a record is gone must not be answered by what was kept. */
	if (setenv("RAI_SA_KEEP_MS", "0", 1) < 0)
		return service_fail("environment", strerror(errno), CLI_FAILED);
	status = find_port(service.port, &port);
	if (status == CLI_FOUND)
		status = publish(&service, &port, signals);
	close(signals);
	return status;
}
