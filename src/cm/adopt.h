/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a fork's child has of its parent: channels and ids, and what the parent's other threads, which aren't here, were
 * doing with them.
 *
 * Three steps. The first call of the child gives up what those threads held and waited for, in memory alone. The
 * first that is about an id or a channel looks whether the channel's descriptors still are what they were. And the
 * first that goes on with it, which any but those that destroy does, makes its descriptor the child's own and starts
 * again what was under way on it. In a process that is nobody's child each costs a comparison.
 */
#pragma once

#include "base/fork.h"

struct rcm_channel;
struct rcm_id;

/* The first step. First in every public call that takes a lock. Any thread; no cancellation point. */
void rcm_adopt_enter_child(void);

static inline void rcm_adopt_enter(void)
{
	if (rcm_fork_generation)
		rcm_adopt_enter_child();
}

/* All three for a channel, or for that of an id. 0; -EMFILE, -ENFILE, -ENOMEM, -EAGAIN (no thread): the next call tries
 * again, and until then nothing of the channel's shows. Any thread, no lock held; no cancellation point. */
int rcm_adopt_channel_of_parent(struct rcm_channel *channel);
int rcm_adopt_id_of_parent(struct rcm_id *id);

static inline int rcm_adopt_channel(struct rcm_channel *channel)
{
	return rcm_fork_generation ? rcm_adopt_channel_of_parent(channel) : 0;
}

static inline int rcm_adopt_id(struct rcm_id *id)
{
	return rcm_fork_generation ? rcm_adopt_id_of_parent(id) : 0;
}

/* The first two: for calls that end it. No cancellation point either. */
void rcm_adopt_channel_to_end(struct rcm_channel *channel);
void rcm_adopt_id_of_parent_to_end(struct rcm_id *id);

static inline void rcm_adopt_id_to_end(struct rcm_id *id)
{
	if (rcm_fork_generation)
		rcm_adopt_id_of_parent_to_end(id);
}
