/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of the resolver in a fork. */
#pragma once

#include "resolve/engine.h"

/*
 * In the child, with the start lock held: gives up what belongs to the parent's engine, and puts what was under way to
 * rest, until somebody who is in this process wants it (rcm_request_again()), but for what only a thread waited for.
 * Its epoll registrations are the parent's, too, and its descriptors were closed at the fork.
 */
void rcm_engine_abandon(struct rcm_engine *engine);
