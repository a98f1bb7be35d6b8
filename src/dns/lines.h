/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a configuration file line by line. */
#pragma once

/* What separates words of such a file. */
#define RCM_BLANKS " \t\r\n\v\f"

/*
 * Calls take for each line, which it may change; its newline is there. take ends the reading by returning -errno. 0, or
 * -errno: that, or what ended the reading too early. A file that isn't there, or may not be read, has no lines.
 */
int rcm_lines_each(const char *path, int (*take)(char *line, void *arg), void *arg);
