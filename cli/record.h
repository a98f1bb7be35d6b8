/* SPDX-License-Identifier: BSD-2-Clause */
/* Service records in words: a table for people, objects for programs. */
#pragma once

#include <jansson.h>
#include <rdma/rai.h>
#include <stdio.h>

#include "registry.h"

/* How wide columns are; 0: this one is left out. */
struct cli_record_widths {
	int name, gid, lease, data;
};

/* For those records, beside taken columns of something else; screen 0: no terminal, so that nothing is left out or
 * cut. */
void cli_record_widths(const struct cli_record *records, size_t count, int screen, int taken,
		       struct cli_record_widths *ret_widths);

/* A line without its end; record NULL: the columns' heads. Control characters of a name become '?'. */
void cli_record_print(FILE *out, const struct cli_record_widths *widths, const struct rai_service_record *record);

/* Texts of its fields; each returns buf. */
enum { CLI_RECORD_WORDS = 160 };
const char *cli_record_lease(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS]);
const char *cli_record_data(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS]);	/* "-": zeros */
const char *cli_record_gid(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS]);
const char *cli_record_name(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS]);	/* "-": none */

/* All of it; NULL without memory. port: NULL: none. */
json_t *cli_record_json(const struct rai_service_record *record, const char *port);
