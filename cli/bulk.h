/* SPDX-License-Identifier: BSD-2-Clause */
/* rai resolve of many: names or services of a file or a pipe, so many at a time, once or again and again. */
#pragma once

#include "ask.h"

enum {
	CLI_WINDOW = 1000,	/* questions under way at a time, unless told otherwise, */
	CLI_WINDOW_MAX = 4096,	/* and at most: as many names as the library has in flight */
	CLI_WATCHED_MAX = 65536,	/* names that are watched */
};

struct cli_bulk {
	const char *file;	/* "-": standard input; NULL: the one in question */
	struct cli_question question;	/* of all: hints, deadline, and the one port to ask a service through */
	bool sa, json, brief, unordered;
	unsigned window;
	uint32_t watch_ms;	/* asked again after so long, and what changes is printed; 0: once */
};

/* Until all are answered, or a signal ends it: an enum cli_exit, or 130 or 143. */
int cli_bulk(const struct cli_bulk *bulk);
