/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what the kernel tells in /sys. Nothing is kept. Any thread. A path is that below /sys, as printf() makes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first line of a file, without its end: 0, -ENAMETOOLONG, or what opening and reading say. */
int rcm_sysfs_line(char *line, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));

/*
 * Calls fn with the name of each entry of a directory, in no order, until it returns non-zero: that, or 0, or -errno.
 * A directory that isn't there has no entries. fn may look into other directories.
 */
int rcm_sysfs_each(int (*fn)(const char *name, void *arg), void *arg, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether there is such a file, and this process may read it. */
bool rcm_sysfs_has(const char *path, ...) __attribute__((format(printf, 1, 2)));

/* Another directory in the place of /sys (NULL: that again). Tests only, while no other thread runs. */
void rcm_sysfs_replace(const char *directory);
