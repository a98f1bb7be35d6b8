/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events from a channel: of the queue, and of the kernel's descriptor into it. */
#pragma once

#include "cm/channel.h"

/* Takes the next event of these types in one look, counted on its id but not completed; those before it go aside. 0,
 * -EAGAIN where none is due, -ECANCELED where the channel was stopped, or what GET_EVENT said. */
int rcm_channel_take(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event);

/* What went aside is first in the queue again, in order. */
void rcm_channel_put_back_aside(struct rcm_channel *channel);

/* Reads an event of the kernel's into the queue of a bare channel. seen: what reads was before the descriptor was seen
 * to be readable; NULL: nobody has looked. 0, -EAGAIN: there is none; what GET_EVENT said. */
int rcm_channel_read_bare(struct rcm_channel *channel, const unsigned *seen);

/* Reads all that the kernel has ready into the queue. */
void rcm_channel_catch_up_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
