/* SPDX-License-Identifier: BSD-2-Clause */
/* A bounded pool of threads for what can block. */
#include "dns/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/container.h"
#include "base/lock.h"
#include "base/thread.h"
#include "loop/wake.h"

enum { IDLE_S = 5 };

TAILQ_HEAD(job_list, rcm_job);

struct rcm_workers {
	const struct rcm_workers_limits *limits;
	struct rcm_lock lock;			/* held for a few instructions, and while a thread is started */
	struct rcm_condition work;
	unsigned refs RCM_GUARDED_BY(lock);	/* the owner's and each thread's */
	unsigned threads RCM_GUARDED_BY(lock);
	unsigned busy RCM_GUARDED_BY(lock);	/* threads in a job */
	unsigned stuck RCM_GUARDED_BY(lock);	/* those in a job that was dropped, not counted as busy */
	unsigned waiting RCM_GUARDED_BY(lock);	/* jobs queued */
	bool closed RCM_GUARDED_BY(lock);
	struct job_list queued RCM_GUARDED_BY(lock);
	struct job_list running RCM_GUARDED_BY(lock);
	struct job_list over RCM_GUARDED_BY(lock);
	struct rcm_wake wake;			/* rung under the lock, and not after closed was set */
};

static unsigned workers_live_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	rcm_lock_assert_held(&workers->lock);
	return workers->threads - workers->stuck;
}

/* False: the loop can't be told. */
static bool job_over_locked(struct rcm_workers *workers, struct rcm_job *job, int status) RCM_REQUIRES(&workers->lock)
{
	rcm_lock_assert_held(&workers->lock);
	job->state = RCM_JOB_OVER;
	job->status = status;
	TAILQ_INSERT_TAIL(&workers->over, job, entry);
	return rcm_wake_ring(&workers->wake);
}

/* The lock is taken under those that are taken here. */
static void workers_lose_loop_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	struct rcm_loop *loop = workers->wake.source.loop;

	rcm_lock_assert_held(&workers->lock);
	rcm_lock_release(&workers->lock);
	if (loop && loop->lost)
		loop->lost(loop);
	rcm_lock_acquire(&workers->lock);
}

static void job_unqueue_locked(struct rcm_workers *workers, struct rcm_job *job) RCM_REQUIRES(&workers->lock)
{
	rcm_lock_assert_held(&workers->lock);
	TAILQ_REMOVE(&workers->queued, job, entry);
	workers->waiting--;
}

static void job_run_locked(struct rcm_workers *workers, struct rcm_job *job) RCM_REQUIRES(&workers->lock)
{
	rcm_lock_assert_held(&workers->lock);
	job_unqueue_locked(workers, job);
	TAILQ_INSERT_TAIL(&workers->running, job, entry);
	job->state = RCM_JOB_RUNNING;
	workers->busy++;
	rcm_lock_release(&workers->lock);
	job->ops->run(job);
	rcm_lock_acquire(&workers->lock);
	TAILQ_REMOVE(&workers->running, job, entry);
	if (!job->dropped) {
		workers->busy--;
		if (!job_over_locked(workers, job, 0))
			workers_lose_loop_locked(workers);
		return;
	}
	workers->stuck--;
	rcm_lock_release(&workers->lock);
	job->ops->free(job);
	rcm_lock_acquire(&workers->lock);
}

/* False: no work came in a while. */
static bool work_await_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	struct timespec until;
	bool late = false;

	rcm_lock_assert_held(&workers->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	while (TAILQ_EMPTY(&workers->queued) && !workers->closed && !late)
		late = rcm_lock_wait_until(&workers->lock, &workers->work, &until);
	return !TAILQ_EMPTY(&workers->queued) && !workers->closed;
}

/* Drops a reference and the lock. */
static void workers_put_locked(struct rcm_workers *workers) RCM_RELEASES(&workers->lock)
{
	bool last;

	rcm_lock_assert_held(&workers->lock);
	last = !--workers->refs;
	rcm_lock_release(&workers->lock);
	if (last)
		free(workers);
}

/* One that comes back from a job that was dropped may be one too many. */
static bool is_surplus_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	rcm_lock_assert_held(&workers->lock);
	return workers_live_locked(workers) > workers->limits->at_once;
}

static void *worker_run(void *arg)
{
	struct rcm_workers *workers = arg;

	rcm_lock_acquire(&workers->lock);
	do {
		while (!workers->closed && !is_surplus_locked(workers) && !TAILQ_EMPTY(&workers->queued))
			job_run_locked(workers, TAILQ_FIRST(&workers->queued));
	} while (!workers->closed && !is_surplus_locked(workers) && work_await_locked(workers));
	workers->threads--;
	workers_put_locked(workers);
	return NULL;
}

static int worker_start_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	const struct rcm_workers_limits *limits = workers->limits;
	int ret;

	rcm_lock_assert_held(&workers->lock);
	if (workers->threads == limits->threads)
		return -EBUSY;
	ret = rcm_thread_start(limits->name, limits->stack, worker_run, workers);
	if (ret)
		return ret;
	workers->threads++;
	workers->refs++;
	return 0;
}

