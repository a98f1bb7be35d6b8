/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment sets, and when the host's own configuration has changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rcm_config {
	uint32_t deadline_ms;	/* RAI_DEADLINE_MS; RCM_DEADLINE_DEFAULT: not set */
	uint32_t sa_keep_ms;	/* RAI_SA_KEEP_MS: how long SA answers are kept; 0 (default): not at all */
};

/* The environment, read once. Any thread. */
const struct rcm_config *rcm_config_get(void);

/*
 * True where a file that decides what names mean (hosts, resolv.conf, nsswitch.conf, gai.conf, host.conf) is not what
 * it was at the last call that looked; looks once in a turn of the loop, whose time now is. Resolver thread.
 */
bool rcm_config_files_changed(uint64_t now);
