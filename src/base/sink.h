/* SPDX-License-Identifier: BSD-2-Clause */
/* Where log lines go: standard error, a file, or the journal. Nothing is kept open: so a file may be renamed while
 * others write to it, and a process that closes all its descriptors finds none of ours in its files. */
#pragma once

#include <stddef.h>

#define RCM_SINK_JOURNAL "/run/systemd/journal/socket"

struct rcm_sink {
	enum { RCM_SINK_STDERR, RCM_SINK_FILE, RCM_SINK_SOCKET } kind;
	const char *path;		/* of the two latter */
};

/*
 * For the text of RAI_LOG_FILE: NULL or "" standard error, "journal" the journal, else an absolute path. 0, or -errno
 * where it can't be written to now; -EINVAL: it is none of these. text has to live on.
 */
int rcm_sink_choose(const char *text, struct rcm_sink *ret_sink);

/*
 * One line, with its newline, of a syslog(3) priority; in a file behind time and process. Never waits for who reads a
 * FIFO, a terminal or a socket: then the line is lost. 0 or -errno.
 */
int rcm_sink_write(const struct rcm_sink *sink, int priority, const char *line, size_t len);
