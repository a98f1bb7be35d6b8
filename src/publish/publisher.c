/* SPDX-License-Identifier: BSD-2-Clause */
/* All services that the process publishes. */
#include "publish/publisher.h"

#include <errno.h>
#include <string.h>

#include "base/container.h"
#include "base/err.h"

#define LOOK_NS (RCM_PUBLISH_LOOK_MS * RCM_NS_PER_MS)
#define LOOK_PKEYS_NS (RCM_PUBLISH_LOOK_PKEYS_MS * RCM_NS_PER_MS)
#define LOSS_NS (RCM_PUBLISH_LOSS_MS * RCM_NS_PER_MS)
#define LOOK_FRESH_NS (100 * RCM_NS_PER_MS)	/* what was found is believed so long */

static struct rcm_published *published_of(struct rcm_registration *registration)
{
	return rcm_container(registration, struct rcm_published, registration);
}

/* ---- Ports ---- */

/* The place of a port, or a free one; NULL: there is none. */
static struct rcm_watched *watched_find(struct rcm_publisher *publisher, const struct rcm_gid *gid)
{
	struct rcm_watched *unused = NULL;

	for (unsigned i = 0; i < RCM_SA_PORTS_MAX; i++) {
		struct rcm_watched *watched = &publisher->watched[i];

		if (!watched->users)
			unused = unused ? unused : watched;
		else if (!memcmp(&watched->gid, gid, sizeof(*gid)))
			return watched;
	}
	return unused;
}

/* More ports than there are places: the rest is looked at when it has its turn. */
static struct rcm_watched *port_watch(struct rcm_publisher *publisher, const struct rcm_gid *gid)
{
	struct rcm_watched *watched = watched_find(publisher, gid);

	if (!watched)
		return NULL;
	if (!watched->users)
		*watched = (struct rcm_watched){ .gid = *gid };
	watched->users++;
	return watched;
}

static bool is_same_port(const struct rcm_publish_port *a, const struct rcm_publish_port *b)
{
	return !memcmp(&a->gid, &b->gid, sizeof(a->gid)) && a->active == b->active && a->lid == b->lid &&
	       a->sm_lid == b->sm_lid && a->pkey == b->pkey && a->pkeys == b->pkeys;
}

/* 1: it is up, and not as it was; 0; or there was no means to look, which says nothing of it. */
static int port_look(struct rcm_publisher *publisher, struct rcm_watched *watched, bool pkeys)
{
	struct rcm_publish_port port = watched->seen;
	uint64_t now = publisher->loop->now;
	bool known, changed;
	int ret;

	pkeys = pkeys || !watched->known || now - watched->pkeys_at >= LOOK_PKEYS_NS;
	ret = publisher->ops->look(&watched->gid, pkeys, &port);
	if (rcm_is_want(ret)) {
		publisher->pkeys_again = publisher->pkeys_again || pkeys;
		return ret;
	}
	known = !ret;
	changed = watched->looked_at && (known != watched->known || !is_same_port(&port, &watched->seen));
	if (known && pkeys)
		watched->pkeys_at = now;
	watched->looked_at = now;
	watched->known = known;
	watched->seen = port;
	return changed && known && port.active;
}

static void port_stir(struct rcm_publisher *publisher, struct rcm_watched *watched, const struct rcm_published *but)
{
	struct rcm_published *published;

	watched->stirred_until = publisher->loop->now + LOSS_NS;
	LIST_FOREACH(published, &publisher->all, entry)
		if (published->watched == watched && published != but)
			rcm_registration_stir(&published->registration);
}

static void ports_look(struct rcm_publisher *publisher, bool pkeys, bool all)
{
	for (unsigned i = 0; i < RCM_SA_PORTS_MAX; i++) {
		struct rcm_watched *watched = &publisher->watched[i];
		bool stirs = watched->users && port_look(publisher, watched, pkeys) > 0;

		if (watched->users && (stirs || all))
			port_stir(publisher, watched, NULL);
	}
}

static void look_due(struct rcm_timer *timer)
{
	struct rcm_publisher *publisher = rcm_container(timer, struct rcm_publisher, look_timer);
	bool pkeys = publisher->pkeys_again;

	publisher->pkeys_again = false;
	rcm_timer_start(publisher->loop, timer, publisher->loop->now + LOOK_NS, look_due);
	ports_look(publisher, pkeys, false);
}

/* The port as it is for a turn, the first to see it changed, maybe: 0; -ENODEV; or there was no means to look yet. */
static int port_for(const struct rcm_published *published, struct rcm_publish_port *ret_port)
{
	struct rcm_publisher *publisher = published->publisher;
	struct rcm_watched *watched = published->watched;
	int ret = 0;

	if (!watched)
		return publisher->ops->look(&published->registration.offer.port, true, ret_port);
	if (!watched->looked_at || publisher->loop->now - watched->looked_at >= LOOK_FRESH_NS)
		ret = port_look(publisher, watched, false);
	if (ret > 0)
		port_stir(publisher, watched, published);
	if (ret < 0 && !watched->looked_at)
		return ret;
	*ret_port = watched->seen;
	return watched->known ? 0 : -ENODEV;
}

/* ---- Turns ---- */

/* Who of the others has that place at the SA, or is about to. */
static const struct rcm_registration *published_holder(const struct rcm_registration *r)
{
	const struct rcm_publisher *publisher = rcm_container(r, const struct rcm_published, registration)->publisher;
	const struct rcm_published *other;

	LIST_FOREACH(other, &publisher->all, entry) {
		const struct rcm_registration *o = &other->registration;

		if (o != r && rcm_registration_is_at(o, &r->next))
			return o;
	}
	return NULL;
}

