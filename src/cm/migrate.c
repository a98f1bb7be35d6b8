/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving an id from one channel to another. */
#include "cm/migrate.h"

#include <errno.h>

#include "base/log.h"
#include "cm/id.h"
#include "cm/sync.h"
#include "cm/take.h"
#include "cm/wait.h"

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

/* What a migration leaves. */
struct stay {
	struct rcm_channel *from;		/* a reference */
	bool was_sync;
	uint8_t number;
};

/* One migration after the other, and none of an id that is being destroyed: 0, -EINVAL. */
static int migrate_begin(struct rcm_id *id, struct stay *ret_stay)
{
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	while (id->migrating && !id->dead)
		rcm_lock_wait(&id->lock, &id->changed);
	if (id->dead) {
		ret = -EINVAL;
	} else {
		id->migrating = true;
		*ret_stay = (struct stay){ rcm_channel_ref(id->channel), id->sync, id->stay };
	}
	rcm_lock_release(&id->lock);
	return ret;
}

static void migrate_end(struct rcm_id *id)
{
	rcm_lock_acquire(&id->lock);
	id->migrating = false;
	rcm_lock_broadcast(&id->lock, &id->changed);
	rcm_lock_release(&id->lock);
}

/* One step: who finds the id gone from one descriptor finds it on the other. */
static int migrate_locked(struct rcm_id *id, struct rcm_channel *from, struct rcm_channel *to, bool sync)
	RCM_REQUIRES(id->lock)
{
	int ret;

	rcm_lock_assert_held(&id->lock);
	if (id->dead)
		return -EINVAL;
	ret = migrate_between(id, from, to);
	if (ret)
		return ret;
	rcm_channel_put(id->channel);
	id->channel = rcm_channel_ref(to);
	id->pub.channel = &to->pub;
	id->sync = sync;
	/* Of a resolution under way no call waits for the outcome. */
	if (sync && id->lookup && rcm_channel_cover(to))
		rcm_info("id %p: its resolution's event won't show", (void *)id);
	return 0;
}

/* Whoever reads from a synchronous id's descriptor, which is done without a lock, is through with it before. */
static int migrate_move(struct rcm_id *id, const struct stay *stay, struct rcm_channel *to, bool sync)
{
	/* What is read on the way must not wait. */
	int ret = rcm_channel_cover(stay->from);

	if (ret)
		return ret;
	rcm_channel_await_bare_read(stay->from);
	if (stay->was_sync) {
		rcm_wait_give_up_left();
		rcm_channel_stop(stay->from);
	}
	rcm_lock_acquire(&id->lock);
	ret = migrate_locked(id, stay->from, to, sync);
	if (ret && stay->was_sync && !id->dead)
		rcm_channel_resume(stay->from);
	rcm_lock_release(&id->lock);
	return ret;
}

/* What is left of a stay: events that the application has, and commands that are given on the old descriptor. */
static void migrate_finish(struct rcm_id *id, const struct stay *stay)
{
	rcm_sync_ack(id);
	rcm_id_wait_acked(id, stay->number);
	rcm_id_wait_commands(id, stay->number);
	rcm_id_wait_renewals(id);
	if (stay->was_sync)
		rcm_channel_close(stay->from);
}

static int migrate_to(struct rcm_id *id, struct rcm_channel *to, bool sync)
{
	struct stay stay = { .from = NULL };
	int ret;

	ret = migrate_begin(id, &stay);
	if (ret)
		return ret;
	if (stay.from != to) {
		ret = migrate_move(id, &stay, to, sync);
		if (!ret)
			migrate_finish(id, &stay);
	}
	migrate_end(id);
	rcm_channel_put(stay.from);
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
