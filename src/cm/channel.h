/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#pragma once

#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "cm/event.h"
#include "cm/readiness.h"
#include "cm/roll.h"

/*
 * pub.fd is an epoll descriptor, readable while the queue is not empty or the kernel has an event (cm/readiness.h).
 * Of a synchronous id's channel it is the kernel's descriptor itself, bare, until an event of the library's own has to
 * show: what a call waits for comes from the kernel, or, of a resolution, without a descriptor.
 *
 * Order: the queue is first in, first out, and comes before what the kernel still has. So the events of one id keep
 * their order as far as anybody can have seen it: one of ours may overtake the kernel's that nobody has read. But one
 * take in RCM_KERNEL_LOOK_EVERY looks at the kernel too, lest an application that always has an event of its own
 * waiting starves the others.
 */
enum { RCM_KERNEL_LOOK_EVERY = 48 };

struct rcm_channel {
	struct rdma_event_channel pub;		/* first */
	struct rcm_roll_entry roll;
	atomic_bool foreign;			/* in the child of a fork: not adopted yet */
	atomic_uint refs;			/* the application's, and one of each id on it */
	struct rcm_ucma ucma;			/* fd -1: no kernel side */
	bool for_sync;				/* made for a synchronous id; constant */
	atomic_bool bare;			/* pub.fd is ucma.fd; changes to false, under lock, and never back */
	unsigned claim;				/* of a bare one's number (base/fds.h) */
	sem_t own;				/* rung where own_awaited */
	atomic_uint reads;			/* from its bare descriptor so far, and what took back; under reading */
	struct rcm_lock reading;		/* a reader of a bare descriptor at a time */
	struct rcm_lock lock;			/* leaf, but for the id table's and the rouse's */
	struct rcm_condition left;		/* the last of users is gone */

	/* Under lock. */
	struct rcm_event_list queue RCM_GUARDED_BY(lock);
	struct rcm_event_list aside RCM_GUARDED_BY(lock);	/* passed over by a synchronous wait */
	struct rcm_event_list nobodys RCM_GUARDED_BY(lock);	/* the kernel's, for ids that are gone: to be dropped */
	struct rcm_kernel_event *spare RCM_GUARDED_BY(lock);	/* what the next kernel event is read into */
	unsigned takes RCM_GUARDED_BY(lock);	/* since the kernel was looked at, while ours were waiting */
	unsigned own_awaited RCM_GUARDED_BY(lock);	/* calls that wait for an event of the library's own */
	bool shared RCM_GUARDED_BY(lock);	/* while foreign: what pub.fd shows is the parent's, too */
	bool recognized RCM_GUARDED_BY(lock);	/* while foreign: the descriptors are known to be there, or are lost */
	bool torn RCM_GUARDED_BY(lock);		/* foreign, and its lock was held at the fork */
	LIST_HEAD(, rcm_id) resting RCM_GUARDED_BY(lock);	/* foreign: whose resolutions start again */
	struct rcm_readiness readiness RCM_GUARDED_BY(lock);
	unsigned users RCM_GUARDED_BY(lock);	/* who wait on its descriptors, or use them without the lock */
	bool closing RCM_GUARDED_BY(lock);	/* nobody comes to wait any more */
};

static inline struct rcm_channel *rcm_channel_of(struct rdma_event_channel *channel)
{
	return (struct rcm_channel *)(void *)channel;
}

/* With the kernel's side where the rdma_cm device can be opened, else without. 0, -ENOMEM, -EMFILE, -ENFILE.
 * Whether that is of any use is for rcm_local_usable() to say. */
int rcm_channel_new(struct rcm_channel **ret_channel);

/* The same for a synchronous id: bare, where there is a kernel side. */
int rcm_channel_new_sync(struct rcm_channel **ret_channel);

/* No longer bare: events of the library's own will show on pub.fd, too, and to calls that wait already. 0; -EMFILE,
 * -ENFILE, -ENOMEM, -EBADF (the number is another file's by now): as it was. */
int rcm_channel_cover(struct rcm_channel *channel);

/* Whether its descriptors still are what they were, as far as can be told. The next gives them up where they aren't:
 * from then on no command is written there, and none is closed that isn't proven. */
bool rcm_channel_is_known_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
void rcm_channel_lose_unknown_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);

/* So many more calls wait on channel->own (1, -1): posting rings it once for each. */
void rcm_channel_await_own(struct rcm_channel *channel, int calls);

/* Ends the waits on it with -ECANCELED, and every later one: whoever waits on a descriptor that is closed would wait
 * for ever, or on somebody else's. Returns when they are gone. */
void rcm_channel_stop(struct rcm_channel *channel);

/* As before rcm_channel_stop(), for later waits. */
void rcm_channel_resume(struct rcm_channel *channel);

/* Stops it, closes its descriptors and discards what is queued. Memory goes with the last id on it. NULL: nothing. */
void rcm_channel_close(struct rcm_channel *channel);

struct rcm_channel *rcm_channel_ref(struct rcm_channel *channel);
bool rcm_channel_ref_if_live(struct rcm_channel *channel);	/* false: it was destroyed, lately */
void rcm_channel_put(struct rcm_channel *channel);

/* Queues an event, taking it over. Caller holds event->id->lock, and channel is that id's. Can't fail. */
void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event);

/* The same, where others follow; true: the descriptor doesn't show it yet, and rcm_channel_show() has to be called. */
bool rcm_channel_post_unshown(struct rcm_channel *channel, struct rcm_event *event);
void rcm_channel_show(struct rcm_channel *channel);

/* Takes the undelivered events of an id out, into list (links: in_channel), which the caller keeps or discards. */
void rcm_channel_withdraw_locked(struct rcm_channel *channel, struct rcm_id *id, struct rcm_event_list *ret_list)
	RCM_REQUIRES(channel->lock);

/* Takes one event out, if it is still queued there: true, and it is the caller's. */
bool rcm_channel_withdraw_one(struct rcm_channel *channel, struct rcm_event *event);

/* Ends a use of its descriptors without its lock, a wait say, that counts in users. */
void rcm_channel_leave_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);

/* The descriptor as the queue wants it; the first turns it, and is for the second alone. */
void rcm_channel_turn_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);

static inline void rcm_channel_show_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock)
{
	rcm_lock_assert_held(&channel->lock);
	if (TAILQ_EMPTY(&channel->queue) == channel->readiness.shown)
		rcm_channel_turn_locked(channel);
}

/* An event out of the queue that it is in, and to a queue's end; looking at the kernel's descriptor again, MIGRATE_ID
 * waking nobody. */
void rcm_channel_unlink_locked(struct rcm_channel *channel, struct rcm_event *event) RCM_REQUIRES(channel->lock);
void rcm_channel_append_locked(struct rcm_channel *channel, struct rcm_event *event) RCM_REQUIRES(channel->lock);
void rcm_channel_look_again_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
