/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events from a channel: of the queue, and of the kernel's descriptor into it. */
#pragma once

#include "cm/channel.h"

/* A call that takes an event of these types, and waits for one. */
struct rcm_reader {
	struct rcm_channel *channel;		/* stays, as long as the reader uses it */
	uint32_t types;
	bool uses;				/* counts as a user of the channel */
};

/* Takes the next event in one look, counted on its id but not completed. 0, -EAGAIN where none is due, -ECANCELED where
 * the channel was stopped, or destroyed lately; what GET_EVENT said. */
int rcm_channel_take(struct rcm_channel *channel, struct rcm_event **ret_event);

/* The same for a reader, of its types; those before it are passed over. -EAGAIN: the reader uses the channel until it
 * takes one or ends, may wait on the descriptors, and what was passed over stays aside meanwhile. */
int rcm_reader_take(struct rcm_reader *reader, struct rcm_event **ret_event);

/* The same where nothing was due a moment ago: without a look, since what came meanwhile shows. -EAGAIN, -ECANCELED. */
int rcm_reader_begin(struct rcm_reader *reader);

/* Ends one that was to wait; any other: nothing. For pthread_cleanup_push(3), too. */
void rcm_reader_end(void *reader);

/* Reads an event of the kernel's from a bare channel into the queue, where the descriptor doesn't show it: the caller
 * takes what there is next. seen: what reads was before the descriptor was seen to be readable; NULL: nobody looked.
 * 0: it was read, or the channel isn't bare any more. -EAGAIN: there is none; -ENOMEM; what GET_EVENT said. With
 * cancellation held off. */
int rcm_channel_read_bare(struct rcm_channel *channel, const unsigned *seen);

/* Of one that isn't bare any more: until what was read before is in the queue. No lock held. */
void rcm_channel_await_bare_read(struct rcm_channel *channel);

/* Reads all that the kernel has ready into the queue. */
void rcm_channel_catch_up_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
