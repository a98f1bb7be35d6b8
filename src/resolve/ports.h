/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows where devices tell that something happened to their ports. On the engine's thread. */
#pragma once

#include "resolve/engine.h"

/* Of an engine whose loop has just been made. */
void rcm_ports_init(struct rcm_engine *engine);
