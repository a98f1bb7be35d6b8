/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounded getaddrinfo() workers. */
#include "dns/nss.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"
#include "dns/eai.h"
#include "dns/lookup.h"
#include "loop/wake.h"

enum { IDLE_S = 5 };

struct job {
	struct rcm_dns_lookup base;
	TAILQ_ENTRY(job) entry;
	struct rcm_nss *nss;
	enum { QUEUED, RUNNING, ANSWERED } state;
	bool dropped;			/* its worker is to free it */
	int eai;
	int system_errno;
	struct addrinfo *list;
	char name[];
};

TAILQ_HEAD(job_list, job);

struct rcm_nss {
	pthread_mutex_t lock;		/* held for a few instructions only, never over a callback */
	pthread_cond_t work;
	unsigned refs;			/* the owner's and each worker's */
	unsigned workers;
	unsigned idle;
	bool closed;
	struct job_list queued;
	struct job_list running;
	struct job_list answered;
	rcm_nss_ask_fn *ask;
	struct rcm_wake wake;		/* rung under the lock, and not after closed was set */
};

int rcm_nss_ask(const char *name, int family, struct addrinfo **ret_list)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };

	return getaddrinfo(name, NULL, &hints, ret_list);
}

static void job_free(struct job *job)
{
	if (job->list)
		freeaddrinfo(job->list);
	free(job);
}

/* Drops a reference and the lock. */
static void put_locked(struct rcm_nss *nss)
{
	bool last = !--nss->refs;

	pthread_mutex_unlock(&nss->lock);
	if (!last)
		return;
	pthread_cond_destroy(&nss->work);
	pthread_mutex_destroy(&nss->lock);
	free(nss);
}

static void run_locked(struct rcm_nss *nss, struct job *job)
{
	TAILQ_REMOVE(&nss->queued, job, entry);
	TAILQ_INSERT_TAIL(&nss->running, job, entry);
	job->state = RUNNING;
	pthread_mutex_unlock(&nss->lock);
	job->eai = nss->ask(job->name, job->base.family, &job->list);
	job->system_errno = errno;
	pthread_mutex_lock(&nss->lock);
	TAILQ_REMOVE(&nss->running, job, entry);
	if (job->dropped) {
		job_free(job);
		return;
	}
	job->state = ANSWERED;
	TAILQ_INSERT_TAIL(&nss->answered, job, entry);
	rcm_wake_ring(&nss->wake);
}

/* False: no work came in a while. */
static bool await_work_locked(struct rcm_nss *nss)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	nss->idle++;
	while (TAILQ_EMPTY(&nss->queued) && !nss->closed && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&nss->work, &nss->lock, &until);
	nss->idle--;
	return !TAILQ_EMPTY(&nss->queued) && !nss->closed;
}

static void *work(void *arg)
{
	struct rcm_nss *nss = arg;

	pthread_mutex_lock(&nss->lock);
	do {
		while (!nss->closed && !TAILQ_EMPTY(&nss->queued))
			run_locked(nss, TAILQ_FIRST(&nss->queued));
	} while (!nss->closed && await_work_locked(nss));
	nss->workers--;
	put_locked(nss);
	return NULL;
}

static int start_worker_locked(struct rcm_nss *nss)
{
	int err = rcm_thread_start("rai-nss", RCM_NSS_STACK, work, nss);

	if (err)
		return err;
	nss->workers++;
	nss->refs++;
	return 0;
}

static void job_cancel(struct rcm_dns_lookup *lookup)
{
	struct job *job = rcm_container(lookup, struct job, base);
	struct rcm_nss *nss = job->nss;

	pthread_mutex_lock(&nss->lock);
	if (job->state == RUNNING) {
		job->dropped = true;
	} else {
		TAILQ_REMOVE(job->state == QUEUED ? &nss->queued : &nss->answered, job, entry);
		job_free(job);
	}
	pthread_mutex_unlock(&nss->lock);
}

static unsigned count_results(const struct addrinfo *list)
{
	unsigned count = 0;

	for (; list && count < RCM_RESULTS_MAX; list = list->ai_next)
		count += list->ai_family == AF_INET || list->ai_family == AF_INET6;
	return count;
}

