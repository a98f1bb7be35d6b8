/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup of a host name: from a flight to the name back end and its answer. On the engine's thread, but where it
 * says otherwise. */
#pragma once

#include "resolve/flight.h"

/* 0, and the flight will land; or -errno. */
int rcm_host_start(struct rcm_flight *flight, const struct rcm_request *request);

/* What has been found so far, for who has no more time: one address family. NULL: nothing. */
struct rcm_answer *rcm_host_partial(struct rcm_flight *flight);

/* Its name is that of another request from now on. */
void rcm_host_move(struct rcm_flight *flight, const struct rcm_request *request);

/* The flight won't land. */
void rcm_host_cancel(struct rcm_flight *flight);

/* The answer to a name that nobody has to be asked for, or NULL; where the back end is open and settled. Any thread. */
struct rcm_answer *rcm_host_now(struct rcm_engine *engine, const struct rcm_dns_query *query);

/* The answer with what RDMA devices reach first; takes over a reference and gives one, maybe to the same. Not NULL. Any
 * thread. One of SRV records stays as it is: each caller has an order of its own. */
struct rcm_answer *rcm_host_reach(struct rcm_engine *engine, struct rcm_answer *answer);

/* The same of an answer that was kept: first in the order that getaddrinfo() would give it now; one of SRV records in
 * the order of this caller. */
struct rcm_answer *rcm_host_hand_out(struct rcm_engine *engine, struct rcm_answer *answer);

/* The one result that hints hold themselves, where there is neither node nor service. Never NULL. Any thread. */
struct rcm_answer *rcm_host_given(const union rcm_sockaddr *dst, const union rcm_sockaddr *src);

/* The answer to a node that is no name: a number, or none at all; NULL: it is a name. Asks no network. Any thread. */
struct rcm_answer *rcm_host_plain(struct rcm_engine *engine, const char *node, int family, bool passive);
