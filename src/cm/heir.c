/* SPDX-License-Identifier: BSD-2-Clause */
/* A channel in the child of a fork. */
#include "cm/heir.h"

#include <string.h>

#include "cm/channel.h"
#include "cm/id.h"

/* What was changed at the fork nobody can tell from what is whole: it is forgotten, not freed. */
static void queues_forget(struct rcm_channel *channel) RCM_UNCHECKED
{
	TAILQ_INIT(&channel->queue);
	TAILQ_INIT(&channel->aside);
	TAILQ_INIT(&channel->nobodys);
	channel->spare = NULL;
}

/* Who put them aside isn't here. */
static void aside_put_back(struct rcm_channel *channel) RCM_UNCHECKED
{
	struct rcm_event *event;

	while ((event = TAILQ_LAST(&channel->aside, rcm_event_list))) {
		TAILQ_REMOVE(&channel->aside, event, in_channel);
		TAILQ_INSERT_HEAD(&channel->queue, event, in_channel);
		event->list = &channel->queue;
	}
}

void rcm_channel_renew(struct rcm_channel *channel) RCM_UNCHECKED
{
	channel->torn = !rcm_lock_renew(&channel->lock);
	rcm_lock_renew(&channel->reading);
	channel->left = (struct rcm_condition)RCM_CONDITION_INIT;
	sem_init(&channel->own, 0, 0);
	channel->users = 0;
	channel->own_awaited = 0;
	channel->closing = false;
	channel->recognized = false;
	channel->shared = true;
	channel->readiness.shown = false;
	LIST_INIT(&channel->resting);
	if (channel->torn)
		queues_forget(channel);
	else
		aside_put_back(channel);
	atomic_store(&channel->foreign, true);
}

bool rcm_id_renew(struct rcm_id *id) RCM_UNCHECKED
{
	bool whole = rcm_lock_renew(&id->lock);

	rcm_lock_renew(&id->queues);
	id->changed = (struct rcm_condition)RCM_CONDITION_INIT;
	/* No other thread is here. */
	memset(id->unacked, 0, sizeof(id->unacked));
	memset(id->commands, 0, sizeof(id->commands));
	memset(id->unacked_of, 0, sizeof(id->unacked_of));
	atomic_store(&id->renewals, 0);
	atomic_store(&id->awaiting, 0);
	id->migrating = false;
	if (id->channel->torn)
		TAILQ_INIT(&id->undelivered);
	return whole;
}

/* A daemon may have closed them, and their numbers be other files'. */
void rcm_channel_recognize(struct rcm_channel *channel)
{
	rcm_lock_acquire(&channel->lock);
	if (!channel->recognized)
		rcm_channel_lose_unknown_locked(channel);
	channel->recognized = true;
	rcm_lock_release(&channel->lock);
}

/* A bare one is the kernel's, and needs nothing. */
static int descriptor_own_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	int ret = 0;

	rcm_lock_assert_held(&channel->lock);
	if (channel->shared && !channel->bare)
		ret = rcm_readiness_renew(&channel->readiness, channel->ucma.fd, &channel->pub.fd);
	if (!ret)
		channel->shared = false;
	return ret;
}

int rcm_channel_own(struct rcm_channel *channel)
{
	int ret;

	rcm_channel_recognize(channel);
	rcm_lock_acquire(&channel->lock);
	ret = descriptor_own_locked(channel);
	if (!ret)
		rcm_channel_show_locked(channel);
	rcm_lock_release(&channel->lock);
	return ret;
}

void rcm_channel_rest(struct rcm_channel *channel, struct rcm_id *id)
{
	rcm_lock_acquire(&channel->lock);
	if (!id->rests)
		LIST_INSERT_HEAD(&channel->resting, id, rest);
	id->rests = true;
	rcm_lock_release(&channel->lock);
}

void rcm_channel_unrest(struct rcm_channel *channel, struct rcm_id *id)
{
	rcm_lock_acquire(&channel->lock);
	if (id->rests)
		LIST_REMOVE(id, rest);
	id->rests = false;
	rcm_lock_release(&channel->lock);
}

struct rcm_id *rcm_channel_next_resting(struct rcm_channel *channel)
{
	struct rcm_id *id;

	rcm_lock_acquire(&channel->lock);
	id = LIST_FIRST(&channel->resting);
	if (id) {
		LIST_REMOVE(id, rest);
		id->rests = false;
		rcm_id_ref(id);
	}
	rcm_lock_release(&channel->lock);
	return id;
}
