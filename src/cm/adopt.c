/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fork's child has of its parent. */
#include "cm/adopt.h"

#include <pthread.h>

#include "base/container.h"
#include "base/log.h"
#include "base/tell.h"
#include "cm/heir.h"
#include "cm/id.h"
#include "cm/lookup.h"
#include "cm/mcast.h"
#include "cm/roll.h"
#include "cm/service.h"

/* Taken by a fork, too: no child finds a channel half adopted. */
static struct rcm_lock lock = RCM_LOCK_INIT;
static atomic_uint entered;			/* the process, by its generation, that took the first step */

/* ---- In memory ---- */

static void channel_visit(struct rcm_roll_entry *entry)
{
	rcm_channel_renew(rcm_container(entry, struct rcm_channel, roll));
}

/* After the channels. */
static void id_visit(struct rcm_id *id)
{
	bool whole = rcm_id_renew(id);

	rcm_mcast_renew_all(id, whole);
	rcm_lookup_renew(id, whole);
	rcm_service_forsake_all(id, whole);
}

static void adopt_enter_locked(void) RCM_REQUIRES(lock)
{
	struct rcm_entry *entry;
	uint32_t number = 0;

	rcm_lock_assert_held(&lock);
	if (atomic_load(&entered) == rcm_fork_generation)
		return;
	rcm_engine_leave_parent();
	rcm_roll_visit(channel_visit);
	while ((entry = rcm_table_next(&number)))
		id_visit(rcm_container(entry, struct rcm_id, entry));
	rcm_lookups_drop();
	atomic_store(&entered, rcm_fork_generation);
}

void rcm_adopt_enter_child(void)
{
	struct rcm_tell_list steps = STAILQ_HEAD_INITIALIZER(steps), *outer;
	int cancel;

	if (atomic_load_explicit(&entered, memory_order_acquire) == rcm_fork_generation)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	outer = rcm_tell_hold(&steps);
	rcm_lock_acquire(&lock);
	adopt_enter_locked();
	rcm_lock_release(&lock);
	rcm_tell_release(&steps, outer);
	pthread_setcancelstate(cancel, NULL);
}

/* ---- A channel ---- */

static bool is_own(struct rcm_channel *channel)
{
	return !atomic_load_explicit(&channel->foreign, memory_order_acquire);
}

static int lookups_again(struct rcm_channel *channel)
{
	struct rcm_id *id;
	int ret = 0;

	while (!ret && (id = rcm_channel_next_resting(channel))) {
		ret = rcm_lookup_again(id);
		rcm_id_put(id);
	}
	return ret;
}

static int adopt_locked(struct rcm_channel *channel) RCM_REQUIRES(lock)
{
	int ret;

	rcm_lock_assert_held(&lock);
	if (is_own(channel))
		return 0;
	ret = rcm_channel_own(channel);
	if (!ret)
		ret = lookups_again(channel);
	if (!ret)
		atomic_store(&channel->foreign, false);
	else
		rcm_info("channel %p of the parent's can't be used yet: errno %d", (void *)channel, -ret);
	return ret;
}

int rcm_adopt_channel_of_parent(struct rcm_channel *channel)
{
	struct rcm_tell_list steps = STAILQ_HEAD_INITIALIZER(steps), *outer;
	int cancel, ret;

	if (is_own(channel))
		return 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	outer = rcm_tell_hold(&steps);
	rcm_lock_acquire(&lock);
	ret = adopt_locked(channel);
	rcm_lock_release(&lock);
	rcm_tell_release(&steps, outer);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

void rcm_adopt_channel_to_end(struct rcm_channel *channel)
{
	int cancel;

	if (!rcm_fork_generation || is_own(channel))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rcm_lock_acquire(&lock);
	rcm_channel_recognize(channel);
	rcm_lock_release(&lock);
	pthread_setcancelstate(cancel, NULL);
}

int rcm_adopt_id_of_parent(struct rcm_id *id)
{
	struct rcm_channel *channel = rcm_id_channel(id);
	int ret = rcm_adopt_channel_of_parent(channel);

	rcm_channel_put(channel);
	return ret;
}

void rcm_adopt_id_of_parent_to_end(struct rcm_id *id)
{
	struct rcm_channel *channel = rcm_id_channel(id);

	rcm_adopt_channel_to_end(channel);
	rcm_channel_put(channel);
}

__attribute__((constructor)) static void adopt_watch_forks(void)
{
	rcm_fork_watch_lock(RCM_FORK_ADOPT, &lock);
}
