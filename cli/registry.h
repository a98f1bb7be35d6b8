/* SPDX-License-Identifier: BSD-2-Clause */
/* The service records of one or several SAs as they were when they were asked for: each once, in order. */
#pragma once

#include <stddef.h>

#include "ask.h"
#include "service.h"

struct cli_record {
	struct rai_service_record record;
	uint64_t ports;			/* bits: through which of the ports it was seen */
};

struct cli_registry {
	struct cli_record *records;	/* by GID, id and P_Key */
	size_t count;
	uint64_t found;			/* maybe more than count, where a list was cut */
	struct cli_port ports[CLI_PORTS_MAX];
	struct cli_answer answers[CLI_PORTS_MAX];	/* of each port; without lists */
	size_t port_count;
};

/*
 * Asks through the ports that are there (registry->ports, port_count): 0; or -errno where not even that could be done,
 * and *ret_step says what failed; -ECANCELED: stop, a descriptor, became readable (0: none). A port of which the answer
 * is a failure other than -ENOENT has told nothing.
 */
int cli_registry_ask(struct cli_registry *registry, const struct cli_filter *filter, int stop, const char **ret_step);

/* Removes a record through that port of the registry's; as above, with the outcome in *ret_answer. */
int cli_registry_remove(const struct cli_registry *registry, size_t port, const struct rai_service_record *record,
			const struct cli_filter *filter, struct cli_answer *ret_answer, const char **ret_step);

void cli_registry_free(struct cli_registry *registry);

/* By GID, id and P_Key; by name first. */
int cli_record_compare(const struct rai_service_record *a, const struct rai_service_record *b);
int cli_record_compare_names(const void *a, const void *b);

/* Whether the port told of no failure: 0 and -ENOENT. */
bool cli_registry_told(const struct cli_registry *registry, size_t port);

/* Which port saw it first. */
size_t cli_record_port(const struct cli_record *record);
