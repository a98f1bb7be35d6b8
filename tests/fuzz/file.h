/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as a file that can be opened by its path. */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Another call gives another file, the same path again. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t len)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		assert(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, bytes, len, 0) != (ssize_t)len)
		assert(!"a file in memory can be written");
	return path;
}
