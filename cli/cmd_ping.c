/* SPDX-License-Identifier: BSD-2-Clause */
/* rai ping: reads its command line. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ping.h"
#include "read.h"
#include "wire.h"

enum {
	NODE_MAX = 253,
	COUNT = 5, INTERVAL_MS = 200, TIMEOUT_MS = 5000, SIZE = 64,	/* unless told otherwise */
	TIMEOUT_MAX_MS = 600000,
};

struct arguments {
	struct cli_ping ping;
	const char *words[2];
	bool has_count;
};

static const struct argp_option options[] = {
	{ "server", 'l', NULL, 0, "Be the other end: listen at SERVICE, a port or its name, and give messages back "
	  "until stopped", 0 },
	{ "count", 'c', "N", 0, "So many messages, otherwise 5; 0: until stopped. With --server: end after N "
	  "clients", 0 },
	{ "interval", 'i', "TIME", 0, "Wait so long between messages, in seconds or milliseconds (50ms); otherwise "
	  "200ms", 0 },
	{ "size", 's', "BYTES", 0, "Bytes of a message, 1 to 1048576; otherwise 64", 0 },
	{ "timeout", 't', "TIME", 0, "Give up where a step or a message takes longer; otherwise 5 seconds", 0 },
	{ "quiet", 'q', NULL, 0, "No line for each message", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static uint32_t read_count(struct argp_state *state, const char *what, const char *arg, unsigned long min,
			   unsigned long max)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || errno || number < min || number > max)
		argp_error(state, "%s is a number from %lu to %lu: '%s'", what, min, max, arg);
	return (uint32_t)number;
}

static void check(struct argp_state *state, struct arguments *a)
{
	struct cli_ping *ping = &a->ping;

	if (ping->server) {
		ping->node = a->words[1] ? a->words[0] : NULL;
		ping->service = a->words[1] ? a->words[1] : a->words[0];
		ping->count = a->has_count ? ping->count : 0;
	} else {
		ping->node = a->words[0];
		ping->service = a->words[1];
	}
	if (!ping->service && ping->server)
		argp_error(state, "SERVICE is missing: rai ping --server SERVICE");
	if (!ping->service && !ping->node)
		argp_error(state, "NODE and SERVICE are missing");
	if (ping->node)
		cli_read_node(state, ping->node, NODE_MAX);
	if (!ping->service)
		argp_error(state, "SERVICE is missing: the port at which 'rai ping --server' listens, or its name");
	if (ping->server && ping->json)
		argp_error(state, "--json is for the client");
	cli_read_service(state, ping->service, NODE_MAX);
	if (!ping->server && cli_is_number(ping->service) && strtoul(ping->service, NULL, 10) == 0)
		argp_error(state, "nobody listens at port 0: 'rai ping --server' says at which it does");
	if (ping->timeout_ms < 1 || ping->timeout_ms > TIMEOUT_MAX_MS)
		argp_error(state, "a timeout is up to 600 seconds, and not 0");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 'l':
		a->ping.server = true;
		return 0;
	case 'c':
		a->ping.count = read_count(state, "a count", arg, 0, UINT32_MAX);
		a->has_count = true;
		return 0;
	case 'i':
		a->ping.interval_ms = cli_read_duration(state, arg);
		return 0;
	case 's':
		a->ping.size = read_count(state, "a size", arg, 1, CLI_PING_MAX);
		return 0;
	case 't':
		a->ping.timeout_ms = cli_read_duration(state, arg);
		return 0;
	case 'q':
		a->ping.quiet = true;
		return 0;
	case 'j':
		a->ping.json = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "one NODE and one SERVICE at most");
		a->words[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_ping(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "NODE SERVICE\n--server [NODE] SERVICE",
		.doc = "Resolve NODE, connect to 'rai ping --server' at SERVICE there by RDMA, send messages there and "
		       "back, disconnect, and tell how long each step took. Both ends need nothing but this command "
		       "and an RDMA device.\v"
		       "Exit status: 0 all came back, or it was stopped; 1 there is no such name; 2 wrong usage; 3 any "
		       "other failure.",
	};
	struct arguments a = {
		.ping = { .count = COUNT, .interval_ms = INTERVAL_MS, .timeout_ms = TIMEOUT_MS, .size = SIZE },
	};
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return CLI_FAILED;
	a.ping.signals = cli_signals_open();
	if (a.ping.signals < 0)
		return cli_fail("waiting for signals", strerror(errno), CLI_FAILED);
	/* Where there is no device the name is still worth to be resolved: the step that fails is the next. */
	if (setenv("RAI_DEVICELESS", "1", 0) < 0)
		return cli_fail("environment", strerror(errno), CLI_FAILED);
	status = a.ping.server ? cli_ping_server(&a.ping) : cli_ping_client(&a.ping);
	close(a.ping.signals);
	return status;
}