static void published_turn(struct rcm_published *published)
{
	struct rcm_publisher *publisher = published->publisher;
	struct rcm_registration *r = &published->registration;
	const struct rcm_sa_ops *ops = NULL;
	struct rcm_publish_port port = { .active = false };
	struct rcm_sa *sa;
	int ret;

	ret = port_for(published, &port);
	if (ret) {
		rcm_registration_fail(r, ret, ret == -ENODEV ? "no port has the GID any more" : NULL);
		return;
	}
	ret = publisher->ops->sa(publisher, &ops, &sa);
	if (ret)
		rcm_registration_fail(r, ret, NULL);
	else
		rcm_registration_turn(r, ops, sa, &port);
}

/* So few at a time that questions of resolutions come in between, and that none grows old in line at a slow SA. */
static void turns_give(struct rcm_timer *timer)
{
	struct rcm_publisher *publisher = rcm_container(timer, struct rcm_publisher, turn_timer);
	struct rcm_published *published;

	while (publisher->turns < RCM_PUBLISH_WINDOW && (published = TAILQ_FIRST(&publisher->line))) {
		TAILQ_REMOVE(&publisher->line, published, line);
		publisher->turns++;
		published_turn(published);
	}
}

/* In the loop's next turn, so that nobody's call runs another's. */
static void turns_plan(struct rcm_publisher *publisher)
{
	if (!TAILQ_EMPTY(&publisher->line) && publisher->turns < RCM_PUBLISH_WINDOW &&
	    publisher->turn_timer.state == RCM_TIMER_IDLE)
		rcm_timer_start(publisher->loop, &publisher->turn_timer, 0, turns_give);
}

static void published_want(struct rcm_registration *r)
{
	struct rcm_published *published = published_of(r);

	TAILQ_INSERT_TAIL(&published->publisher->line, published, line);
	turns_plan(published->publisher);
}

static void published_rest(struct rcm_registration *r)
{
	struct rcm_publisher *publisher = published_of(r)->publisher;

	publisher->turns--;
	turns_plan(publisher);
}

static void published_tell(struct rcm_registration *r, const struct rcm_service_outcome *outcome)
{
	struct rcm_published *published = published_of(r);
	struct rcm_watched *watched = published->watched;

	published->tell(published, outcome);
	/* Where an SA has lost one record it may have lost them all, as a subnet manager does that starts anew. */
	if (outcome->status == -ENOENT && watched && published->publisher->loop->now >= watched->stirred_until)
		port_stir(published->publisher, watched, published);
}

/* Whoever waits for a place that is free now. */
static void blocked_stir(struct rcm_publisher *publisher)
{
	struct rcm_published *published;

	LIST_FOREACH(published, &publisher->all, entry)
		if (published->registration.blocked)
			rcm_registration_stir(&published->registration);
}

static void published_left(struct rcm_registration *r)
{
	blocked_stir(published_of(r)->publisher);
}

static void published_over(struct rcm_registration *r)
{
	struct rcm_published *published = published_of(r);
	struct rcm_publisher *publisher = published->publisher;

	publisher->turns--;
	LIST_REMOVE(published, entry);
	if (published->watched)
		published->watched->users--;
	if (LIST_EMPTY(&publisher->all))
		rcm_timer_stop(publisher->loop, &publisher->look_timer);
	published->over(published);
	blocked_stir(publisher);
	turns_plan(publisher);
}

static uint64_t published_random(struct rcm_registration *r)
{
	struct rcm_publisher *publisher = published_of(r)->publisher;

	return publisher->ops->random(publisher);
}

/* ---- From outside ---- */

void rcm_publisher_init(struct rcm_publisher *publisher, struct rcm_loop *loop, const struct rcm_publisher_ops *ops)
{
	*publisher = (struct rcm_publisher){ .loop = loop, .ops = ops };
	LIST_INIT(&publisher->all);
	TAILQ_INIT(&publisher->line);
}

void rcm_publisher_add(struct rcm_publisher *publisher, struct rcm_published *published)
{
	static const struct rcm_registration_ops ops = {
		.want = published_want, .rest = published_rest, .holder = published_holder, .left = published_left,
		.tell = published_tell, .over = published_over, .random = published_random,
	};

	if (LIST_EMPTY(&publisher->all))
		rcm_timer_start(publisher->loop, &publisher->look_timer, publisher->loop->now + LOOK_NS, look_due);
	published->publisher = publisher;
	LIST_INSERT_HEAD(&publisher->all, published, entry);
	published->watched = port_watch(publisher, &published->registration.offer.port);
	rcm_registration_start(&published->registration, publisher->loop, &ops);
}

void rcm_publisher_remove(struct rcm_published *published)
{
	rcm_registration_stop(&published->registration);
}

void rcm_publisher_ports_changed(struct rcm_publisher *publisher, bool all)
{
	if (!publisher->loop)
		return;
	/* A kernel before Linux 5.6 may tell of a table before it has read it anew. */
	publisher->pkeys_again = true;
	ports_look(publisher, true, all);
}

void rcm_publisher_abandon(struct rcm_publisher *publisher, void (*forget)(struct rcm_published *published))
{
	struct rcm_published *published;

	if (!publisher->loop)
		return;
	while ((published = LIST_FIRST(&publisher->all))) {
		LIST_REMOVE(published, entry);
		forget(published);
	}
	*publisher = (struct rcm_publisher){ .loop = NULL };
}
