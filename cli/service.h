/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands of "rai service" share: which records of an SA they are about, and where it is asked. */
#pragma once

#include <argp.h>
#include <rdma/rai.h>
#include <stdbool.h>

#include "ports.h"

/* Which records, and through which ports. */
struct cli_filter {
	struct rai_service_filter wanted;
	bool by_service, by_name, by_id;	/* SERVICE, --name, --id was given */
	const char *port;			/* NULL: through every active InfiniBand port */
	uint32_t timeout_ms;
	bool has_timeout, json;
};

#define CLI_FILTER_OPTIONS \
	{ "port", 'p', "PORT", 0, "Ask through this port only, DEVICE/PORT (mlx5_0/1) or its GID; otherwise through " \
	  "every active InfiniBand port", 0 }, \
	{ "id", 'i', "NUMBER", 0, "Only records with this service id, in C notation", 0 }, \
	{ "name", 'n', "NAME", 0, "Only records with this name, also one that is a number; '' for those without", 0 }, \
	{ "gid", 'g', "GID", 0, "Only records of the port with this GID", 0 }, \
	{ "pkey", 'k', "NUMBER", 0, "Only records with this P_Key, all 16 bits of it", 0 }, \
	{ "timeout", 't', "TIME", 0, "Give up after so long, in seconds (5, 0.5, 5s) or milliseconds (500ms), 0 for " \
	  "never; otherwise after 4 seconds", 0 }

/* One of those options, or the argument SERVICE, a name or an id: 0, or ARGP_ERR_UNKNOWN. */
error_t cli_filter_parse(struct argp_state *state, struct cli_filter *filter, int key, char *arg);

/* A number from 1 to max in C notation; what: "a lease". */
uint64_t cli_read_number(struct argp_state *state, const char *what, const char *arg, uint64_t max);

/* The port of that name, or all that are active, at most CLI_PORTS_MAX: how many, or minus an enum cli_exit where there
 * are none, after that was told; ret_error is an errno then. */
int cli_service_ports(const char *name, struct cli_port *ports, int *ret_error);

/* Now, as "2026-11-30T17:05:06.123Z". */
enum { CLI_TIME_WORDS = 32 };
void cli_time_word(char buf[CLI_TIME_WORDS]);
