/* SPDX-License-Identifier: BSD-2-Clause */
/* A channel and an id in the child of a fork; cm/adopt.h says when. A caller at a time. */
#pragma once

#include <stdbool.h>

struct rcm_channel;
struct rcm_id;

/*
 * In memory alone: nobody holds a lock, waits, or has an event to ack. A channel whose lock a thread of the parent
 * held may be half changed: its queue is empty from now on. The channels come before the ids. An id: false where its
 * own lock was held.
 */
void rcm_channel_renew(struct rcm_channel *channel);
bool rcm_id_renew(struct rcm_id *id);

/* Looks, once, whether the channel's descriptors are there; if not they are forgotten, and not closed. */
void rcm_channel_recognize(struct rcm_channel *channel);

/* The same; and what makes its descriptor readable is the child's own from now on. The number stays, unless it was
 * lost. 0, -EMFILE, -ENFILE, -ENOMEM. */
int rcm_channel_own(struct rcm_channel *channel);

/* An id whose resolution starts again where the channel is adopted; no longer one; the next such, which is none any
 * more, with a reference: NULL, there is none. */
void rcm_channel_rest(struct rcm_channel *channel, struct rcm_id *id);
void rcm_channel_unrest(struct rcm_channel *channel, struct rcm_id *id);
struct rcm_id *rcm_channel_next_resting(struct rcm_channel *channel);
