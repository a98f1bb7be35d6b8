/* SPDX-License-Identifier: BSD-2-Clause */
/* Negative errno helpers: inside the library every call returns 0 or -errno. */
#pragma once

#include <errno.h>
#include <stdbool.h>

/* The negative of errno after a failed libc call; never 0, so a failure can't read as success. */
static inline int rcm_errno(void)
{
	return errno > 0 ? -errno : -EIO;
}

/* It says nothing about what was looked for: memory or descriptors had run out. */
static inline bool rcm_is_want(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}
