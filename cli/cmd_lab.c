/* SPDX-License-Identifier: BSD-2-Clause */
/* rai lab: RDMA without hardware. Hands over to the script that is installed for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* RAI_LAB_DIR is for a command that isn't installed: the scripts are in the source then. */
int cli_lab(int argc, char **argv)
{
	const char *folder = getenv("RAI_LAB_DIR");
	char path[4096];

	(void)argc;
	if (!folder || !folder[0])
		folder = CLI_LAB_DIR;
	if (snprintf(path, sizeof(path), "%s/lab", folder) >= (int)sizeof(path)) {
		fputs("rai lab: the name in RAI_LAB_DIR is too long\n", stderr);
		return CLI_FAILED;
	}
	argv[0] = path;
	execv(path, argv);
	fprintf(stderr, "rai lab: %s: %s\n", path, strerror(errno));
	if (errno == ENOENT)
		fputs("rai lab: 'make install' brings it; in the source, RAI_LAB_DIR is the folder scripts\n", stderr);
	return CLI_FAILED;
}
