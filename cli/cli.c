/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of the rai command share. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static char running[CLI_NAME_MAX] = "rai";

void cli_name_set(const char *name)
{
	snprintf(running, sizeof(running), "%s", name);
}

int cli_fail(const char *what, const char *why, int status)
{
	fprintf(stderr, "%s: %s: %s\n", running, what, why);
	return status;
}

/* stdio drops what couldn't be written, and doesn't fail again. */
static int output_error;

void cli_output_flush(void)
{
	if (fflush(stdout) != 0 && !output_error)
		output_error = errno;
}

void cli_output_end(void)
{
	cli_output_flush();
	if (!ferror(stdout) && !output_error)
		return;
	cli_fail("printing", strerror(output_error ? output_error : errno), CLI_FAILED);
	_exit(CLI_FAILED);
}

int cli_signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int64_t cli_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
