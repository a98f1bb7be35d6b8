/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that an id publishes: to the engine, and as events back to the id's channel. */
#include "cm/service.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr/service.h"
#include "cm/id.h"
#include "cm/local.h"
#include "resolve/publish.h"

struct service_said {
	int status;
	char text[RCM_TEXT_MAX];
};

/*
 * FREE    nothing to tell		(service_event_free)
 * QUEUED  on the id's channel		(service_post_locked)
 * TAKEN   the application has it	(service_deliver)
 */
struct service_event {
	struct rcm_event event;			/* first; with references to the id and the service unless FREE */
	struct rcm_service *service;
	enum { SERVICE_EVENT_FREE, SERVICE_EVENT_QUEUED, SERVICE_EVENT_TAKEN } state;	/* under the id's lock */
	unsigned turn;				/* the later, the greater */
	struct service_said said;		/* under the id's lock until it is TAKEN */
};

enum { SERVICE_EVENTS = 2 };

/* Made whole at the start, so that whatever becomes of it can be told without anything that could fail. */
struct rcm_service {
	struct rcm_id *id;			/* a reference */
	uint64_t number;
	atomic_uint refs;			/* the id's, the engine's, and one of each event that isn't FREE */

	/* Guarded by the lock of its id. */
	LIST_ENTRY(rcm_service) entry;
	bool listed;
	struct rcm_publication *publication;	/* NULL: not started yet */
	bool owed;				/* both events are TAKEN, and there is something new */
	struct service_said last;		/* that */
	unsigned turns;
	struct service_event events[SERVICE_EVENTS];
};

static void service_put(struct rcm_service *service)
{
	if (atomic_fetch_sub(&service->refs, 1) != 1)
		return;
	rcm_id_put(service->id);
	free(service);
}

static struct service_event *service_event_of(const struct rcm_event *event)
{
	return (struct service_event *)(void *)(uintptr_t)event;
}

/* ---- Events ---- */

static const struct rcm_event_ops service_ops;

static void service_post_locked(struct rcm_id *id, struct rcm_service *service, struct service_event *event)
	RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	event->said = service->last;
	event->turn = ++service->turns;
	event->event.pub = (struct rdma_cm_event){
		.id = &id->pub, .event = (enum rdma_cm_event_type)RAI_EVENT_SERVICE, .param.arg = service->number,
	};
	event->event.ops = &service_ops;
	event->event.id = rcm_id_ref(id);
	if (rcm_id_post_locked(id, &event->event)) {
		event->state = SERVICE_EVENT_QUEUED;
		atomic_fetch_add(&service->refs, 1);
	} else {
		rcm_id_put(id);
	}
}

/* Of what nobody has read yet the first stays, and the last takes the place of the one before. */
static void service_tell_locked(struct rcm_id *id, struct rcm_service *service) RCM_REQUIRES(id->lock)
{
	struct service_event *late = NULL, *unused = NULL;

	rcm_lock_assert_held(&id->lock);
	for (unsigned i = 0; i < SERVICE_EVENTS; i++) {
		struct service_event *event = &service->events[i];

		if (event->state == SERVICE_EVENT_FREE)
			unused = event;
		else if (event->state == SERVICE_EVENT_QUEUED && (!late || event->turn > late->turn))
			late = event;
	}
	if (unused)
		service_post_locked(id, service, unused);
	else if (late)
		late->said = service->last;
	service->owed = !unused && !late;
}

/* What was unregistered meanwhile is for nobody. */
static int service_deliver(struct rcm_event *taken)
{
	struct service_event *event = service_event_of(taken);
	struct rcm_id *id = event->service->id;
	bool wanted;

	rcm_lock_acquire(&id->lock);
	event->state = SERVICE_EVENT_TAKEN;
	wanted = event->service->listed;
	rcm_lock_release(&id->lock);
	taken->pub.status = event->said.status;
	return wanted ? 0 : -ENOENT;
}

static const char *service_text(const struct rcm_event *event)
{
	return service_event_of(event)->said.text;
}

