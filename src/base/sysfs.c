/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what the kernel tells in /sys. */
#include "base/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { ROOM = 512 };

/* For tests. */
static const char *sysfs_root = "/sys";

void rcm_sysfs_replace(const char *directory)
{
	sysfs_root = directory ? directory : "/sys";
}

/* False: longer than any path of the kernel's. */
static bool sysfs_path(char full[ROOM], const char *path, va_list args)
{
	int used = snprintf(full, ROOM, "%s/", sysfs_root);

	return used < ROOM && vsnprintf(full + used, (size_t)(ROOM - used), path, args) < ROOM - used;
}

static int sysfs_open(const char *path, va_list args)
{
	char full[ROOM];
	int fd;

	if (!sysfs_path(full, path, args))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? rcm_errno() : fd;
}

int rcm_sysfs_line(char *line, size_t size, const char *path, ...)
{
	va_list args;
	ssize_t len;
	int fd;

	va_start(args, path);
	fd = sysfs_open(path, args);
	va_end(args);
	if (fd < 0)
		return fd;
	len = read(fd, line, size - 1);
	if (len < 0)
		len = rcm_errno();
	close(fd);
	if (len < 0)
		return (int)len;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

bool rcm_sysfs_has(const char *path, ...)
{
	va_list args;
	int fd;

	va_start(args, path);
	fd = sysfs_open(path, args);
	va_end(args);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int rcm_sysfs_each(int (*fn)(const char *name, void *arg), void *arg, const char *path, ...)
{
	const struct dirent *entry;
	char full[ROOM];
	va_list args;
	int ret = 0;
	bool fits;
	DIR *dir;

	va_start(args, path);
	fits = sysfs_path(full, path, args);
	va_end(args);
	dir = fits ? opendir(full) : NULL;
	if (!dir)
		return !fits ? -ENAMETOOLONG : errno == ENOENT ? 0 : rcm_errno();
	while (!ret && (entry = readdir(dir)))	/* NOLINT(concurrency-mt-unsafe): nobody else has this stream */
		if (entry->d_name[0] != '.')
			ret = fn(entry->d_name, arg);
	closedir(dir);
	return ret;
}
