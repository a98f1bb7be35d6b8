/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a service at the SA: records through one port or all, then a path to each. On the engine's thread. */
#pragma once

#include "resolve/flight.h"

/* 0, and the flight will land; or -errno. */
int rcm_record_start(struct rcm_flight *flight, const struct rcm_request *request);

/* What there is by now, for who can't wait any longer: a new answer, or NULL where there are no records yet. */
struct rcm_answer *rcm_record_partial(const struct rcm_record_lookup *lookup);

/* Ends it and frees it; the flight won't land. */
void rcm_record_cancel(struct rcm_record_lookup *lookup);

/* Frees it where its back end is gone. NULL: nothing. */
void rcm_record_free(struct rcm_record_lookup *lookup);

/* True where the local ports are not as they were at the last call that looked (at most every 100 ms, at
 * their P_Keys every 10 s): answers that came through them don't count any more. */
bool rcm_record_ports_changed(struct rcm_engine *engine);