static void service_event_free(struct rcm_event *over)
{
	struct service_event *event = service_event_of(over);
	struct rcm_service *service = event->service;
	struct rcm_id *id = service->id;

	rcm_lock_acquire(&id->lock);
	event->state = SERVICE_EVENT_FREE;
	if (service->owed && service->listed)
		service_tell_locked(id, service);
	rcm_lock_release(&id->lock);
	service_put(service);
}

static const struct rcm_event_ops service_ops = {
	.deliver = service_deliver,
	.text = service_text,
	.free = service_event_free,
};

/* ---- From the engine ---- */

static void service_told(void *arg, const struct rcm_service_outcome *outcome)
{
	struct rcm_service *service = arg;
	struct rcm_id *id = service->id;

	rcm_lock_acquire(&id->lock);
	service->last.status = outcome->status;
	snprintf(service->last.text, sizeof(service->last.text), "%s", outcome->text);
	if (service->listed)
		service_tell_locked(id, service);
	rcm_lock_release(&id->lock);
}

static void service_over(void *arg)
{
	service_put(arg);
}

/* ---- Begin ---- */

static bool service_is_plain(const struct rai_service *service)
{
	static const uint64_t zeros[sizeof(service->reserved) / sizeof(service->reserved[0])];

	return !service->reserved16 && !memcmp(service->reserved, zeros, sizeof(zeros));
}

/* A name that reads as a number would be looked for as an id. */
static int service_name(const char *name, char to[64])
{
	uint64_t number;
	size_t len;

	if (!name)
		return 0;
	len = strnlen(name, RCM_SERVICE_NAME_MAX + 1);
	if (len > RCM_SERVICE_NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || rcm_service_id(name, &number))
		return -EINVAL;
	memcpy(to, name, len);
	return 0;
}

static int service_offer(struct rcm_id *id, const struct rai_service *service, struct rcm_service_offer *offer)
{
	struct sockaddr_ib bound;
	int ret;

	*offer = (struct rcm_service_offer){
		.id = service->id, .pkey = service->pkey,
		.lease_s = service->lease_s ? service->lease_s : RCM_LEASE_S,
	};
	if (!service_is_plain(service) || offer->lease_s > RCM_LEASE_MAX_S || (!service->name && !service->id))
		return -EINVAL;
	ret = service_name(service->name, offer->name);
	if (!ret)
		ret = rcm_local_publish_port(id, &offer->port, &bound);
	if (ret)
		return ret;
	memcpy(offer->data, service->data, sizeof(offer->data));
	if (!offer->id)
		offer->id = be64toh(bound.sib_sid);
	if (!offer->pkey)
		offer->pkey = be16toh(bound.sib_pkey);
	return offer->id ? 0 : -EINVAL;
}

static struct rcm_service *service_new(struct rcm_id *id)
{
	static _Atomic(uint64_t) numbers;
	struct rcm_service *service = calloc(1, sizeof(*service));

	if (!service)
		return NULL;
	service->id = rcm_id_ref(id);
	service->number = atomic_fetch_add(&numbers, 1) + 1;
	atomic_init(&service->refs, 3);		/* of them one is the caller's until it returns */
	for (unsigned i = 0; i < SERVICE_EVENTS; i++)
		service->events[i].service = service;
	return service;
}

/* 0, or -EINVAL: the id is being destroyed. */
static int service_list(struct rcm_id *id, struct rcm_service *service)
{
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	if (id->dead)
		ret = -EINVAL;
	else if (id->sync)
		ret = -ENOTSUP;
	if (!ret) {
		LIST_INSERT_HEAD(&id->services, service, entry);
		service->listed = true;
	}
	rcm_lock_release(&id->lock);
	return ret;
}

/* What is left of one that was taken off the list under the id's lock. */
struct service_rest {
	struct rcm_publication *publication;
	struct rcm_event_list events;
};

static void service_unlist_locked(struct rcm_id *id, struct rcm_service *service, struct service_rest *rest)
	RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	LIST_REMOVE(service, entry);
	service->listed = false;
	rest->publication = service->publication;
	service->publication = NULL;
	TAILQ_INIT(&rest->events);
	for (unsigned i = 0; i < SERVICE_EVENTS; i++) {
		struct rcm_event *event = &service->events[i].event;

		if (service->events[i].state == SERVICE_EVENT_QUEUED &&
		    rcm_channel_withdraw_one(id->channel, event))
			TAILQ_INSERT_TAIL(&rest->events, event, in_channel);
	}
}

