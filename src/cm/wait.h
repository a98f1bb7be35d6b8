/* SPDX-License-Identifier: BSD-2-Clause */
/* A reader of a channel: until an event is due, and its delivery agrees. */
#pragma once

#include <stdint.h>

#include "cm/channel.h"

/*
 * Takes the next event of a channel, completed and counted on its id. 0; -EAGAIN where none is due and pub.fd has
 * O_NONBLOCK; -EINTR where a signal handler ran meanwhile, SA_RESTART or not; -ECANCELED where the channel was stopped,
 * or destroyed lately; what the kernel's GET_EVENT said. Any number of threads; a cancellation point while it waits.
 */
int rcm_channel_get(struct rcm_channel *channel, struct rcm_event **ret_event);

/* The same, with cancellation held off but for the wait: that is under cancel_state, the caller's. */
int rcm_channel_get_held(struct rcm_channel *channel, int cancel_state, struct rcm_event **ret_event);

/* Gives up a wait of this thread's that a signal handler jumped out of: the channel's end would wait for it for ever.
 * Before one is stopped, as is done where another wait begins and where the thread ends; no lock held. From a handler
 * that runs upon such a wait: that one is over, and joins anew. */
void rcm_wait_give_up_left(void);

/* Takes the next event of one of these types, as above; the others stay, in order. One thread at a time, with
 * cancellation held off, as in the next. */
int rcm_channel_get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event);

/* The same for types that the library itself makes (a resolution's outcome): waits without the descriptor. */
int rcm_channel_get_own(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event);
