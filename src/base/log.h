/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace lines on stderr, or where RAI_LOG_FILE says, only where the environment variable RAI_LOG asks for them. */
#pragma once

#include <stdbool.h>

enum rcm_log_level { RCM_LOG_OFF, RCM_LOG_ERROR, RCM_LOG_INFO, RCM_LOG_TRACE };

/* True where RAI_LOG (error, info, trace; read once with secure_getenv) wants that level. Any thread. */
bool rcm_log_wants(enum rcm_log_level level);

/* One line, one write(2), so that lines of several threads don't mix. Keeps errno. Never waits: where stderr, or what
 * RAI_LOG_FILE names, takes no more, the line is lost. No cancellation point. */
void rcm_log_write(enum rcm_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define rcm_log(level, ...) \
	do { if (rcm_log_wants(level)) rcm_log_write(level, __VA_ARGS__); } while (0)
#define rcm_error(...) rcm_log(RCM_LOG_ERROR, __VA_ARGS__)
#define rcm_info(...) rcm_log(RCM_LOG_INFO, __VA_ARGS__)
#define rcm_trace(...) rcm_log(RCM_LOG_TRACE, __VA_ARGS__)
