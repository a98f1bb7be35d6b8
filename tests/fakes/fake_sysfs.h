/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory that stands for /sys, with RDMA devices as a test wants them. */
#pragma once

/* Makes an empty one and returns its path; valid until rcm_fake_sysfs_done(). */
const char *rcm_fake_sysfs_new(void);

/* Makes a file (and its directories) below it, holding text and a newline; text NULL: an empty directory. */
void rcm_fake_sysfs_add(const char *path, const char *text);

/* Removes all. */
void rcm_fake_sysfs_done(void);
