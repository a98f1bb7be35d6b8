/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a host name: from a flight to the name back end and its answer. On the engine's thread. */
#pragma once

#include "resolve/flight.h"

/* 0, and the flight will land; or -errno. */
int rcm_host_start(struct rcm_flight *flight, const struct rcm_request *request);

/* The flight won't land. */
void rcm_host_cancel(struct rcm_flight *flight);

/* The answer with what RDMA devices reach first; takes over a reference and gives one, maybe to the same. Not NULL. */
struct rcm_answer *rcm_host_reach(struct rcm_engine *engine, struct rcm_answer *answer);

/* The answer to a node that is no name: a number, or none at all. Never NULL; asks no network. */
struct rcm_answer *rcm_host_number(struct rcm_engine *engine, const char *node, int family);
struct rcm_answer *rcm_host_local(int family, bool passive);
