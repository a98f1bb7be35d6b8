/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that is published, as the engine's thread has it. */
#include "resolve/publication.h"

#include <stdlib.h>

#include "base/container.h"
#include "base/err.h"
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
}

static void publication_stop(struct rcm_engine *engine, struct rcm_errand *errand)
{
	struct rcm_publication *publication = rcm_container(errand, struct rcm_publication, stop);

	(void)engine;
	publication->stopping = true;
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

int rcm_publication_new(const struct rcm_service_offer *offer, struct rcm_publication **ret_publication)
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
	publication->engine = rcm_engine_the();
	*ret_publication = publication;
	return 0;
}

/* ---- Of an engine that was lost ---- */

static void publication_lose(struct rcm_published *published)
{
	static const struct rcm_service_outcome lost = {
		.status = -EBADF, .text = "the program closed the library's descriptors",
	};
	struct rcm_publication *publication = publication_of(published);

	publication->begun = false;
	if (publication->stopping)
		publication_over(published);
	else
		publication_told(published, &lost);
}

void rcm_publication_lose_all(struct rcm_engine *engine, struct rcm_errands *errands)
{
	struct rcm_publication *publication;
	struct rcm_errand *errand;

	while ((errand = STAILQ_FIRST(errands))) {
		STAILQ_REMOVE_HEAD(errands, entry);
		if (errand->run == publication_start) {
			publication = rcm_container(errand, struct rcm_publication, start);
			publication_lose(&publication->published);
		} else if (errand->run == publication_stop) {
			publication = rcm_container(errand, struct rcm_publication, stop);
			publication->stopping = true;
			if (!publication->begun)
				publication_over(&publication->published);
		}
	}
	rcm_publisher_abandon(&engine->publisher, publication_lose);
}

/* ---- In the child of a fork ---- */

static void publication_forget(struct rcm_published *published)
{
	struct rcm_publication *publication = publication_of(published);

	publication->begun = false;
	if (publication->stopped)
		rcm_publication_free(publication);
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
