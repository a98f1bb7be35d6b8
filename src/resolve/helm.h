/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A caller's thread does the engine's work for its own resolution, while the engine's thread sleeps: it sends the
 * question, and reads the answer where it waits for that anyway, which saves two changes of thread. Only for a party
 * that has all that is under way, so that its priority, or a processor that it doesn't get, holds up nobody else; under
 * the gate, with signals blocked and no cancellation, so that neither a handler nor a jump out of one finds the engine
 * half-way. Any thread, without locks.
 */
#pragma once

#include "resolve/engine.h"

/* Begins the request, if that takes no file to be read and nobody to be waited for; else false, and it is to be
 * posted. */
bool rcm_helm_begin(struct rcm_engine *engine, struct rcm_request *request);

/* What answers for the party come by, to be waited on; -EAGAIN: they are left to the engine's thread. After the wait it
 * is given back; ready: what has come is read, and told, first. */
int rcm_helm_borrow(unsigned party);
void rcm_helm_give_back(bool ready);
