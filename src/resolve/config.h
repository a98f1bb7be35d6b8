/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment sets. */
#pragma once

#include <stdint.h>

struct rcm_config {
	uint32_t deadline_ms;	/* RAI_DEADLINE_MS; RCM_DEADLINE_DEFAULT: not set */
	uint32_t sa_keep_ms;	/* RAI_SA_KEEP_MS: how long SA answers are kept; 0 (default): not at all */
};

/* The environment, read once. Any thread. */
const struct rcm_config *rcm_config_get(void);
