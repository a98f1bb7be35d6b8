/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of the rai command share: exit statuses and their entry points. */
#pragma once

enum cli_exit {
	CLI_FOUND = 0,
	CLI_NOT_FOUND = 1,	/* no such host, service or record, no address of the family asked for, no device */
	CLI_USAGE = 2,		/* the command line makes no sense; nothing was asked */
	CLI_FAILED = 3		/* anything else: timeout, refused, no device, no memory */
};

/* Member "version" of each JSON object: grows when a field goes away or means another thing; new ones don't count. */
enum { CLI_JSON_VERSION = 1 };

/* Each takes the command line from its verb on, and returns an enum cli_exit; cli_lab() and cli_run() any status. */
int cli_doctor(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_lab(int argc, char **argv);
int cli_ping(int argc, char **argv);
int cli_ports(int argc, char **argv);
int cli_resolve(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_service(int argc, char **argv);
int cli_stats(int argc, char **argv);
