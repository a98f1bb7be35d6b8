/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace lines on stderr, only where the environment variable RAI_LOG asks for them. */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "off", "error", "info", "trace" };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum rcm_log_level wanted;

static void log_read_environment(void)
{
	const char *text = secure_getenv("RAI_LOG");

	for (unsigned i = 0; text && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			wanted = i;
}

bool rcm_log_wants(enum rcm_log_level level)
{
	pthread_once(&once, log_read_environment);
	return level <= wanted;
}

void rcm_log_write(enum rcm_log_level level, const char *format, ...)
{
	struct pollfd reader = { .fd = STDERR_FILENO, .events = POLLOUT };
	int saved = errno, used, cancel;
	char line[512];
	va_list args;

	used = snprintf(line, sizeof(line), "rai: %s: ", names[level]);
	va_start(args, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	if (used > (int)sizeof(line) - 2)
		used = sizeof(line) - 2;
	/* A name may hold anything, and must not look like more lines than one. */
	for (int i = 0; i < used; i++)
		if (line[i] == '\x7f' || (unsigned char)line[i] < ' ')
			line[i] = '?';
	line[used++] = '\n';
	/* Nobody may have to wait, a fork least of all, because nobody reads what is told here: then it is lost. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (poll(&reader, 1, 0) == 1)
		(void)!write(STDERR_FILENO, line, (size_t)used);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}
