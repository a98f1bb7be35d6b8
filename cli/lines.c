/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a file or a pipe, taken as they come. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_lines_open(struct cli_lines *lines, const char *path)
{
	struct stat st;

	lines->used = lines->at = 0;
	lines->number = 0;
	lines->skipping = false;
	lines->size = lines->taken = 0;
	lines->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	if (lines->fd < 0)
		return -errno;
	if (fstat(lines->fd, &st) == 0 && S_ISREG(st.st_mode))
		lines->size = st.st_size;
	return 0;
}

void cli_lines_close(struct cli_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	lines->fd = -1;
}

/* Reads what is there, and doesn't wait for more: 1, 0: nothing yet, or -errno. The descriptor is left as it is, since
 * others may have it, too. */
static int lines_fill(struct cli_lines *lines)
{
	struct pollfd ready = { .fd = lines->fd, .events = POLLIN };
	ssize_t len;

	if (lines->fd < 0)
		return -EPIPE;
	if (poll(&ready, 1, 0) <= 0)
		return 0;
	memmove(lines->buf, lines->buf + lines->at, lines->used - lines->at);
	lines->used -= lines->at;
	lines->at = 0;
	len = read(lines->fd, lines->buf + lines->used, sizeof(lines->buf) - 1 - lines->used);
	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (len == 0)
		cli_lines_close(lines);
	lines->used += (size_t)len;
	return 1;
}

int cli_lines_next(struct cli_lines *lines, char **ret_line)
{
	for (;;) {
		char *line = lines->buf + lines->at;
		size_t left = lines->used - lines->at;
		char *end = memchr(line, '\n', left);
		size_t len = end ? (size_t)(end - line) : left;
		bool skipped = lines->skipping;
		int rc;

		if (!end && lines->fd >= 0 && len <= CLI_LINE_MAX) {
			rc = lines_fill(lines);
			if (rc <= 0)
				return rc;
			continue;
		}
		if (!end && lines->fd < 0 && left == 0)
			return -EPIPE;
		lines->at += end ? len + 1 : len;
		lines->taken += (long long)(end ? len + 1 : len);
		lines->skipping = !end && lines->fd >= 0;
		if (skipped)
			continue;
		lines->number++;
		if (len > CLI_LINE_MAX)
			return -EMSGSIZE;
		if (memchr(line, 0, len))
			return -EILSEQ;
		line[len] = 0;
		*ret_line = line;
		return 1;
	}
}
