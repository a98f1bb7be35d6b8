/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that is published, as the engine's thread has it. Inside src/resolve only. */
#pragma once

#include "resolve/engine.h"

/* Both on the engine's thread, or on the one that finds it lost, with no lock held. What became of the record; and,
 * once it was stopped, that nothing comes any more. */
typedef void rcm_publish_told_fn(void *arg, const struct rcm_service_outcome *outcome);
typedef void rcm_publish_over_fn(void *arg);

LIST_HEAD(rcm_publications, rcm_publication);

struct rcm_publication {
	struct rcm_published published;
	struct rcm_errand start, stop;
	struct rcm_engine *engine;		/* NULL: it was lost, and no other has taken it over yet */
	LIST_ENTRY(rcm_publication) entry;	/* then */
	bool begun;				/* the engine's thread has it */
	bool stopped;				/* the handle was given up; */
	bool stopping;				/* and the engine's thread has heard of it, or will when it begins */
	bool forsaken;				/* it was told that no other engine could be had */
	rcm_publish_told_fn *told;
	rcm_publish_over_fn *over;
	void *arg;
};

/* One with a key of chance, whose errands are to be posted: 0; -ENOMEM; -EAGAIN: there are RCM_PUBLISHED_MAX. Any
 * thread. */
int rcm_publication_new(const struct rcm_service_offer *offer, struct rcm_engine *engine,
			struct rcm_publication **ret_publication);

/* Of one that the engine's thread doesn't have. Any thread. */
void rcm_publication_free(struct rcm_publication *publication);

/* In the child of a fork, with the start lock held: what was published rests where it is, until its handle is given
 * up. errands: those that the engine had not run. */
void rcm_publication_abandon_all(struct rcm_engine *engine, struct rcm_errands *errands);

/*
 * With the gate held: all that an engine had is put aside for another. errands: those that it had not run, or that came
 * late; *ret_late: those of them that are another's by now, to be forwarded without a lock.
 */
void rcm_publication_lose_all(struct rcm_engine *engine, struct rcm_errands *errands, struct rcm_errands *ret_late);
void rcm_publication_forward(struct rcm_errands *late);

/* Gives up the handle: true, and its engine has heard of it; false: it waits for another, by which it ends. */
bool rcm_publication_stop(struct rcm_publication *publication);

/* Whether any waits for another engine; gives all these to one that runs; or tells each, once, that there is none to be
 * had for that reason, and ends those that were stopped. Any thread, with no lock held but the adoption's. */
bool rcm_publication_any_stranded(void);
void rcm_publication_take_over(struct rcm_engine *engine);
void rcm_publication_forsake_all(int status);
