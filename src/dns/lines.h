/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a configuration file line by line. */
#pragma once

#include <stddef.h>

/* What separates words of such a file. */
#define RCM_BLANKS " \t\r\n\v\f"

/*
 * Calls take for each line, which it may change; its newline is not there. take ends the reading by returning -errno.
 * 0, or -errno: that, or why the file could not be read (-EFBIG: it has more than max bytes, or no end); then take was
 * not called. A file that isn't there has no lines, nor has one that may not be read, which is told.
 */
int rcm_lines_within(const char *path, size_t max, int (*take)(char *line, void *arg), void *arg);

/* The same for at most RCM_CONF_BYTES_MAX. */
int rcm_lines_each(const char *path, int (*take)(char *line, void *arg), void *arg);
