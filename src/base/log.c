/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace lines, only where the environment variable RAI_LOG asks for them. */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "base/sink.h"

static const struct { const char *name; int priority; } levels[] = {
	[RCM_LOG_OFF] = { "off", LOG_ERR }, [RCM_LOG_ERROR] = { "error", LOG_ERR },
	[RCM_LOG_INFO] = { "info", LOG_INFO }, [RCM_LOG_TRACE] = { "trace", LOG_DEBUG },
};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum rcm_log_level wanted;
static struct rcm_sink sink;

/* Whoever set it wrongly would wait for lines: it is said once where they would else be. */
static void log_refuse_sink(const char *text, int error)
{
	static const struct rcm_sink stderr_sink;
	char line[400];
	int len = snprintf(line, sizeof(line), "rai: error: RAI_LOG_FILE %.256s: %s\n", text,
			   error == -EINVAL ? "neither an absolute path nor \"journal\"" : strerrordesc_np(-error));

	rcm_sink_write(&stderr_sink, LOG_ERR, line, (size_t)len);
	wanted = RCM_LOG_OFF;
}

static void log_read_environment(void)
{
	const char *text = secure_getenv("RAI_LOG"), *file = secure_getenv("RAI_LOG_FILE");
	int saved = errno, cancel, ret = 0;

	for (unsigned i = 0; text && i < sizeof(levels) / sizeof(*levels); i++)
		if (!strcmp(text, levels[i].name))
			wanted = i;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* The environment may change. */
	if (wanted && file)
		file = strdup(file);
	if (wanted)
		ret = rcm_sink_choose(file, &sink);
	if (ret)
		log_refuse_sink(file, ret);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

bool rcm_log_wants(enum rcm_log_level level)
{
	pthread_once(&once, log_read_environment);
	return level <= wanted;
}

void rcm_log_write(enum rcm_log_level level, const char *format, ...)
{
	int saved = errno, used, cancel;
	char line[512];
	va_list args;

	used = snprintf(line, sizeof(line), "rai: %s: ", levels[level].name);
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
	rcm_sink_write(&sink, levels[level].priority, line, (size_t)used);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}
