/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration files, line by line. */
#include "dns/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/tell.h"

enum { CHUNK = 4096 };

/* All of a file, and a NUL behind it: 0 or -errno. A directory is empty, and stays so. */
static int lines_read(FILE *file, size_t max, char **ret_text, size_t *ret_len)
{
	size_t size = CHUNK, len = 0;
	char *text = NULL, *grown;
	int ret = 0;

	errno = 0;
	do {
		size *= 2;
		grown = realloc(text, size);
		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		text = grown;
		len += fread(text + len, 1, size - 1 - len, file);
	} while (len == size - 1 && len <= max);
	if (!ret && ferror(file) && errno != EISDIR)
		ret = rcm_errno();
	if (!ret && len > max)
		ret = -EFBIG;
	if (ret) {
		free(text);
		return ret;
	}
	text[len] = '\0';
	*ret_text = text;
	*ret_len = len;
	return 0;
}

/* Goes on, as getaddrinfo() does; but nobody shall have to guess why a name of the file isn't found. */
static int lines_are_missing(const char *path, int error)
{
	if (rcm_is_want(error))
		return error;
	if (error != -ENOENT && error != -ENOTDIR) {
		rcm_error("%s can't be read, and counts as empty: %s", path, strerrordesc_np(-error));
		rcm_tell(RCM_TELL_FILES, "%s can't be read, and counts as empty: %s", path, strerrordesc_np(-error));
	}
	return 0;
}

int rcm_lines_within(const char *path, size_t max, int (*take)(char *line, void *arg), void *arg)
{
	FILE *file = fopen(path, "re");
	char *text, *end, *next;
	size_t len;
	int ret;

	if (!file)
		return lines_are_missing(path, rcm_errno());
	ret = lines_read(file, max, &text, &len);
	fclose(file);
	if (ret)
		return ret;
	end = text + len;
	for (char *line = text; line < end && !ret; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end + 1;
		next[-1] = '\0';
		ret = take(line, arg);
	}
	free(text);
	return ret;
}

int rcm_lines_each(const char *path, int (*take)(char *line, void *arg), void *arg)
{
	return rcm_lines_within(path, RCM_CONF_BYTES_MAX, take, arg);
}
