/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving an id from one channel to another. */
#include "cm/migrate.h"

#include <errno.h>

#include "base/log.h"
#include "cm/id.h"
#include "cm/sync.h"

/* Lower address first: no two moves wait for each other. */
static void migrate_lock_both(struct rcm_channel *a, struct rcm_channel *b) RCM_UNCHECKED
{
	rcm_lock_acquire(a < b ? &a->lock : &b->lock);
	rcm_lock_acquire(a < b ? &b->lock : &a->lock);
}

/* What waits on the old descriptor is read first: a request's new id is on that one, where its commands would go. */
static int migrate_in_kernel(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	uint32_t events;

	if (!id->has_handle)
		return 0;
	if (to->ucma.fd < 0)
		return -ENODEV;
	rcm_channel_catch_up_locked(from);
	return rcm_ucma_migrate_id(&to->ucma, id->handle, from->ucma.fd, &events);
}

/* The kernel leaves a request's new id on the old descriptor, which may be closed before the request is taken. */
static void migrate_request(struct rcm_event *event, struct rcm_channel *from, struct rcm_channel *to)
{
	struct rcm_kernel_event *kernel = rcm_kernel_event_of(event);
	uint32_t events;

	if (kernel->channel != from ||
	    rcm_ucma_migrate_id(&to->ucma, kernel->raw.handle, from->ucma.fd, &events))
		return;
	kernel->channel = rcm_channel_ref(to);
	rcm_channel_put(from);
}

static void migrate_events(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	struct rcm_event_list moved = TAILQ_HEAD_INITIALIZER(moved);
	struct rcm_event *event;

	while ((event = TAILQ_FIRST(&id->undelivered))) {
		rcm_channel_unlink_locked(from, event);
		TAILQ_INSERT_TAIL(&moved, event, in_channel);
	}
	while ((event = TAILQ_FIRST(&moved))) {
		TAILQ_REMOVE(&moved, event, in_channel);
		if (event->pub.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			migrate_request(event, from, to);
		rcm_channel_append_locked(to, event);
	}
}

/* Under the locks of both: nobody takes an event of it from the new descriptor before those that waited on the old are
 * there. */
static int migrate_between(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to) RCM_UNCHECKED
{
	int ret;

	migrate_lock_both(from, to);
	ret = migrate_in_kernel(id, from, to);
	if (!ret) {
		migrate_events(id, from, to);
		id->stay = !id->stay;
		rcm_channel_look_again_locked(to);
	}
	rcm_channel_show_locked(from);
	rcm_channel_show_locked(to);
	rcm_lock_release(&from->lock);
	rcm_lock_release(&to->lock);
	return ret;
}

/* One migration after the other, and none of an id that is being destroyed: 0, and *ret_from and *ret_stay are what it
 * leaves; -EINVAL. */
static int migrate_begin_locked(struct rcm_id *id, struct rcm_channel **ret_from, uint8_t *ret_stay)
	RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	while (id->migrating && !id->dead)
		rcm_lock_wait(&id->lock, &id->changed);
	if (id->dead)
		return -EINVAL;
	*ret_from = rcm_channel_ref(id->channel);
	*ret_stay = id->stay;
	return 0;
}

/* One step: who finds the id gone from one descriptor finds it on the other. */
static int migrate_locked(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to, bool sync)
	RCM_REQUIRES(id->lock)
{
	int ret;

	rcm_lock_assert_held(&id->lock);
	/* What is read on the way must not wait. */
	ret = rcm_channel_cover(from);
	if (!ret)
		ret = migrate_between(id, from, to);
	if (ret)
		return ret;
	rcm_channel_put(id->channel);
	id->channel = rcm_channel_ref(to);
	id->pub.channel = &to->pub;
	id->sync = sync;
	id->migrating = true;
	/* Of a resolution under way no call waits for the outcome. */
	if (sync && id->lookup && rcm_channel_cover(to))
		rcm_info("id %p: its resolution's event won't show", (void *)id);
	return 0;
}

/* What is left of a stay: events that the application has, and commands that are given on the old descriptor. */
static void migrate_finish(struct rcm_id *id, uint8_t stay)
{
	rcm_sync_ack(id);
	rcm_id_wait_acked(id, stay);
	rcm_lock_acquire(&id->lock);
	while (id->commands[stay])
		rcm_lock_wait(&id->lock, &id->changed);
	id->migrating = false;
	pthread_cond_broadcast(&id->changed);
	rcm_lock_release(&id->lock);
}

static int migrate_to(struct rcm_id *id, struct rcm_channel *to, bool sync)
{
	struct rcm_channel *from;
	bool was_sync, moves;
	uint8_t stay;
	int ret;

	rcm_lock_acquire(&id->lock);
	ret = migrate_begin_locked(id, &from, &stay);
	if (ret) {
		rcm_lock_release(&id->lock);
		return ret;
	}
	was_sync = id->sync;
	moves = from != to;
	if (moves)
		ret = migrate_locked(id, from, to, sync);
	rcm_lock_release(&id->lock);
	if (moves && !ret) {
		migrate_finish(id, stay);
		if (was_sync)
			rcm_channel_close(from);
	}
	rcm_channel_put(from);
	return ret;
}

int rcm_id_migrate(struct rcm_id *id, struct rcm_channel *channel)
{
	struct rcm_channel *own;
	int ret;

	if (channel)
		return migrate_to(id, channel, false);
	ret = rcm_channel_new_sync(&own);
	if (ret)
		return ret;
	ret = migrate_to(id, own, true);
	if (ret)
		rcm_channel_close(own);
	return ret;
}
