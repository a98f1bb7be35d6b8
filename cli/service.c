/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands of "rai service" share. */
#include "service.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "read.h"

enum {
	NAME_MAX_BYTES = 64,	/* as rai_service_list(3) has it */
	PORT_NAME_MAX = 253,
};

uint64_t cli_read_number(struct argp_state *state, const char *what, const char *arg, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(arg, &end, 0);
	if (!isdigit((unsigned char)*arg) || *end || errno || number == 0 || number > max)
		argp_error(state, "%s is a number from 1 to %llu: '%s'", what, (unsigned long long)max, arg);
	return number;
}

static void read_gid(struct argp_state *state, const char *arg, uint8_t gid[16])
{
	static const uint8_t zeros[16];

	if (inet_pton(AF_INET6, arg, gid) != 1 || memcmp(gid, zeros, sizeof(zeros)) == 0)
		argp_error(state, "no GID: '%s'", arg);
}

/* A number is an id, as rai resolve --sa takes it. */
static void read_service(struct argp_state *state, struct cli_filter *filter, const char *arg)
{
	char *end;

	if (filter->by_service)
		argp_error(state, "one SERVICE at most: '%s'", arg);
	filter->by_service = true;
	cli_read_word(state, "SERVICE", arg, NAME_MAX_BYTES);
	strtoull(arg, &end, 0);
	if (isdigit((unsigned char)*arg) && !*end)
		filter->wanted.id = cli_read_number(state, "a service id", arg, UINT64_MAX);
	else
		filter->wanted.name = arg;
}

error_t cli_filter_parse(struct argp_state *state, struct cli_filter *filter, int key, char *arg)
{
	switch (key) {
	case 'p':
		filter->port = cli_read_word(state, "PORT", arg, PORT_NAME_MAX);
		return 0;
	case 'i':
		filter->wanted.id = cli_read_number(state, "a service id", arg, UINT64_MAX);
		filter->by_id = true;
		return 0;
	case 'n':
		filter->wanted.name = *arg ? cli_read_word(state, "NAME", arg, NAME_MAX_BYTES) : arg;
		filter->by_name = true;
		return 0;
	case 'g':
		read_gid(state, arg, filter->wanted.gid);
		return 0;
	case 'k':
		filter->wanted.pkey = (uint16_t)cli_read_number(state, "a P_Key", arg, UINT16_MAX);
		return 0;
	case 't':
		filter->timeout_ms = cli_read_duration(state, arg);
		filter->has_timeout = true;
		return 0;
	case 'j':
		filter->json = true;
		return 0;
	case ARGP_KEY_ARG:
		read_service(state, filter, arg);
		return 0;
	case ARGP_KEY_END:
		if (filter->by_service && (filter->by_name || filter->by_id))
			argp_error(state, "SERVICE goes with neither --name nor --id, which say the same");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_service_ports(const char *name, struct cli_port *ports, int *ret_error)
{
	char why[CLI_PORTS_WORDS];
	int rc = cli_ports_choose(name, ports, why);

	if (rc > 0)
		return rc;
	*ret_error = -rc;
	return -cli_fail(name ? name : "no port to ask through", why, rc == -EINVAL ? CLI_USAGE : CLI_FAILED);
}

void cli_time_word(char buf[CLI_TIME_WORDS])
{
	struct timespec now;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	len = strftime(buf, CLI_TIME_WORDS, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + len, CLI_TIME_WORDS - len, ".%03ldZ", now.tv_nsec / 1000000);
}
