/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounded getaddrinfo() workers. */
#include "dns/nss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/lock.h"
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
	rcm_nss_ask_fn *ask;
	struct rcm_wake wake;		/* rung under lock, and not after closed was set */
	struct rcm_lock lock;		/* not held over a callback */
	pthread_cond_t work;

	/* Under lock. */
	unsigned refs RCM_GUARDED_BY(lock);		/* the owner's and each worker's */
	unsigned workers RCM_GUARDED_BY(lock);
	unsigned idle RCM_GUARDED_BY(lock);
	bool closed RCM_GUARDED_BY(lock);
	struct job_list queued RCM_GUARDED_BY(lock);
	struct job_list running RCM_GUARDED_BY(lock);
	struct job_list answered RCM_GUARDED_BY(lock);
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
static void nss_put_locked(struct rcm_nss *nss) RCM_RELEASES(nss->lock)
{
	bool last;

	rcm_lock_assert_held(&nss->lock);
	last = !--nss->refs;
	rcm_lock_release(&nss->lock);
	if (!last)
		return;
	pthread_cond_destroy(&nss->work);
	rcm_lock_done(&nss->lock);
	free(nss);
}

static void job_run_locked(struct rcm_nss *nss, struct job *job) RCM_REQUIRES(nss->lock)
{
	rcm_lock_assert_held(&nss->lock);
	TAILQ_REMOVE(&nss->queued, job, entry);
	TAILQ_INSERT_TAIL(&nss->running, job, entry);
	job->state = RUNNING;
	rcm_lock_release(&nss->lock);
	job->eai = nss->ask(job->name, job->base.family, &job->list);
	job->system_errno = errno;
	rcm_lock_acquire(&nss->lock);
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
static bool nss_await_work_locked(struct rcm_nss *nss) RCM_REQUIRES(nss->lock)
{
	struct timespec until;
	int ret = 0;

	rcm_lock_assert_held(&nss->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	nss->idle++;
	while (TAILQ_EMPTY(&nss->queued) && !nss->closed && !ret)
		ret = rcm_lock_wait_until(&nss->lock, &nss->work, &until);
	nss->idle--;
	return !TAILQ_EMPTY(&nss->queued) && !nss->closed;
}

static void *nss_work(void *arg)
{
	struct rcm_nss *nss = arg;

	rcm_lock_acquire(&nss->lock);
	do {
		while (!nss->closed && !TAILQ_EMPTY(&nss->queued))
			job_run_locked(nss, TAILQ_FIRST(&nss->queued));
	} while (!nss->closed && nss_await_work_locked(nss));
	nss->workers--;
	nss_put_locked(nss);
	return NULL;
}

static int nss_start_worker_locked(struct rcm_nss *nss) RCM_REQUIRES(nss->lock)
{
	int ret;

	rcm_lock_assert_held(&nss->lock);
	ret = rcm_thread_start("rai-nss", RCM_NSS_STACK, nss_work, nss);

	if (ret)
		return ret;
	nss->workers++;
	nss->refs++;
	return 0;
}

static void job_cancel(struct rcm_dns_lookup *lookup)
{
	struct job *job = rcm_container(lookup, struct job, base);
	struct rcm_nss *nss = job->nss;

	rcm_lock_acquire(&nss->lock);
	if (job->state == RUNNING) {
		job->dropped = true;
	} else {
		TAILQ_REMOVE(job->state == QUEUED ? &nss->queued : &nss->answered, job, entry);
		job_free(job);
	}
	rcm_lock_release(&nss->lock);
}

static unsigned nss_count_results(const struct addrinfo *list)
{
	unsigned count = 0;

	for (; list && count < RCM_RESULTS_MAX; list = list->ai_next)
		count += list->ai_family == AF_INET || list->ai_family == AF_INET6;
	return count;
}

static void nss_fill(union rcm_dns_address *addresses, unsigned count, const struct addrinfo *list)
{
	for (unsigned i = 0; i < count; list = list->ai_next) {
		if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
			continue;
		memset(&addresses[i], 0, sizeof(*addresses));
		memcpy(&addresses[i++], list->ai_addr, list->ai_addrlen);
	}
}

static void job_deliver(struct job *job)
{
	struct rcm_dns_answer answer = { .status = rcm_eai_errno(job->eai, job->system_errno), .code = job->eai };
	union rcm_dns_address *addresses = NULL;
	char text[RCM_TEXT_MAX];

	if (job->eai) {
		snprintf(text, sizeof(text), "getaddrinfo: %s", gai_strerror(job->eai));
		answer.text = text;
		rcm_info("dns: \"%s\": %s", job->name, text);
	} else {
		answer.count = nss_count_results(job->list);
		addresses = calloc(answer.count ? answer.count : 1, sizeof(*addresses));
		answer.canonname = job->list->ai_canonname;
	}
	if (addresses)
		nss_fill(addresses, answer.count, job->list);
	else if (!job->eai)
		answer = (struct rcm_dns_answer){ .status = -ENOMEM, .code = EAI_MEMORY };
	answer.addresses = addresses;
	job->base.done(job->base.arg, &answer);
	free(addresses);
}

/* One by one, since a completion may cancel any other. */
static void nss_deliver_answered(struct rcm_wake *wake)
{
	struct rcm_nss *nss = rcm_container(wake, struct rcm_nss, wake);
	struct job *job;

	rcm_lock_acquire(&nss->lock);
	while ((job = TAILQ_FIRST(&nss->answered))) {
		TAILQ_REMOVE(&nss->answered, job, entry);
		rcm_lock_release(&nss->lock);
		job_deliver(job);
		job_free(job);
		rcm_lock_acquire(&nss->lock);
	}
	rcm_lock_release(&nss->lock);
}

int rcm_nss_start(struct rcm_nss *nss, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup)
{
	size_t len = strlen(query->name) + 1;
	struct job *job = calloc(1, sizeof(*job) + len);
	int ret = 0;

	if (!job)
		return -ENOMEM;
	rcm_lookup_init(&job->base, query, done, arg, job_cancel);
	job->nss = nss;
	memcpy(job->name, query->name, len);
	rcm_lock_acquire(&nss->lock);
	TAILQ_INSERT_TAIL(&nss->queued, job, entry);
	if (nss->idle)
		pthread_cond_signal(&nss->work);
	else if (nss->workers < RCM_NSS_WORKERS)
		ret = nss_start_worker_locked(nss);
	/* Without a new thread those that are there will come to it. */
	if (ret && !nss->workers) {
		TAILQ_REMOVE(&nss->queued, job, entry);
		job_free(job);
	} else {
		ret = 0;
		*ret_lookup = &job->base;
	}
	rcm_lock_release(&nss->lock);
	return ret;
}

int rcm_nss_open(struct rcm_loop *loop, rcm_nss_ask_fn *ask, struct rcm_nss **ret_nss) RCM_UNCHECKED
{
	struct rcm_nss *nss = calloc(1, sizeof(*nss));
	pthread_condattr_t attr;
	int ret;

	if (!nss)
		return -ENOMEM;
	ret = rcm_wake_init(loop, &nss->wake, nss_deliver_answered);
	if (ret) {
		free(nss);
		return ret;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&nss->work, &attr);
	pthread_condattr_destroy(&attr);
	rcm_lock_init(&nss->lock);
	TAILQ_INIT(&nss->queued);
	TAILQ_INIT(&nss->running);
	TAILQ_INIT(&nss->answered);
	nss->ask = ask;
	nss->refs = 1;
	*ret_nss = nss;
	return 0;
}

static void job_free_all(struct job_list *list)
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
	rcm_lock_acquire(&nss->lock);
	nss->closed = true;
	job_free_all(&nss->queued);
	job_free_all(&nss->answered);
	TAILQ_FOREACH(job, &nss->running, entry)
		job->dropped = true;
	pthread_cond_broadcast(&nss->work);
	rcm_wake_done(&nss->wake);
	nss_put_locked(nss);
}

void rcm_nss_abandon(struct rcm_nss *nss)
{
	if (nss)
		rcm_wake_abandon(&nss->wake);
}
