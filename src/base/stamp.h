/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices that a file was written, replaced, removed or made. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* Zeroed: never looked. */
struct rcm_stamp {
	bool looked;
	bool fresh;		/* so young when looked at that a second change might not show */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct timespec ctime;
};

/* True where the file may have changed since the last call on this stamp, and at the first. One stat(2). */
bool rcm_stamp_changed(struct rcm_stamp *stamp, const char *path);
