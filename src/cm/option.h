/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of an id: the resolver's are kept here, the kernel's are passed on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/request.h"

struct rcm_id;

/* Of later resolutions. */
struct rcm_options {
	uint32_t deadline_ms;			/* RCM_DEADLINE_DEFAULT: not set */
	bool fresh;
	enum rcm_dns_source source;
};

void rcm_options_init(struct rcm_options *options);

/* rdma_set_option(): 0, -EINVAL (length, value), -ENOSYS (level, option), -ENODEV (a kernel option, no kernel). */
int rcm_option_set(struct rcm_id *id, int level, int name, const void *value, size_t len);
