/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder's door: one caller's resolution, started from any thread, completed once. */
#pragma once

#include <rdma/rai.h>

#include "resolve/question.h"

struct rcm_request;

/*
 * 0, and done is called exactly once: inside this call where nobody has to be asked (numbers, names of the hosts file,
 * answers that were kept), else on the engine's thread. Or -ENOMEM, -EAGAIN (no thread), -EMFILE, and it never is.
 * Waits for nothing but short mutexes. *ret_request: a reference for rcm_request_cancel(), to be given up with
 * rcm_request_put(); NULL where the outcome is told already.
 */
int rcm_request_start(const struct rcm_question *question, rcm_outcome_fn *done, void *arg,
		      struct rcm_request **ret_request);

/*
 * Outcomes that the engine tells have more set, and told is called after the last of those that are there together, and
 * before one that another function is told, on the same thread: what need not be done for each can be done there. For a
 * constructor.
 */
void rcm_request_watch_told(void (*told)(void));

/* Asks for an end: done is called soon with -ECANCELED, unless the outcome was on its way already. Never waits. NULL:
 * nothing. */
void rcm_request_cancel(struct rcm_request *request);

/* One more reference. */
struct rcm_request *rcm_request_get(struct rcm_request *request);

/* NULL: nothing. */
void rcm_request_put(struct rcm_request *request);

/* Makes the list of an answer for a question's hints and the outcome's port: 0 or -ENOMEM. Any thread. */
int rcm_answer_list(const struct rcm_answer *answer, const struct rcm_hints *hints, uint16_t port,
		    struct rdma_addrinfo **ret_list);

/* The first result's destination: where rdma_resolve_route() goes right after RAI_SA. */
const union rcm_sockaddr *rcm_answer_first(const struct rcm_answer *answer);

/*
 * In the child of a fork: gives up the parent's engine, where that isn't done yet. What was under way rests from then
 * on, without an outcome: those who wait for it may be threads that aren't here. An end that is asked for is told at
 * once, by rcm_request_cancel() itself.
 */
void rcm_engine_leave_parent(void);

/* Of a request that was under way in the parent: whether it rests; and starts it again, if so. 0, or as
 * rcm_request_start(), and it rests. Any thread. */
bool rcm_request_rests(struct rcm_request *request);
int rcm_request_again(struct rcm_request *request);

/*
 * In the child of a fork, after rcm_engine_leave_parent(), a caller at a time: of what rests and was started with done,
 * cancels each that wanted(arg) says no of: its owner had given it up, and only the parent's engine would have ended
 * it.
 */
void rcm_requests_drop(rcm_outcome_fn *done, bool (*wanted)(const void *arg));

/* Counters, see rai_get_stats(). Any thread. */
void rcm_engine_stats(struct rai_stats *ret_stats);
