/* SPDX-License-Identifier: BSD-2-Clause */
/* What a resolution brought, as text for people and as JSON for programs. */
#pragma once

#include <jansson.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One question to one place: names, or the SA behind one port. */
struct cli_answer {
	const char *port;		/* "mlx5_0/1" or a GID; NULL for names */
	struct rdma_addrinfo *list;	/* NULL where it failed */
	uint64_t found;			/* how many there were; the list may hold fewer */
	int status;			/* 0 or -errno */
	uint64_t code;			/* EAI_* or MAD status that goes with status */
	const char *event;		/* name of the event that brought it; NULL: refused by a call */
	char text[256];			/* which step failed and why */
};

struct cli_report {
	const char *node, *service;	/* as asked; NULL where not given */
	bool sa, srv;
	const struct cli_answer *answers;
	size_t count;
	int screen;			/* columns that the table has; 0: as many as it takes */
	bool line;			/* the object in one line */
	struct cli_steps *steps;	/* for the object; NULL: not watched, as others were asked at the same time */
	int64_t took_us;		/* from the question to the last answer; negative: not asked */
};

/* What stands in the place of a service's path. */
#define CLI_NO_PATH "none: the SA has none, or didn't tell in time"

/* All results as a table, path records below their result; nothing where none came. */
void cli_print_text(FILE *out, const struct cli_report *report);

/* The address of each result, a line each, none twice. */
void cli_print_short(FILE *out, const struct cli_report *report);

/* One object with everything, the failures too: as below. */
int cli_print_json(const struct cli_report *report, int status);

/* The object, which is taken, and a newline on the standard output: status, or CLI_FAILED where there is no memory,
 * after that was told. flags: of json_dumpf(). */
int cli_print_object(json_t *object, size_t flags, int status);

/* Of a result of SRV records: its priority, weight and target. */
void cli_json_add_srv(json_t *json, const struct rdma_addrinfo *info);

/* And of an AF_IB address, or none of another. */
void cli_json_add_ib(json_t *json, const struct sockaddr *sa);

/* Whether a text may stand in JSON. */
bool cli_is_utf8(const char *text);
