/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that is published, as the engine's thread has it. Inside src/resolve only. */
#pragma once

#include "resolve/engine.h"

/* Both on the engine's thread, with no lock held. What became of the record; and, once it was stopped, that nothing
 * comes any more. */
typedef void rcm_publish_told_fn(void *arg, const struct rcm_service_outcome *outcome);
typedef void rcm_publish_over_fn(void *arg);

struct rcm_publication {
	struct rcm_published published;
	struct rcm_errand start, stop;
	struct rcm_engine *engine;
	bool begun;				/* the engine's thread has it */
	bool stopped;				/* the handle was given up; */
	bool stopping;				/* and the engine's thread has heard of it */
	rcm_publish_told_fn *told;
	rcm_publish_over_fn *over;
	void *arg;
};

/* One with a key of chance, whose errands are to be posted: 0; -ENOMEM; -EAGAIN: there are RCM_PUBLISHED_MAX. Any
 * thread. */
int rcm_publication_new(const struct rcm_service_offer *offer, struct rcm_publication **ret_publication);

/* Of one that the engine's thread doesn't have. Any thread. */
void rcm_publication_free(struct rcm_publication *publication);

/* In the child of a fork, with the start lock held: what was published rests where it is, until its handle is given
 * up. errands: those that the engine had not run. */
void rcm_publication_abandon_all(struct rcm_engine *engine, struct rcm_errands *errands);

/* With the gate held: who published is told that it is over with that, and of those that were stopped that nothing
 * comes any more. errands: those that the engine had not run, or that came late. */
void rcm_publication_lose_all(struct rcm_engine *engine, struct rcm_errands *errands);
