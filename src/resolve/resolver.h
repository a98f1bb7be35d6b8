/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread: its start and its turns. */
#pragma once

#include "resolve/engine.h"

/* Starts it where it isn't running: 0, -EAGAIN, -EMFILE, -ENOMEM. Any thread. */
int rcm_resolver_start(void);

/* Starts it again in the child of a fork, where it was running. Any thread. */
void rcm_resolver_enter(void);