static void service_end(struct rcm_service *service, struct service_rest *rest)
{
	rcm_event_discard_all(&rest->events);
	rcm_publish_stop(rest->publication);
	service_put(service);
}

/* The engine has it: keeps the means to stop it, unless that is due already. */
static void service_started(struct rcm_service *service, struct rcm_publication *publication)
{
	bool listed;

	rcm_lock_acquire(&service->id->lock);
	listed = service->listed;
	if (listed)
		service->publication = publication;
	rcm_lock_release(&service->id->lock);
	if (!listed)
		rcm_publish_stop(publication);
}

/* Where it can't be started: if nobody did so meanwhile. */
static void service_unlist(struct rcm_service *service)
{
	struct rcm_id *id = service->id;
	struct service_rest rest;
	bool listed;

	rcm_lock_acquire(&id->lock);
	listed = service->listed;
	if (listed)
		service_unlist_locked(id, service, &rest);
	rcm_lock_release(&id->lock);
	if (listed)
		service_end(service, &rest);
}

int rcm_service_register(struct rcm_id *id, const struct rai_service *given, uint64_t *ret_registration)
{
	struct rcm_publication *publication;
	struct rcm_service_offer offer;
	struct rcm_service *service;
	int ret;

	if (rcm_id_is_sync(id))
		return -ENOTSUP;
	ret = service_offer(id, given, &offer);
	if (ret)
		return ret;
	service = service_new(id);
	if (!service)
		return -ENOMEM;
	ret = service_list(id, service);
	if (ret) {
		service_put(service);
		goto out;
	}
	*ret_registration = service->number;
	ret = rcm_publish_start(&offer, service_told, service_over, service, &publication);
	if (ret)
		service_unlist(service);
	else
		service_started(service, publication);
out:
	if (ret)
		service_put(service);		/* the engine's */
	service_put(service);
	return ret;
}

/* ---- End ---- */

int rcm_service_unregister(struct rcm_id *id, uint64_t registration)
{
	struct rcm_service *service;
	struct service_rest rest;

	rcm_lock_acquire(&id->lock);
	LIST_FOREACH(service, &id->services, entry)
		if (service->number == registration)
			break;
	if (service)
		service_unlist_locked(id, service, &rest);
	rcm_lock_release(&id->lock);
	if (!service)
		return -ENOENT;
	service_end(service, &rest);
	return 0;
}

void rcm_service_end_all(struct rcm_id *id)
{
	struct rcm_service *service;
	struct service_rest rest;

	do {
		rcm_lock_acquire(&id->lock);
		service = LIST_FIRST(&id->services);
		if (service)
			service_unlist_locked(id, service, &rest);
		rcm_lock_release(&id->lock);
		if (service)
			service_end(service, &rest);
	} while (service);
}

/* ---- In the child of a fork ---- */

static void service_forsake(struct rcm_service *service) RCM_UNCHECKED
{
	struct rcm_id *id = service->id;

	for (unsigned i = 0; i < SERVICE_EVENTS; i++) {
		struct service_event *event = &service->events[i];

		if (event->state != SERVICE_EVENT_QUEUED)
			continue;
		if (event->event.list && !id->channel->torn) {
			TAILQ_REMOVE(event->event.list, &event->event, in_channel);
			TAILQ_REMOVE(&id->undelivered, &event->event, in_id);
		}
		event->state = SERVICE_EVENT_FREE;
		rcm_id_put(id);
		service_put(service);
	}
	service->listed = false;
	rcm_publish_forsake(service->publication);
	service_put(service);			/* the engine's, */
	service_put(service);			/* and the id's */
}

void rcm_service_forsake_all(struct rcm_id *id, bool whole) RCM_UNCHECKED
{
	struct rcm_service *service;

	if (!whole)
		LIST_INIT(&id->services);
	while ((service = LIST_FIRST(&id->services))) {
		LIST_REMOVE(service, entry);
		service_forsake(service);
	}
}
