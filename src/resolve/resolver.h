/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's thread: its start and its turns. */
#pragma once

#include "resolve/engine.h"

/* Starts it where it isn't running, and another one where the program has closed its descriptors: then the engine of
 * the process is another, too. 0, and *ret_engine is the one that was started, or was lost since: that of the process
 * may be another by now, which has no thread yet. -EAGAIN, -EMFILE, -ENOMEM; -EPERM: a sandbox. Any thread. */
int rcm_resolver_start(struct rcm_engine **ret_engine);

/* In the child of a fork gives up the parent's, where that is not done yet; starts none. Any thread. */
void rcm_resolver_leave_parent(void);
