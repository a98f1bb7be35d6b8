/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that is published, as the engine's thread has it. */
#include "resolve/publication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/err.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/random.h"

static atomic_uint publications;

static struct rcm_publication *publication_of(struct rcm_published *published)
{
	return rcm_container(published, struct rcm_publication, published);
}

void rcm_publication_free(struct rcm_publication *publication)
{
	free(publication);
	atomic_fetch_sub_explicit(&publications, 1, memory_order_relaxed);
}

/* ---- On the engine's thread ---- */

static int publisher_sa(struct rcm_publisher *publisher, const struct rcm_sa_ops **ret_ops, struct rcm_sa **ret_sa)
{
	struct rcm_engine *engine = rcm_container(publisher, struct rcm_engine, publisher);
	struct rcm_sa_client *client;
	int ret = rcm_engine_sa(engine, NULL, &client);

	if (ret)
		return ret;
	*ret_ops = client->ops;
	*ret_sa = client->sa;
	return 0;
}

static uint64_t publisher_chance(struct rcm_publisher *publisher)
{
	uint64_t chance;

	(void)publisher;
	rcm_random_fill(&chance, sizeof(chance));
	return chance;
}

static void publication_told(struct rcm_published *published, const struct rcm_service_outcome *outcome)
{
	struct rcm_publication *publication = publication_of(published);

	rcm_info("service 0x%llx: %s", (unsigned long long)published->registration.offer.id, outcome->text);
	publication->told(publication->arg, outcome);
}

static void publication_over(struct rcm_published *published)
{
	struct rcm_publication *publication = publication_of(published);

	publication->over(publication->arg);
	rcm_publication_free(publication);
}

static int publisher_look(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port)
{
	return rcm_engine_the()->backends.port_look(gid, pkeys, ret_port);
}

static void publication_start(struct rcm_engine *engine, struct rcm_errand *errand)
{
	static const struct rcm_publisher_ops ops = { publisher_sa, publisher_look, publisher_chance };
	struct rcm_publication *publication = rcm_container(errand, struct rcm_publication, start);

	if (!engine->publisher.loop)
		rcm_publisher_init(&engine->publisher, &engine->loop, &ops);
	publication->begun = true;
	rcm_publisher_add(&engine->publisher, &publication->published);
	rcm_monitor_want(&engine->monitor, 0);
	if (publication->stopping)
		rcm_publisher_remove(&publication->published);
}

static void publication_stop(struct rcm_engine *engine, struct rcm_errand *errand)
{
	struct rcm_publication *publication = rcm_container(errand, struct rcm_publication, stop);

	(void)engine;
	publication->stopping = true;
	/* The other errand of one that was taken over may come later. */
	if (publication->begun)
		rcm_publisher_remove(&publication->published);
}

/* ---- On any thread ---- */

static int publication_count(void)
{
	if (atomic_fetch_add_explicit(&publications, 1, memory_order_relaxed) < RCM_PUBLISHED_MAX)
		return 0;
	atomic_fetch_sub_explicit(&publications, 1, memory_order_relaxed);
	return -EAGAIN;
}

int rcm_publication_new(const struct rcm_service_offer *offer, struct rcm_engine *engine,
			struct rcm_publication **ret_publication)
{
	struct rcm_publication *publication;
	int ret = publication_count();

	if (ret)
		return ret;
	publication = calloc(1, sizeof(*publication));
	if (!publication) {
		atomic_fetch_sub_explicit(&publications, 1, memory_order_relaxed);
		return -ENOMEM;
	}
	publication->published.registration.offer = *offer;
	rcm_random_fill(publication->published.registration.key, sizeof(publication->published.registration.key));
	publication->published.tell = publication_told;
	publication->published.over = publication_over;
	publication->start.run = publication_start;
	publication->stop.run = publication_stop;
	publication->engine = engine;
	*ret_publication = publication;
	return 0;
}

/* ---- Of an engine that was lost ---- */

/* Whose engine was lost, until another takes them over. */
static struct rcm_lock stranding = RCM_LOCK_INIT;
static struct rcm_publications stranded RCM_GUARDED_BY(stranding) = LIST_HEAD_INITIALIZER(stranded);
static atomic_uint stranded_count;

static void publication_strand_locked(struct rcm_publication *publication) RCM_REQUIRES(&stranding)
{
	rcm_lock_assert_held(&stranding);
	publication->engine = NULL;
	LIST_INSERT_HEAD(&stranded, publication, entry);
	atomic_fetch_add_explicit(&stranded_count, 1, memory_order_release);
}

static void publication_strand(struct rcm_publication *publication)
{
	publication->begun = false;
	rcm_lock_acquire(&stranding);
	publication_strand_locked(publication);
	rcm_lock_release(&stranding);
}

static void publication_lose(struct rcm_published *published)
{
	rcm_timer_stop(published->registration.loop, &published->registration.timer);
	publication_strand(publication_of(published));
}

/* Where it went to meanwhile; NULL: it is, or will be, among those that are taken over, and stopping with them. */
static struct rcm_engine *publication_follow(struct rcm_publication *publication, const struct rcm_engine *lost)
{
	struct rcm_engine *engine;

	rcm_lock_acquire(&stranding);
	engine = publication->engine;
	if (!engine || engine == lost) {
		publication->stopping = true;
		engine = NULL;
	}
	rcm_lock_release(&stranding);
	return engine;
}

