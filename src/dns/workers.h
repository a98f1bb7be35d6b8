/* SPDX-License-Identifier: BSD-2-Clause */
/* A bounded pool of threads for what can block and has no other form: modules of the system, files on a disk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "loop/loop.h"

struct rcm_workers;
struct rcm_job;

struct rcm_job_ops {
	/* On a thread of the pool, with no lock held; takes the time it takes. */
	void (*run)(struct rcm_job *job);

	/* On the loop's thread, once; the job is its owner's again. status 0: run() was called; -EBUSY: all threads are
	 * stuck in jobs that were dropped; -EAGAIN, -ENOMEM: none can be started. */
	void (*done)(struct rcm_job *job, int status);

	/* On any thread: the job was dropped, and nobody has it any more. */
	void (*free)(struct rcm_job *job);
};

/* Embedded in what is to be done; zeroed but for ops before it is posted. */
struct rcm_job {
	const struct rcm_job_ops *ops;
	struct rcm_workers *workers;
	TAILQ_ENTRY(rcm_job) entry;
	enum { RCM_JOB_IDLE, RCM_JOB_QUEUED, RCM_JOB_RUNNING, RCM_JOB_OVER } state;
	bool dropped;
	int status;
};

/* What a pool is to be like. */
struct rcm_workers_limits {
	const char *name;		/* of its threads */
	unsigned at_once;		/* jobs that run at once, those that were dropped not counted */
	unsigned threads;		/* in all, with those that are stuck in jobs that were dropped */
	size_t stack;			/* bytes of each thread's */
};

/* 0 or -errno; limits is kept. No thread starts before the first job; one without work for some seconds leaves. */
int rcm_workers_open(struct rcm_loop *loop, const struct rcm_workers_limits *limits, struct rcm_workers **ret_workers);

/* done() will be called, after this returns, unless the job is dropped. Jobs run in the order they were posted. */
void rcm_workers_post(struct rcm_workers *workers, struct rcm_job *job);

/* Gives a posted job up, whose done() was not called: it isn't any more, and free() is, as soon as no thread is in it.
 * A thread that is in it gives its place to another, up to the limit of threads. */
void rcm_job_drop(struct rcm_job *job);

/* Drops all jobs and waits for none of the threads. NULL: nothing. */
void rcm_workers_close(struct rcm_workers *workers);

/* In the child of a fork, where the threads are not: the lock may be held for ever, so its memory is left. NULL:
 * nothing. */
void rcm_workers_abandon(struct rcm_workers *workers);
