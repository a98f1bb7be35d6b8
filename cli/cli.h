/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of the rai command share: exit statuses, how they end, and their entry points. */
#pragma once

#include <stdint.h>

enum cli_exit {
	CLI_FOUND = 0,
	CLI_NOT_FOUND = 1,	/* no such host, service or record, no address of the family asked for, no device */
	CLI_USAGE = 2,		/* the command line makes no sense; nothing was asked */
	CLI_FAILED = 3		/* anything else: timeout, refused, no device, no memory */
};

/* Member "version" of each JSON object: grows when a field goes away or means another thing; new ones don't count. */
enum { CLI_JSON_VERSION = 1 };

/* The command that runs, which messages begin with: "rai" at first, "rai service add". */
enum { CLI_NAME_MAX = 64 };
void cli_name_set(const char *name);

/* "rai VERB: what: why" on the standard error output; returns status. */
int cli_fail(const char *what, const char *why, int status);

/* Lets readers have what was printed so far; why it can't be written is told by cli_output_end(). */
void cli_output_flush(void);

/* For atexit(): tells where something couldn't be printed, and ends the process with CLI_FAILED. It is the one place
 * that does, for what argp prints, too; a verb looks for itself only where it would go on for long. */
void cli_output_end(void);

/* A descriptor that is readable once SIGINT or SIGTERM came, or -1. To be called before any library has threads: a
 * signal that one of them doesn't block ends the process. */
int cli_signals_open(void);

/* CLOCK_MONOTONIC. */
int64_t cli_now_us(void);

/* Each takes the command line from its verb on, and returns an enum cli_exit; cli_lab() and cli_run() any status. */
int cli_doctor(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_lab(int argc, char **argv);
int cli_ping(int argc, char **argv);
int cli_ports(int argc, char **argv);
int cli_resolve(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_service_add(int argc, char **argv);
int cli_service_list(int argc, char **argv);
int cli_service_rm(int argc, char **argv);
int cli_service_watch(int argc, char **argv);
int cli_stats(int argc, char **argv);
