/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of the rai command share: exit statuses and their entry points. */
#pragma once

enum cli_exit {
	CLI_FOUND = 0,
	CLI_NOT_FOUND = 1,	/* no such host, service or record, no address of the family asked for, no device */
	CLI_USAGE = 2,		/* the command line makes no sense; nothing was asked */
	CLI_FAILED = 3		/* anything else: timeout, refused, no device, no memory */
};

/* Each takes the command line from its verb on, and returns an enum cli_exit. */
int cli_ports(int argc, char **argv);
int cli_resolve(int argc, char **argv);
int cli_service(int argc, char **argv);
