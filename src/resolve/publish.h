/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder's door for services to be published: from any thread to the engine's and back. */
#pragma once

#include "publish/offer.h"

struct rcm_publication;

/*
 * Publishes what is offered, until it is stopped: 0, and told is called now and then, maybe before this returned; or
 * -ENOMEM, -EAGAIN (no thread; RCM_PUBLISHED_MAX are published), -EMFILE, and nothing is called. told is told what
 * became of the record; over, once it was stopped, that nothing comes any more: both on the engine's thread, or on one
 * that finds that the program has closed its descriptors, with no lock held. Any thread.
 */
int rcm_publish_start(const struct rcm_service_offer *offer,
		      void (*told)(void *arg, const struct rcm_service_outcome *outcome), void (*over)(void *arg),
		      void *arg, struct rcm_publication **ret_publication);

/* Takes it back: over() follows. The handle is given up. Waits for nothing. NULL: nothing. Any thread. */
void rcm_publish_stop(struct rcm_publication *publication);

/* In the child of a fork, after rcm_engine_leave_parent(), of one that the parent started: gives it up without a
 * word to anybody. NULL: nothing. */
void rcm_publish_forsake(struct rcm_publication *publication);
