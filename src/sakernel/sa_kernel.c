/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's own SA resolver as a client of the SA. */
#include "sakernel/sa_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/fds.h"
#include "base/limits.h"
#include "loop/timer.h"
#include "sakernel/attempt.h"

struct rcm_sa_query {
	TAILQ_ENTRY(rcm_sa_query) link;
	struct rcm_sa *sa;
	bool running;				/* in sa->running, else in sa->waiting */
	bool down;				/* its port, which it is about to be told of */
	struct rcm_attempt_question q;
	struct rcm_attempt attempt;		/* an event of an earlier one finds nobody */
	struct rcm_timer deadline;
	struct rcm_sa_query *other;		/* our own client's, after the kernel gave up */
	rcm_sa_done_fn *done;
	void *arg;
};

TAILQ_HEAD(query_list, rcm_sa_query);

struct rcm_sa {
	struct rcm_loop *loop;
	struct rcm_ucma ucma;			/* opened with the first query */
	struct rcm_source source;
	struct query_list running, waiting;
	unsigned n_running;
	struct rcm_timer room;			/* there is some, after a cancel */
	uint64_t last_uid;
	struct rcm_sa *umad;			/* our own client; NULL: not asked yet */
	struct rcm_sa_stats stats;
};

static int query_start_attempt(struct rcm_sa_query *query)
{
	struct rcm_sa *sa = query->sa;
	int ret = rcm_attempt_start(&query->attempt, &sa->ucma, ++sa->last_uid, &query->q);

	sa->stats.queries += !ret;
	return ret;
}

static void query_end_attempt(struct rcm_sa_query *query)
{
	rcm_attempt_end(&query->attempt, &query->sa->ucma);
}

/* ---- The end of a query ---- */

static void kernel_start_waiting(struct rcm_sa *sa);

/* Takes it out of everything. Its memory is the caller's to free. */
static void query_withdraw(struct rcm_sa_query *query)
{
	struct rcm_sa *sa = query->sa;

	query_end_attempt(query);
	if (query->other)
		rcm_sa_umad.cancel(sa->umad, query->other);
	rcm_timer_stop(sa->loop, &query->deadline);
	TAILQ_REMOVE(query->running ? &sa->running : &sa->waiting, query, link);
	sa->n_running -= query->running;
}

static void query_finish(struct rcm_sa_query *query, const struct rcm_sa_answer *answer)
{
	struct rcm_sa *sa = query->sa;

	query_withdraw(query);
	query->done(query->arg, answer);
	free(query);
	kernel_start_waiting(sa);
}

static void query_finish_with_error(struct rcm_sa_query *query, int status, const char *text)
{
	const struct rcm_sa_answer answer = { .status = status, .text = text };

	query_finish(query, &answer);
}

static void query_deadline_passed(struct rcm_timer *timer)
{
	query_finish(rcm_container(timer, struct rcm_sa_query, deadline), &(struct rcm_sa_answer){
		.status = -ETIMEDOUT, .late = true, .text = "the SA did not answer the kernel in time" });
}

/* ---- Our own client, where the kernel gave up ---- */

static void query_other_done(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_sa_query *query = arg;

	query->other = NULL;
	query_finish(query, answer);
}

static bool query_ask_umad(struct rcm_sa_query *query)
{
	struct rcm_sa *sa = query->sa;

	if (rcm_sa_umad_usable(rcm_attempt_port(&query->q)))
		return false;
	if (!sa->umad && rcm_sa_umad.open(sa->loop, &sa->umad))
		return false;
	query_end_attempt(query);
	if (query->q.by_path)
		return !rcm_sa_umad.path(sa->umad, &query->q.path, query_other_done, query, &query->other);
	return !rcm_sa_umad.service(sa->umad, &query->q.service, query_other_done, query, &query->other);
}

static bool query_try_again(struct rcm_sa_query *query)
{
	query->sa->stats.retries++;
	query_end_attempt(query);
	return !query_start_attempt(query);
}

/* The kernel's status of an attempt. It tells nothing about the SA's: any but "none" and "too late" is -EINVAL. */
static void query_attempt_failed(struct rcm_sa_query *query, int status)
{
	if (status == -ENODATA || status == -ENOENT)
		query_finish_with_error(query, -ENOENT, "none that this port may see");
	else if (query_ask_umad(query))
		return;
	else if (status != -ETIMEDOUT)
		query_finish_with_error(query, status == -EINVAL ? -EIO : status,
					"the kernel's question to the SA failed");
	else if (!query_try_again(query))
		query_finish_with_error(query, -ETIMEDOUT, "the SA did not answer the kernel in time");
}

/* ---- Answers ---- */

