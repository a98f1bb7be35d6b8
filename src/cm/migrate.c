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

/* The kernel leaves a request's new id on the old descriptor, where its commands go: so what waits there is read
 * first. */
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
		rcm_channel_look_again_locked(to);
	}
	rcm_channel_show_locked(from);
	rcm_channel_show_locked(to);
	rcm_lock_release(&from->lock);
	rcm_lock_release(&to->lock);
	return ret;
}

int rcm_id_migrate(struct rcm_id *id, struct rcm_channel *to)
{
	struct rcm_channel *from = rcm_id_channel(id);
	bool was_sync = rcm_id_is_sync(id), sync = !to, pending = false;
	int ret = 0;

	if (from == to)
		goto out;
	/* What is read on the way must not wait. */
	ret = rcm_channel_cover(from);
	if (!ret && sync)
		ret = rcm_channel_new_sync(&to);
	if (ret)
		goto out;
	/* One step: who finds the id gone from one descriptor finds it on the other. */
	rcm_lock_acquire(&id->lock);
	ret = migrate_between(id, from, to);
	if (!ret) {
		id->channel = rcm_channel_ref(to);
		id->pub.channel = &to->pub;
		id->sync = sync;
		pending = id->lookup;
	}
	rcm_lock_release(&id->lock);
	if (ret) {
		if (sync)
			rcm_channel_close(to);
		goto out;
	}
	/* Of a resolution under way no call waits for the outcome. */
	if (sync && pending && rcm_channel_cover(to))
		rcm_info("id %p: its resolution's event won't show", (void *)id);
	rcm_sync_ack(id);
	rcm_channel_put(from);		/* the id's reference */
	rcm_id_wait_acked(id);
	if (was_sync)
		rcm_channel_close(from);
out:
	rcm_channel_put(from);
	return ret;
}
