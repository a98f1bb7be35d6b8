/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of an id: the resolver's are kept here, the kernel's are passed on. */
#pragma once

#include <stddef.h>

struct rcm_id;

/* rdma_set_option(): 0, -EINVAL (length, value), -ENOSYS (level, option), -ENODEV (a kernel option, no kernel). */
int rcm_option_set(struct rcm_id *id, int level, int name, const void *value, size_t len);

/* Tells a kernel's id that is new what was set of level RDMA_OPTION_ID before: 0, what the kernel said. */
int rcm_option_replay(struct rcm_id *id);