static void query_service_resolved(struct rcm_sa_query *query)
{
	struct rcm_sa_answer answer = { 0 };
	struct rcm_sa_service_record *records;
	int ret = rcm_attempt_services(&query->attempt, &query->sa->ucma, &records, &answer.count, &answer.total);

	if (ret) {
		query_attempt_failed(query, ret);
		return;
	}
	answer.services = records;
	query_finish(query, &answer);
	free(records);
}

static void query_path_resolved(struct rcm_sa_query *query)
{
	uint8_t paths[RCM_UCMA_PATHS_MAX][64];
	struct rcm_sa_answer answer = { .paths = (const uint8_t (*)[64])paths };
	int ret = rcm_attempt_paths(&query->attempt, &query->sa->ucma, paths, &answer.count);

	if (ret) {
		query_attempt_failed(query, ret);
		return;
	}
	answer.total = answer.count;
	query_finish(query, &answer);
}

static void query_handle_event(struct rcm_sa_query *query, const struct rcm_ucma_event *event)
{
	int ret;

	switch (event->type) {
	case RDMA_CM_EVENT_ADDRINFO_RESOLVED:
		query_service_resolved(query);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = rcm_attempt_go_on(&query->attempt, &query->sa->ucma);
		if (ret)
			query_attempt_failed(query, ret);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		query_path_resolved(query);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		query_finish_with_error(query, -ENODEV, "the port's device was removed");
		break;
	case RDMA_CM_EVENT_ADDRINFO_ERROR:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		query_attempt_failed(query, event->status ? event->status : -EIO);
		break;
	default:
		break;
	}
}

static void kernel_events_ready(struct rcm_source *source, uint32_t events)
{
	struct rcm_sa *sa = rcm_container(source, struct rcm_sa, source);
	struct rcm_ucma_event event;
	struct rcm_sa_query *query;

	(void)events;
	while (!rcm_ucma_get_event(&sa->ucma, &event)) {
		TAILQ_FOREACH(query, &sa->running, link)
			if (query->attempt.uid == event.uid)
				break;
		if (query)
			query_handle_event(query, &event);
	}
}

/* ---- The ops ---- */

/* In the child of a fork its number is not ours any more. */
static void kernel_close_device(struct rcm_sa *sa)
{
	if (rcm_fds_forget(sa->ucma.fd))
		rcm_ucma_close(&sa->ucma);
	sa->ucma.fd = -1;
}

static int kernel_open_device(struct rcm_sa *sa)
{
	int ret;

	if (sa->ucma.fd >= 0)
		return 0;
	ret = rcm_ucma_open(&sa->ucma, O_NONBLOCK);
	if (ret)
		return ret;
	ret = rcm_fds_add(sa->ucma.fd);
	if (ret < 0) {
		sa->ucma.fd = -1;
		return ret;
	}
	ret = rcm_source_add(sa->loop, &sa->source, sa->ucma.fd, RCM_READABLE, kernel_events_ready);
	if (ret)
		kernel_close_device(sa);
	return ret;
}

static int query_run(struct rcm_sa_query *query)
{
	struct rcm_sa *sa = query->sa;
	int ret = query_start_attempt(query);

	if (ret)
		return ret;
	query->running = true;
	TAILQ_INSERT_TAIL(&sa->running, query, link);
	sa->n_running++;
	return 0;
}

static void kernel_start_waiting(struct rcm_sa *sa)
{
	struct rcm_sa_query *query;
	int ret;

	while (sa->n_running < RCM_SA_WINDOW && (query = TAILQ_FIRST(&sa->waiting))) {
		TAILQ_REMOVE(&sa->waiting, query, link);
		ret = query_run(query);
		if (!ret)
			continue;
		rcm_timer_stop(sa->loop, &query->deadline);
		query->done(query->arg, &(struct rcm_sa_answer){
			.status = ret, .text = "the kernel refused the question to the SA" });
		free(query);
	}
}

/* Runs it, or puts it behind those that wait already. */
static int query_start(struct rcm_sa_query *query, struct rcm_sa_query **ret_query)
{
	struct rcm_sa *sa = query->sa;
	int ret = kernel_open_device(sa);

	if (!ret && sa->n_running < RCM_SA_WINDOW)
		ret = query_run(query);
	else if (!ret)
		TAILQ_INSERT_TAIL(&sa->waiting, query, link);
	if (ret) {
		free(query);
		return ret;
	}
	if (rcm_attempt_deadline(&query->q))
		rcm_timer_start(sa->loop, &query->deadline, rcm_attempt_deadline(&query->q), query_deadline_passed);
	*ret_query = query;
	return 0;
}

static struct rcm_sa_query *kernel_query_new(struct rcm_sa *sa, rcm_sa_done_fn *done, void *arg)
{
	struct rcm_sa_query *query = calloc(1, sizeof(*query));

	if (query) {
		query->sa = sa;
		query->attempt.handle = RCM_ATTEMPT_NO_HANDLE;
		query->done = done;
		query->arg = arg;
	}
	return query;
}

