/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A resolver engine that a test completes by hand: all of resolve/resolve.h, without thread, network or time.
 * Linked in the place of the real one. A request or an answer that is left over fails the test.
 */
#pragma once

#include <stdbool.h>

#include "resolve/publish.h"
#include "resolve/resolve.h"

/* As at the start: nothing pending, nothing refused. Fails where something is left over. */
void rcm_fake_engine_reset(void);

/* The next rcm_request_start() fails with this; 0: it doesn't. */
void rcm_fake_engine_refuse(int error);

/* Requests are completed before rcm_request_start() returns, with success and one result. */
void rcm_fake_engine_immediate(bool immediate);

/* The next rcm_answer_list() fails with -ENOMEM. */
void rcm_fake_engine_no_memory(void);

/* Requests rest from now on, as in the child of a fork what the parent had under way. */
void rcm_fake_engine_rest(void);

/* What starting one again says from now on: 0, or -errno; how many were started again so far. */
void rcm_fake_engine_refuse_again(int error);
unsigned rcm_fake_engine_agains(void);

/* How many are neither completed nor cancelled. */
unsigned rcm_fake_engine_pending(void);

/* What was asked last; strings are copies. */
const struct rcm_question *rcm_fake_engine_question(void);

/* Completes the oldest request: with results (status 0), or with a failure. */
void rcm_fake_engine_resolve(unsigned results);
/* The same of all requests, one after the other in one burst; before the last step() is called. */
void rcm_fake_engine_resolve_all(void (*step)(void));
/* The end of such a burst alone, as of another engine's. */
void rcm_fake_engine_end_burst(void);
void rcm_fake_engine_fail(int status, uint64_t arg, const char *text);

/* Calls of rcm_request_cancel() so far. A cancelled request is completed at once with -ECANCELED, as the engine's thread
 * would do soon after, unless it is held back: then by rcm_fake_engine_fail(). */
unsigned rcm_fake_engine_cancels(void);
void rcm_fake_engine_hold_cancels(bool hold);

/* Services published and not stopped; stopped and not over; forsaken. The next rcm_publish_start() fails with this. */
unsigned rcm_fake_engine_published(void);
unsigned rcm_fake_engine_ending(void);
unsigned rcm_fake_engine_forsaken(void);
void rcm_fake_engine_refuse_publishing(int error);

/* The next is told so before rcm_publish_start() returns. */
void rcm_fake_engine_tell_early(void);

/* What the newest offers; tells it something; ends all that were stopped. */
const struct rcm_service_offer *rcm_fake_engine_offer(void);
void rcm_fake_engine_tell(int status, const char *text);
void rcm_fake_engine_over(void);