/*
 * A thread for each job that waits, up to the limit; one that is in no job is on its way to one, whether it has woken
 * yet or not. Where none can be had, those that are there will come to it; -errno: there is none.
 */
static int workers_feed_locked(struct rcm_workers *workers) RCM_REQUIRES(&workers->lock)
{
	int ret = 0;

	rcm_lock_assert_held(&workers->lock);
	while (!ret && workers->waiting > workers_live_locked(workers) - workers->busy &&
	       workers_live_locked(workers) < workers->limits->at_once)
		ret = worker_start_locked(workers);
	rcm_lock_signal(&workers->lock, &workers->work);
	return workers_live_locked(workers) ? 0 : ret;
}

/* By the loop's thread, which sees for itself. */
static void jobs_refuse_locked(struct rcm_workers *workers, int status) RCM_REQUIRES(&workers->lock)
{
	struct rcm_job *job;

	rcm_lock_assert_held(&workers->lock);
	while ((job = TAILQ_FIRST(&workers->queued))) {
		job_unqueue_locked(workers, job);
		job_over_locked(workers, job, status);
	}
}

void rcm_workers_post(struct rcm_workers *workers, struct rcm_job *job)
{
	int ret;

	job->workers = workers;
	job->dropped = false;
	rcm_lock_acquire(&workers->lock);
	job->state = RCM_JOB_QUEUED;
	TAILQ_INSERT_TAIL(&workers->queued, job, entry);
	workers->waiting++;
	ret = workers_feed_locked(workers);
	if (ret)
		jobs_refuse_locked(workers, ret);
	rcm_lock_release(&workers->lock);
}

/* Its thread's place goes to those that wait; where no thread can take it, and none is left, nobody comes to them. */
static void job_give_up_locked(struct rcm_workers *workers, struct rcm_job *job) RCM_REQUIRES(&workers->lock)
{
	int ret;

	rcm_lock_assert_held(&workers->lock);
	job->dropped = true;
	workers->busy--;
	workers->stuck++;
	ret = workers_feed_locked(workers);
	if (ret)
		jobs_refuse_locked(workers, ret);
}

void rcm_job_drop(struct rcm_job *job)
{
	struct rcm_workers *workers = job->workers;
	bool running;

	rcm_lock_acquire(&workers->lock);
	running = job->state == RCM_JOB_RUNNING;
	if (running)
		job_give_up_locked(workers, job);
	else if (job->state == RCM_JOB_QUEUED)
		job_unqueue_locked(workers, job);
	else
		TAILQ_REMOVE(&workers->over, job, entry);
	rcm_lock_release(&workers->lock);
	if (!running)
		job->ops->free(job);
}

static struct rcm_job *job_take_over(struct rcm_workers *workers)
{
	struct rcm_job *job;

	rcm_lock_acquire(&workers->lock);
	job = TAILQ_FIRST(&workers->over);
	if (job) {
		TAILQ_REMOVE(&workers->over, job, entry);
		job->state = RCM_JOB_IDLE;
	}
	rcm_lock_release(&workers->lock);
	return job;
}

/* One by one, since one's done() may drop any other. */
static void workers_woken(struct rcm_wake *wake)
{
	struct rcm_workers *workers = rcm_container(wake, struct rcm_workers, wake);
	struct rcm_job *job;

	while ((job = job_take_over(workers)))
		job->ops->done(job, job->status);
}

int rcm_workers_open(struct rcm_loop *loop, const struct rcm_workers_limits *limits,
		     struct rcm_workers **ret_workers) RCM_UNCHECKED
{
	struct rcm_workers *workers = calloc(1, sizeof(*workers));
	int ret;

	if (!workers)
		return -ENOMEM;
	ret = rcm_wake_init(loop, &workers->wake, workers_woken);
	if (ret) {
		free(workers);
		return ret;
	}
	workers->work = (struct rcm_condition)RCM_CONDITION_INIT;
	rcm_lock_init(&workers->lock);
	TAILQ_INIT(&workers->queued);
	TAILQ_INIT(&workers->running);
	TAILQ_INIT(&workers->over);
	workers->limits = limits;
	workers->refs = 1;
	*ret_workers = workers;
	return 0;
}

static void jobs_free(struct job_list *list)
{
	struct rcm_job *job;

	while ((job = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, job, entry);
		job->ops->free(job);
	}
}

void rcm_workers_close(struct rcm_workers *workers)
{
	struct job_list unused = TAILQ_HEAD_INITIALIZER(unused);
	struct rcm_job *job;

	if (!workers)
		return;
	rcm_lock_acquire(&workers->lock);
	workers->closed = true;
	TAILQ_CONCAT(&unused, &workers->queued, entry);
	TAILQ_CONCAT(&unused, &workers->over, entry);
	TAILQ_FOREACH(job, &workers->running, entry) {
		workers->busy -= !job->dropped;
		workers->stuck += !job->dropped;
		job->dropped = true;
	}
	rcm_lock_broadcast(&workers->lock, &workers->work);
	rcm_wake_done(&workers->wake);
	workers_put_locked(workers);
	jobs_free(&unused);
}

void rcm_workers_abandon(struct rcm_workers *workers)
{
	if (workers)
		rcm_wake_abandon(&workers->wake);
}
