/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells whether a file is still the one that was read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: never taken. */
struct rcm_stamp {
	uint64_t device, inode, size, sec, nsec;
};

/* Takes the state of the file now (one that is not there has one, too). True where it differs from what *stamp held. */
bool rcm_stamp_update(struct rcm_stamp *stamp, const char *path);