static void fill(union rcm_dns_address *addresses, unsigned count, const struct addrinfo *list)
{
	for (unsigned i = 0; i < count; list = list->ai_next) {
		if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
			continue;
		memset(&addresses[i], 0, sizeof(*addresses));
		memcpy(&addresses[i++], list->ai_addr, list->ai_addrlen);
	}
}

static void deliver(struct job *job)
{
	struct rcm_dns_answer answer = { .status = rcm_eai_errno(job->eai, job->system_errno), .code = job->eai };
	union rcm_dns_address *addresses = NULL;
	char text[RCM_TEXT_MAX];

	if (job->eai) {
		snprintf(text, sizeof(text), "getaddrinfo: %s", gai_strerror(job->eai));
		answer.text = text;
		rcm_info("dns: \"%s\": %s", job->name, text);
	} else {
		answer.count = count_results(job->list);
		addresses = calloc(answer.count ? answer.count : 1, sizeof(*addresses));
		answer.canonname = job->list->ai_canonname;
	}
	if (addresses)
		fill(addresses, answer.count, job->list);
	else if (!job->eai)
		answer = (struct rcm_dns_answer){ .status = -ENOMEM, .code = EAI_MEMORY };
	answer.addresses = addresses;
	job->base.done(job->base.arg, &answer);
	free(addresses);
}

/* One by one, since a completion may cancel any other. */
static void deliver_answered(struct rcm_wake *wake)
{
	struct rcm_nss *nss = rcm_container(wake, struct rcm_nss, wake);
	struct job *job;

	pthread_mutex_lock(&nss->lock);
	while ((job = TAILQ_FIRST(&nss->answered))) {
		TAILQ_REMOVE(&nss->answered, job, entry);
		pthread_mutex_unlock(&nss->lock);
		deliver(job);
		job_free(job);
		pthread_mutex_lock(&nss->lock);
	}
	pthread_mutex_unlock(&nss->lock);
}

int rcm_nss_start(struct rcm_nss *nss, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup)
{
	size_t len = strlen(query->name) + 1;
	struct job *job = calloc(1, sizeof(*job) + len);
	int err = 0;

	if (!job)
		return -ENOMEM;
	rcm_lookup_init(&job->base, query, done, arg, job_cancel);
	job->nss = nss;
	memcpy(job->name, query->name, len);
	pthread_mutex_lock(&nss->lock);
	TAILQ_INSERT_TAIL(&nss->queued, job, entry);
	if (nss->idle)
		pthread_cond_signal(&nss->work);
	else if (nss->workers < RCM_NSS_WORKERS)
		err = start_worker_locked(nss);
	/* Without a new thread those that are there will come to it. */
	if (err && !nss->workers) {
		TAILQ_REMOVE(&nss->queued, job, entry);
		job_free(job);
	} else {
		err = 0;
		*ret_lookup = &job->base;
	}
	pthread_mutex_unlock(&nss->lock);
	return err;
}

int rcm_nss_open(struct rcm_loop *loop, rcm_nss_ask_fn *ask, struct rcm_nss **ret_nss)
{
	struct rcm_nss *nss = calloc(1, sizeof(*nss));
	pthread_condattr_t attr;
	int err;

	if (!nss)
		return -ENOMEM;
	err = rcm_wake_init(loop, &nss->wake, deliver_answered);
	if (err) {
		free(nss);
		return err;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&nss->work, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&nss->lock, NULL);
	TAILQ_INIT(&nss->queued);
	TAILQ_INIT(&nss->running);
	TAILQ_INIT(&nss->answered);
	nss->ask = ask;
	nss->refs = 1;
	*ret_nss = nss;
	return 0;
}

static void free_all(struct job_list *list)
{
	struct job *job;

	while ((job = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, job, entry);
		job_free(job);
	}
}

void rcm_nss_close(struct rcm_nss *nss)
{
	struct job *job;

	if (!nss)
		return;
	pthread_mutex_lock(&nss->lock);
	nss->closed = true;
	free_all(&nss->queued);
	free_all(&nss->answered);
	TAILQ_FOREACH(job, &nss->running, entry)
		job->dropped = true;
	pthread_cond_broadcast(&nss->work);
	rcm_wake_done(&nss->wake);
	put_locked(nss);
}

void rcm_nss_abandon(struct rcm_nss *nss)
{
	if (nss)
		rcm_wake_abandon(&nss->wake);
}
