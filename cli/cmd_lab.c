/* SPDX-License-Identifier: BSD-2-Clause */
/* rai lab: RDMA without hardware. Hands over to the script that is installed for it. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A command that was built and not installed is SOURCE/BUILD/cli/rai, and its scripts are SOURCE/scripts. */
static bool lab_in_source(char *path, size_t size)
{
	static const char place[] = "/cli/rai";
	char own[PATH_MAX], *end;
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len < (ssize_t)sizeof(place))
		return false;
	own[len] = '\0';
	end = own + len - (sizeof(place) - 1);
	if (strcmp(end, place) != 0)
		return false;
	*end = '\0';
	end = strrchr(own, '/');
	if (!end)
		return false;
	*end = '\0';
	return snprintf(path, size, "%s/scripts/lab", own) < (int)size && access(path, X_OK) == 0;
}

int cli_lab(int argc, char **argv)
{
	const char *folder = getenv("RAI_LAB_DIR");
	char path[PATH_MAX + sizeof("/scripts/lab")];

	if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		puts(argp_program_version);
		return CLI_FOUND;
	}
	if (folder && folder[0]) {
		if (snprintf(path, sizeof(path), "%s/lab", folder) >= (int)sizeof(path)) {
			fputs("rai lab: the name in RAI_LAB_DIR is too long\n", stderr);
			return CLI_FAILED;
		}
	} else if (!lab_in_source(path, sizeof(path))) {
		snprintf(path, sizeof(path), "%s/lab", CLI_LAB_DIR);
	}
	argv[0] = path;
	execv(path, argv);
	fprintf(stderr, "rai lab: %s: %s\n", path, strerror(errno));
	if (errno == ENOENT)
		fputs("rai lab: 'make install' brings it; RAI_LAB_DIR is the folder where it lies elsewhere\n", stderr);
	return CLI_FAILED;
}
