/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller's half of a resolution: what needs nobody to be asked is answered on the caller's own thread. */
#pragma once

#include "resolve/engine.h"

/*
 * The answer to a question, the same as the engine would give, and the port that its service means; or NULL: the engine
 * has to be asked, and *ret_settled: without a look of its own at the host's files, as they are those in force. Wakes
 * and waits for nobody. Any thread.
 */
struct rcm_answer *rcm_local_answer(struct rcm_engine *engine, const struct rcm_question *question, uint16_t *ret_port,
				    bool *ret_settled);
