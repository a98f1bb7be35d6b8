/* SPDX-License-Identifier: BSD-2-Clause */
/* An event channel: the queue of events, and a descriptor that is readable exactly while one is due. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "cm/event.h"

/*
 * pub.fd is an epoll descriptor over due_fd, an eventfd that is always up and that epoll looks at exactly while the
 * queue is not empty, and, where there is a kernel side, ucma.fd, which is readable while the kernel has an event.
 *
 * Order: the queue is first in, first out, and comes before what the kernel still has. So the events of one id keep
 * their order as far as anybody can have seen it: one of ours may overtake the kernel's that nobody has read.
 */
struct rcm_channel {
	struct rdma_event_channel pub;		/* first */
	atomic_uint refs;			/* the application's, and one of each id on it */
	int due_fd;
	struct rcm_ucma ucma;			/* fd -1: no kernel side */
	struct rcm_lock lock;			/* leaf, but for the id table's */

	/* Under lock. */
	struct rcm_event_list queue RCM_GUARDED_BY(lock);
	struct rcm_event_list aside RCM_GUARDED_BY(lock);	/* passed over by a synchronous wait */
	struct rcm_event_list nobodys RCM_GUARDED_BY(lock);	/* the kernel's, for ids that are gone: to be dropped */
	struct rcm_kernel_event *spare RCM_GUARDED_BY(lock);	/* what the next kernel event is read into */
	unsigned takes RCM_GUARDED_BY(lock);	/* since the kernel was looked at, while ours were waiting */
	bool due RCM_GUARDED_BY(lock);		/* epoll looks at due_fd */
};

static inline struct rcm_channel *rcm_channel_of(struct rdma_event_channel *channel)
{
	return (struct rcm_channel *)(void *)channel;
}

/* With the kernel's side where the rdma_cm device can be opened, else without. 0, -ENOMEM, -EMFILE, -ENFILE.
 * Whether that is of any use is for rcm_local_usable() to say. */
int rcm_channel_new(struct rcm_channel **ret_channel);

/* Closes its descriptors and discards what is queued. Memory goes with the last id on it. NULL: nothing. */
void rcm_channel_close(struct rcm_channel *channel);

struct rcm_channel *rcm_channel_ref(struct rcm_channel *channel);
void rcm_channel_put(struct rcm_channel *channel);

/* Bits for the types of events that a wait is for. */
#define RCM_EVENT_BIT(type) (1U << (type))
#define RCM_EVENTS_ALL UINT32_MAX

/* Takes the next event of these types in one look, counted on its id but not completed; those before it go aside. 0,
 * -EAGAIN where none is due, or what GET_EVENT said. */
int rcm_channel_take(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event);

/* What went aside is first in the queue again, in order. */
void rcm_channel_put_back_aside(struct rcm_channel *channel);

/* Queues an event, taking it over. Caller holds event->id->lock, and channel is that id's. Can't fail. */
void rcm_channel_post(struct rcm_channel *channel, struct rcm_event *event);

/* Takes the undelivered events of an id out, into list (links: in_channel), which the caller keeps or discards. */
void rcm_channel_withdraw(struct rcm_channel *channel, struct rcm_id *id, struct rcm_event_list *ret_list);

/* Takes one event out, if it is still queued there: true, and it is the caller's. */
bool rcm_channel_withdraw_one(struct rcm_channel *channel, struct rcm_event *event);

/* For moving an id: an event out of the queue that it is in, and to a queue's end; the descriptor as the queue wants
 * it; what the kernel has ready into the queue; looking at the kernel's descriptor again, MIGRATE_ID waking nobody. */
void rcm_channel_unlink_locked(struct rcm_channel *channel, struct rcm_event *event) RCM_REQUIRES(channel->lock);
void rcm_channel_append_locked(struct rcm_channel *channel, struct rcm_event *event) RCM_REQUIRES(channel->lock);
void rcm_channel_show_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
void rcm_channel_catch_up_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
void rcm_channel_look_again_locked(struct rcm_channel *channel) RCM_REQUIRES(channel->lock);
