/* SPDX-License-Identifier: BSD-2-Clause */
/* rai ping: what it was asked to do, and its other end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cli_ping {
	const char *node, *service;
	bool server, json, quiet;
	uint32_t count;		/* client: messages, 0: until stopped; server: clients, 0: until stopped */
	uint32_t interval_ms, timeout_ms, size;
	int signals;		/* a signalfd(2) */
};

/* Each an enum cli_exit. */
int cli_ping_client(const struct cli_ping *ping);
int cli_ping_server(const struct cli_ping *ping);
