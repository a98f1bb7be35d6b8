/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a file or a pipe, taken as they come: nobody has to wait for the next one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CLI_LINE_MAX = 1024 };

struct cli_lines {
	int fd;			/* -1: at its end */
	size_t used, at;	/* bytes in buf, and of those taken */
	unsigned number;	/* of the line that was taken last */
	bool skipping;		/* the rest of one that is too long */
	long long size, taken;	/* bytes: of a regular file, or 0; taken so far */
	char buf[65536];
};

/* path "-": standard input. 0 or -errno. */
int cli_lines_open(struct cli_lines *lines, const char *path);
void cli_lines_close(struct cli_lines *lines);

/*
 * The next line without its end, valid until the next call: 1; 0: none is there yet, poll fd; -EPIPE: no more comes;
 * -EMSGSIZE: one is too long, and gone by; -EILSEQ: one has a NUL in it, and is, too; other -errno.
 */
int cli_lines_next(struct cli_lines *lines, char **ret_line);