static int kernel_service(struct rcm_sa *sa, const struct rcm_sa_service_query *asked, rcm_sa_done_fn *done,
			  void *arg, struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query = kernel_query_new(sa, done, arg);

	if (!query)
		return -ENOMEM;
	query->q.service = *asked;
	return query_start(query, ret_query);
}

static int kernel_path(struct rcm_sa *sa, const struct rcm_sa_path_query *asked, rcm_sa_done_fn *done, void *arg,
		       struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query;

	/* It asks for what an id needs, one path. */
	if (asked->to_all)
		return -EOPNOTSUPP;
	query = kernel_query_new(sa, done, arg);
	if (!query)
		return -ENOMEM;
	query->q.by_path = true;
	query->q.path = *asked;
	return query_start(query, ret_query);
}

static void kernel_room(struct rcm_timer *timer)
{
	kernel_start_waiting(rcm_container(timer, struct rcm_sa, room));
}

/* Whoever cancels one may be about to cancel others, of which none is to be started, nor told that it can't be. */
static void kernel_cancel(struct rcm_sa *sa, struct rcm_sa_query *query)
{
	query_withdraw(query);
	free(query);
	if (sa->room.state == RCM_TIMER_IDLE)
		rcm_timer_start(sa->loop, &sa->room, 0, kernel_room);
}

static int kernel_open(struct rcm_loop *loop, struct rcm_sa **ret_sa)
{
	struct rcm_sa *sa = calloc(1, sizeof(*sa));

	if (!sa)
		return -ENOMEM;
	sa->loop = loop;
	sa->ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
	TAILQ_INIT(&sa->running);
	TAILQ_INIT(&sa->waiting);
	*ret_sa = sa;
	return 0;
}

static void query_down(struct rcm_timer *timer)
{
	query_finish_with_error(rcm_container(timer, struct rcm_sa_query, deadline), -ENETDOWN, "the port is down");
}

/* The kernel would ask on until its time is over. */
static void kernel_look(struct rcm_sa *sa)
{
	const struct query_list *lists[] = { &sa->running, &sa->waiting };
	struct rcm_sa_query *query;

	for (unsigned i = 0; i < 2; i++) {
		TAILQ_FOREACH(query, lists[i], link) {
			if (query->other || query->down || !rcm_attempt_is_down(&query->q))
				continue;
			query->down = true;
			rcm_timer_start(sa->loop, &query->deadline, 0, query_down);
		}
	}
	if (sa->umad)
		rcm_sa_umad.look(sa->umad);
}

static void kernel_stats(struct rcm_sa *sa, struct rcm_sa_stats *ret_stats)
{
	struct rcm_sa_stats umad = { 0 };

	if (sa->umad)
		rcm_sa_umad.stats(sa->umad, &umad);
	ret_stats->queries = sa->stats.queries + umad.queries;
	ret_stats->retries = sa->stats.retries + umad.retries;
}

/* The kernel's ids go with the descriptor; what is freed here tells nobody anything. */
static void kernel_free_all(struct rcm_sa *sa, bool touch_loop)
{
	struct query_list *lists[] = { &sa->running, &sa->waiting };
	struct rcm_sa_query *query;

	for (unsigned i = 0; i < 2; i++) {
		while ((query = TAILQ_FIRST(lists[i]))) {
			TAILQ_REMOVE(lists[i], query, link);
			if (touch_loop)
				rcm_timer_stop(sa->loop, &query->deadline);
			free(query);
		}
	}
	kernel_close_device(sa);
	free(sa);
}

static void kernel_close(struct rcm_sa *sa)
{
	if (!sa)
		return;
	rcm_sa_umad.close(sa->umad);
	rcm_source_remove(&sa->source);
	rcm_timer_stop(sa->loop, &sa->room);
	kernel_free_all(sa, true);
}

static void kernel_abandon(struct rcm_sa *sa)
{
	if (!sa)
		return;
	if (sa->umad)
		rcm_sa_umad.abandon(sa->umad);
	kernel_free_all(sa, false);
}

/* The kernel has no command for it. */
static int kernel_publish(struct rcm_sa *sa, const struct rcm_sa_publication *publication, rcm_sa_done_fn *done,
			  void *arg, struct rcm_sa_query **ret_query)
{
	(void)sa, (void)publication, (void)done, (void)arg, (void)ret_query;
	return -EACCES;
}

const struct rcm_sa_ops rcm_sa_kernel = {
	.name = "kernel", .open = kernel_open, .service = kernel_service, .path = kernel_path,
	.publish = kernel_publish, .cancel = kernel_cancel, .look = kernel_look, .stats = kernel_stats,
	.close = kernel_close, .abandon = kernel_abandon,
};
