/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration files, line by line. */
#include "dns/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"

int rcm_lines_each(const char *path, int (*take)(char *line, void *arg), void *arg)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!file)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	errno = 0;
	while (!err && getline(&line, &size, file) >= 0) {
		err = take(line, arg);
		errno = 0;
	}
	/* getline() says -1 at the end of the file, and without memory. A directory stays one: it has no lines. */
	if (!err && !feof(file) && errno != EISDIR)
		err = rcm_errno();
	free(line);
	fclose(file);
	return err;
}
