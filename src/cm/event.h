/* SPDX-License-Identifier: BSD-2-Clause */
/* An event from where it arises (kernel, resolver, application) to the ack. */
#pragma once

#include <rdma/rai.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ucma/ucma.h"

/* The kernel's types are numbers in a row; what is counted by type has a place more, for the one of this library's. */
enum { RCM_EVENT_TYPES = RDMA_CM_EVENT_INTERNAL + 1, RCM_EVENT_PLACES = RCM_EVENT_TYPES + 1 };

#define RCM_EVENT_PLACE(type) ((int)(type) == RAI_EVENT_SERVICE ? RCM_EVENT_TYPES : (int)(type))

static inline enum rdma_cm_event_type rcm_event_at_place(unsigned place)
{
	return (enum rdma_cm_event_type)(place == RCM_EVENT_TYPES ? RAI_EVENT_SERVICE : place);
}

/* Bits for the types of events that a wait is for. */
#define RCM_EVENT_BIT(type) (1U << RCM_EVENT_PLACE(type))
#define RCM_EVENTS_ALL UINT32_MAX

struct rcm_channel;
struct rcm_event;
struct rcm_id;
struct rcm_mcast;
TAILQ_HEAD(rcm_event_list, rcm_event);

/* What events of one kind do on their way; a slot that is NULL: nothing but what any event does. */
struct rcm_event_ops {
	/* On the thread that takes the event, with no lock held, the event being counted on its id already: completes
	 * event->pub and the id. 0; or -errno: it is for nobody after all, and goes the way of drop() and free(). */
	int (*deliver)(struct rcm_event *event);

	/* It will not reach the application: takes back what came with it (a new kernel id, say). event->id may be
	 * NULL. Any thread, no lock held. */
	void (*drop)(struct rcm_event *event);

	/* For rai_event_text(): which step failed and why, or NULL where the status says all. Lives as the event
	 * does. */
	const char *(*text)(const struct rcm_event *event);

	/* Frees its memory, and tells who waits for that. Any thread, no lock held. NULL: free(3). */
	void (*free)(struct rcm_event *event);
};

/* Embedded in what its kind needs beside it. */
struct rcm_event {
	struct rdma_cm_event pub;		/* first: the application's pointer */
	const struct rcm_event_ops *ops;
	struct rcm_id *id;			/* a reference: on which id it is queued and its ack counted. Of a
						 * CONNECT_REQUEST the listener, while pub.id is the new one */
	uint8_t stay;				/* of its id, when it was taken */
	unsigned process;			/* that took it (rcm_fork_generation): another's ack counts nothing */
	struct rcm_event_list *list;		/* of a channel, NULL: in none; this and the links: under its lock */
	struct rcm_event *spare;		/* the next of its id's that are spare */
	TAILQ_ENTRY(rcm_event) in_channel;
	TAILQ_ENTRY(rcm_event) in_id;		/* id->undelivered, in the same order */
};

/* The kernel's. pub.event and pub.status are set when it is read, the rest by deliver(). */
struct rcm_kernel_event {
	struct rcm_event event;			/* first */
	struct rcm_channel *channel;		/* a reference: whose descriptor it was read from (a new id is on
						 * that one, even if the listener was migrated meanwhile) */
	struct rcm_mcast *mcast;		/* that counts it; NULL: none */
	struct rcm_ucma_event raw;
};

static inline struct rcm_kernel_event *rcm_kernel_event_of(struct rcm_event *event)
{
	return (struct rcm_kernel_event *)(void *)event;
}

static inline struct rcm_event *rcm_event_of(struct rdma_cm_event *event)
{
	return (struct rcm_event *)(void *)event;
}

/* An event was taken: as deliver() of its ops. */
int rcm_event_deliver(struct rcm_event *event);

/* Makes another type of an event that was taken. */
void rcm_event_retype(struct rcm_event *event, enum rdma_cm_event_type type, int status);

/* Completes pub.param of a kernel's event by the kind of id. */
void rcm_kernel_event_param(struct rcm_event *event, const struct rcm_id *id);

/* free() of the kernel's. */
void rcm_kernel_event_free(struct rcm_event *event);


/* Ends an event that was delivered: frees it, then lets go whoever waits for it in destroy or migrate. */
void rcm_event_ack(struct rcm_event *event);

/* Ends one that never was delivered: drop(), free(), reference. Not in a queue any more. No lock held. */
void rcm_event_discard(struct rcm_event *event);

/* Ends one that was taken, and that deliver() found to be for nobody. */
void rcm_event_untake(struct rcm_event *event);

/* As rcm_event_discard() for each in a list, which is empty afterwards (links: in_channel). */
void rcm_event_discard_all(struct rcm_event_list *list);

/* "RDMA_CM_EVENT_...", "RAI_EVENT_SERVICE", or "UNKNOWN EVENT". */
const char *rcm_event_name(enum rdma_cm_event_type type);

/* rai_event_text(): the length of the whole text, of which at most len - 1 bytes and a NUL are written. */
int rcm_event_text(const struct rcm_event *event, char *buf, size_t len);