void rcm_publication_lose_all(struct rcm_engine *engine, struct rcm_errands *errands, struct rcm_errands *ret_late)
{
	struct rcm_publication *publication;
	struct rcm_errand *errand;

	while ((errand = STAILQ_FIRST(errands))) {
		STAILQ_REMOVE_HEAD(errands, entry);
		if (errand->run == publication_start) {
			publication_strand(rcm_container(errand, struct rcm_publication, start));
		} else if (errand->run == publication_stop) {
			publication = rcm_container(errand, struct rcm_publication, stop);
			if (publication_follow(publication, engine))
				STAILQ_INSERT_TAIL(ret_late, errand, entry);
		}
	}
	rcm_publisher_abandon(&engine->publisher, publication_lose);
}

void rcm_publication_forward(struct rcm_errands *late)
{
	struct rcm_publication *publication;
	struct rcm_errand *errand;

	while ((errand = STAILQ_FIRST(late))) {
		STAILQ_REMOVE_HEAD(late, entry);
		publication = rcm_container(errand, struct rcm_publication, stop);
		rcm_publication_stop(publication);
	}
}

bool rcm_publication_stop(struct rcm_publication *publication)
{
	struct rcm_engine *engine;

	rcm_lock_acquire(&stranding);
	publication->stopped = true;
	engine = publication->engine;
	if (!engine)
		publication->stopping = true;
	rcm_lock_release(&stranding);
	if (engine)
		rcm_engine_post_errand(engine, &publication->stop);
	return engine;
}

bool rcm_publication_any_stranded(void)
{
	return atomic_load_explicit(&stranded_count, memory_order_acquire);
}

/* The first; it is in no list then. NULL: there is none. */
static struct rcm_publication *stranded_take(struct rcm_engine *engine)
{
	struct rcm_publication *publication;

	rcm_lock_acquire(&stranding);
	publication = LIST_FIRST(&stranded);
	if (publication) {
		LIST_REMOVE(publication, entry);
		atomic_fetch_sub_explicit(&stranded_count, 1, memory_order_relaxed);
		publication->engine = engine;
	}
	rcm_lock_release(&stranding);
	return publication;
}

void rcm_publication_take_over(struct rcm_engine *engine)
{
	struct rcm_publication *publication;

	while ((publication = stranded_take(engine))) {
		publication->forsaken = false;
		rcm_engine_post_errand(engine, &publication->start);
	}
}

static void publication_forsake(struct rcm_publication *publication, int status)
{
	struct rcm_service_outcome outcome = { .status = status };
	char text[RCM_TEXT_MAX];

	if (publication->forsaken)
		return;
	publication->forsaken = true;
	snprintf(text, sizeof(text),
		 "not renewed any more: the program closed the library's descriptors, and no others are to be had: %s",
		 strerrordesc_np(-status));
	outcome.text = text;
	if (rcm_registration_forsake(&publication->published.registration, status, text))
		publication_told(&publication->published, &outcome);
}

/* Back among those that wait; false: it was stopped, and the caller's. */
static bool stranded_put_back(struct rcm_publication *publication)
{
	bool stopping;

	rcm_lock_acquire(&stranding);
	stopping = publication->stopping;
	if (!stopping)
		publication_strand_locked(publication);
	rcm_lock_release(&stranding);
	return !stopping;
}

void rcm_publication_forsake_all(int status)
{
	struct rcm_publications taken = LIST_HEAD_INITIALIZER(taken);
	struct rcm_publication *publication;

	while ((publication = stranded_take(NULL)))
		LIST_INSERT_HEAD(&taken, publication, entry);
	while ((publication = LIST_FIRST(&taken))) {
		LIST_REMOVE(publication, entry);
		publication_forsake(publication, status);
		if (!stranded_put_back(publication))
			publication_over(&publication->published);
	}
}

/* ---- In the child of a fork ---- */

static void publication_forget(struct rcm_published *published)
{
	struct rcm_publication *publication = publication_of(published);

	publication->begun = false;
	if (publication->stopped)
		rcm_publication_free(publication);
}

static void stranded_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&stranding);
}

static void stranded_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&stranding);
}

static void stranded_fork_child(void) RCM_UNCHECKED
{
	struct rcm_publication *publication;

	while ((publication = LIST_FIRST(&stranded))) {
		LIST_REMOVE(publication, entry);
		/* Of one that was stopped otherwise the word is in the lost engine's box yet, and it goes with that. */
		if (publication->stopping)
			rcm_publication_free(publication);
	}
	atomic_store(&stranded_count, 0);
	rcm_lock_release(&stranding);
}

__attribute__((constructor)) static void stranded_watch_forks(void)
{
	static const struct rcm_fork fork = { stranded_fork_prepare, stranded_fork_parent, stranded_fork_child };

	rcm_fork_watch(RCM_FORK_STRANDED, &fork);
}

/* Of those that were stopped nobody here has a handle. What their over() would give back stays: it is a part of an id,
 * and those aren't the child's own yet. */
void rcm_publication_abandon_all(struct rcm_engine *engine, struct rcm_errands *errands)
{
	struct rcm_publication *publication;
	struct rcm_errand *errand;

	while ((errand = STAILQ_FIRST(errands))) {
		STAILQ_REMOVE_HEAD(errands, entry);
		if (errand->run != publication_stop)
			continue;
		publication = rcm_container(errand, struct rcm_publication, stop);
		if (!publication->begun)
			rcm_publication_free(publication);
	}
	rcm_publisher_abandon(&engine->publisher, publication_forget);
}
