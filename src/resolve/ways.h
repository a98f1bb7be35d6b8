/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the addresses of a name are to be tried on this host. Any thread. */
#pragma once

#include "resolve/answer.h"
#include "resolve/engine.h"

/* As getaddrinfo() would give them now: that changes with routes and addresses of this host, more often than names do.
 * Without memory they stay as they are. */
void rcm_ways_sort(struct rcm_engine *engine, struct rcm_result *results, unsigned count);

/* What RDMA devices reach first, and from where; and whether there is any device. */
void rcm_ways_reach(struct rcm_engine *engine, struct rcm_result *results, unsigned count);
bool rcm_ways_matter(struct rcm_engine *engine);
