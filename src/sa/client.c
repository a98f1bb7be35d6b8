/* SPDX-License-Identifier: BSD-2-Clause */
/* The SA client: queries in, transactions on the port's link, records out. */
#include "sa/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "base/err.h"
#include "base/zalloc.h"
#include "sa/link.h"

#define LOOK_NS (200 * RCM_NS_PER_MS)	/* how long an answer may stay out before its port is looked at */

/* A look may take a moment: not when something else is due so soon, but for so often. */
enum { CALM_MS = 50, PUT_OFF_MAX = 3 };

struct rcm_sa_query {
	LIST_ENTRY(rcm_sa_query) entry;
	struct rcm_link_txn txn;
	union {
		struct rcm_sa_service_query service;
		struct rcm_sa_path_query path;
	};					/* what its records have to match */
	rcm_sa_done_fn *done;
	void *arg;
};

struct rcm_sa {
	struct rcm_loop *loop;
	const struct rcm_umad_ops *umad;
	LIST_HEAD(, rcm_link) links;
	unsigned link_count;
	LIST_HEAD(, rcm_sa_query) queries;
	struct rcm_sa_stats stats;
	struct rcm_timer look_timer;		/* for answers that stay out */
	unsigned put_off;			/* how often that was, in a row */
};

int rcm_client_open(struct rcm_loop *loop, const struct rcm_umad_ops *umad, struct rcm_sa **ret_sa)
{
	struct rcm_sa *sa = calloc(1, sizeof(*sa));

	if (!sa)
		return -ENOMEM;
	sa->loop = loop;
	sa->umad = umad;
	*ret_sa = sa;
	return 0;
}

static int client_open(struct rcm_loop *loop, struct rcm_sa **ret_sa)
{
	return rcm_client_open(loop, &rcm_umad_device, ret_sa);
}

/* ---- Ports that change while questions are under way ---- */

static void link_tell_all(struct rcm_sa *sa, struct rcm_link *link, bool in_doubt)
{
	struct rcm_sa_query *query;
	int ret = rcm_link_look(link, in_doubt);

	/* A device that is gone may be back in a moment, and for an answer no descriptor is needed. */
	if (!ret || ret == -ENODEV || rcm_is_want(ret))
		return;
	LIST_FOREACH(query, &sa->queries, entry)
		if (query->txn.link == link)
			rcm_link_looked(&query->txn, ret);
}

static void client_look(struct rcm_sa *sa)
{
	struct rcm_link *link;

	LIST_FOREACH(link, &sa->links, entry)
		if (link->active)
			link_tell_all(sa, link, true);
}

/* As far as no device tells, an answer that stays out is the reason to look. */
static void client_look_due(struct rcm_timer *timer)
{
	struct rcm_sa *sa = rcm_container(timer, struct rcm_sa, look_timer);
	uint64_t now = rcm_clock_now();
	struct rcm_link *link;

	if (rcm_timers_wait_ms(sa->loop, now, CALM_MS) < CALM_MS && sa->put_off++ < PUT_OFF_MAX) {
		rcm_timer_start(sa->loop, timer, now + CALM_MS * RCM_NS_PER_MS, client_look_due);
		return;
	}
	sa->put_off = 0;
	LIST_FOREACH(link, &sa->links, entry)
		if (link->active && rcm_slot_first_at(&link->slots) <= now - LOOK_NS)
			link_tell_all(sa, link, false);
	if (!LIST_EMPTY(&sa->queries))
		rcm_timer_start(sa->loop, timer, now + LOOK_NS, client_look_due);
}

/* ---- Links ---- */

static struct rcm_link *link_by_gid(struct rcm_sa *sa, const struct rcm_gid *gid)
{
	struct rcm_link *link;

	LIST_FOREACH(link, &sa->links, entry)
		if (!memcmp(&link->way.port.gid, gid, sizeof(*gid)))
			return link;
	return NULL;
}

static void link_free(struct rcm_sa *sa, struct rcm_link *link)
{
	LIST_REMOVE(link, entry);
	sa->link_count--;
	rcm_link_done(link);
	free(link);
}

/* Ports come and go: one that has no question and no callback under way makes room for another. */
static int client_make_room(struct rcm_sa *sa)
{
	struct rcm_link *link;

	if (sa->link_count < RCM_SA_PORTS_MAX)
		return 0;
	LIST_FOREACH(link, &sa->links, entry) {
		if (!link->active) {
			link_free(sa, link);
			return 0;
		}
	}
	return -EMFILE;
}

/* It is known by the GID that it is asked by, which may be any of the port's. */
static int link_new(struct rcm_sa *sa, const struct rcm_gid *gid, struct rcm_link **ret_link)
{
	struct rcm_link *link;
	int ret = client_make_room(sa);

	if (ret)
		return ret;
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	rcm_link_init(link, sa->loop, sa->umad, gid, &sa->stats);
	LIST_INSERT_HEAD(&sa->links, link, entry);
	sa->link_count++;
	*ret_link = link;
	return 0;
}

/* The link of the port, opened. One that can't be stays until another wants its place. */
static int link_get(struct rcm_sa *sa, const struct rcm_gid *gid, struct rcm_link **ret_link)
{
	struct rcm_link *link = link_by_gid(sa, gid);
	int ret;

	if (!link) {
		ret = link_new(sa, gid, &link);
		if (ret)
			return ret;
	}
	ret = rcm_link_open(link);
	if (!ret)
		*ret_link = link;
	return ret;
}

static void client_tell(struct rcm_sa_query *query, const struct rcm_sa_answer *answer)
{
	rcm_sa_done_fn *done = query->done;
	void *arg = query->arg;

	LIST_REMOVE(query, entry);
	free(query);
	done(arg, answer);
}

/* Without records. */
static void tell_outcome(struct rcm_sa_query *query, const struct rcm_txn_outcome *outcome)
{
	client_tell(query, &(struct rcm_sa_answer){ .status = outcome->status, .mad_status = outcome->mad_status,
						 .late = outcome->late, .too_large = outcome->too_large,
						 .text = outcome->text });
}

/* The first of the records, as many as a list may have; false where one wasn't asked for. */
static bool records_read(const struct rcm_sa_service_query *query, const struct rcm_wire_answer *answer,
			 struct rcm_sa_service_record *records, size_t count)
{
	for (size_t i = 0; i < answer->count; i++) {
		const uint8_t *bytes = answer->records + i * answer->stride;

		if (!rcm_wire_service_matches(query, bytes))
			return false;
		if (i < count)
			rcm_wire_service_record(bytes, &records[i]);
	}
	return true;
}

static void client_service_done(struct rcm_link_txn *txn, const struct rcm_txn_outcome *outcome)
{
	struct rcm_sa_query *query = rcm_container(txn, struct rcm_sa_query, txn);
	struct rcm_sa_service_record *records = NULL;
	size_t most = query->service.most ? query->service.most : RCM_RESULTS_MAX;
	size_t count = outcome->answer.count < most ? outcome->answer.count : most;
	struct rcm_sa_answer answer = { .count = (unsigned)count, .total = (unsigned)outcome->answer.count };

	if (outcome->status) {
		tell_outcome(query, outcome);
		return;
	}
	records = calloc(count, sizeof(*records));
	if (!records)
		answer = (struct rcm_sa_answer){ .status = -ENOMEM };
	else if (!records_read(&query->service, &outcome->answer, records, count))
		answer = (struct rcm_sa_answer){ .status = -EIO, .text = "the SA sent a record not asked for" };
	else
		answer.services = records;
	client_tell(query, &answer);
	free(records);
}

static bool paths_match(const struct rcm_sa_path_query *query, const struct rcm_wire_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++)
		if (!rcm_wire_path_matches(query, answer->records + i * answer->stride))
			return false;
	return true;
}

/* One after the other, whatever the SA has between them; NULL without memory. */
static uint8_t *paths_pack(const struct rcm_wire_answer *answer)
{
	uint8_t *packed = calloc(answer->count, RCM_PATH_RECORD_SIZE);

	for (size_t i = 0; packed && i < answer->count; i++)
		memcpy(packed + i * RCM_PATH_RECORD_SIZE, answer->records + i * answer->stride, RCM_PATH_RECORD_SIZE);
	return packed;
}

static void client_path_done(struct rcm_link_txn *txn, const struct rcm_txn_outcome *outcome)
{
	struct rcm_sa_query *query = rcm_container(txn, struct rcm_sa_query, txn);
	struct rcm_sa_answer answer = { .count = (unsigned)outcome->answer.count,
					.total = (unsigned)outcome->answer.count,
					.paths = (const uint8_t (*)[64])outcome->answer.records };
	uint8_t *packed = NULL;

	if (outcome->status) {
		tell_outcome(query, outcome);
		return;
	}
	if (!paths_match(&query->path, &outcome->answer)) {
		answer = (struct rcm_sa_answer){ .status = -EIO, .text = "the SA sent a path not asked for" };
	} else if (outcome->answer.stride != RCM_PATH_RECORD_SIZE) {
		packed = paths_pack(&outcome->answer);
		answer.paths = (const uint8_t (*)[64])packed;
		if (!packed)
			answer = (struct rcm_sa_answer){ .status = -ENOMEM };
	}
	client_tell(query, &answer);
	free(packed);
}

static void client_publish_done(struct rcm_link_txn *txn, const struct rcm_txn_outcome *outcome)
{
	tell_outcome(rcm_container(txn, struct rcm_sa_query, txn), outcome);
}

static int client_query_new(struct rcm_sa *sa, const struct rcm_gid *port, rcm_sa_done_fn *done, void *arg,
			    struct rcm_link **ret_link, struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query;
	int ret = link_get(sa, port, ret_link);

	if (ret)
		return ret;
	query = rcm_zalloc(sizeof(*query));
	if (!query)
		return -ENOMEM;
	query->done = done;
	query->arg = arg;
	LIST_INSERT_HEAD(&sa->queries, query, entry);
	if (sa->look_timer.state == RCM_TIMER_IDLE)
		rcm_timer_start(sa->loop, &sa->look_timer, rcm_clock_now() + LOOK_NS, client_look_due);
	*ret_query = query;
	return 0;
}

static int client_service(struct rcm_sa *sa, const struct rcm_sa_service_query *q, rcm_sa_done_fn *done, void *arg,
			  struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query;
	struct rcm_link *link;
	int ret = client_query_new(sa, &q->port, done, arg, &link, &query);

	if (ret)
		return ret;
	query->service = *q;
	rcm_wire_ask_service(q, query->txn.txn.mad);
	/* Who asks for a record that is its own has to know at once that a new SM doesn't have it. */
	query->txn.txn.renews = !(q->by_id && q->by_gid && q->by_pkey);
	*ret_query = query;
	rcm_link_ask(link, &query->txn, q->deadline, client_service_done);
	return 0;
}

static int client_path(struct rcm_sa *sa, const struct rcm_sa_path_query *q, rcm_sa_done_fn *done, void *arg,
		       struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query;
	struct rcm_link *link;
	int ret = client_query_new(sa, &q->port, done, arg, &link, &query);

	if (ret)
		return ret;
	query->path = *q;
	rcm_wire_ask_path(q, query->txn.txn.mad);
	*ret_query = query;
	rcm_link_ask(link, &query->txn, q->deadline, client_path_done);
	return 0;
}

static int client_publish(struct rcm_sa *sa, const struct rcm_sa_publication *p, rcm_sa_done_fn *done, void *arg,
			  struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query;
	struct rcm_link *link;
	int ret = client_query_new(sa, &p->port, done, arg, &link, &query);

	if (ret)
		return ret;
	rcm_wire_publish(p, query->txn.txn.mad);
	*ret_query = query;
	rcm_link_ask(link, &query->txn, p->deadline, client_publish_done);
	return 0;
}

static void client_cancel(struct rcm_sa *sa, struct rcm_sa_query *query)
{
	(void)sa;
	rcm_link_cancel(&query->txn);
	LIST_REMOVE(query, entry);
	free(query);
}

static void client_stats(struct rcm_sa *sa, struct rcm_sa_stats *ret_stats)
{
	*ret_stats = sa->stats;
}

static void client_close(struct rcm_sa *sa)
{
	struct rcm_link *link, *next;
	struct rcm_sa_query *query;

	if (!sa)
		return;
	while ((query = LIST_FIRST(&sa->queries))) {
		rcm_link_cancel(&query->txn);
		LIST_REMOVE(query, entry);
		free(query);
	}
	for (link = LIST_FIRST(&sa->links); link; link = next) {
		next = LIST_NEXT(link, entry);
		link_free(sa, link);
	}
	rcm_timer_stop(sa->loop, &sa->look_timer);
	free(sa);
}

static void client_abandon(struct rcm_sa *sa)
{
	struct rcm_sa_query *query;
	struct rcm_link *link;

	if (!sa)
		return;
	while ((query = LIST_FIRST(&sa->queries))) {
		LIST_REMOVE(query, entry);
		free(query);
	}
	while ((link = LIST_FIRST(&sa->links))) {
		LIST_REMOVE(link, entry);
		rcm_link_abandon(link);
		free(link);
	}
	free(sa);
}

const struct rcm_sa_ops rcm_sa_umad = {
	.name = "umad",
	.open = client_open,
	.service = client_service,
	.path = client_path,
	.publish = client_publish,
	.cancel = client_cancel,
	.look = client_look,
	.stats = client_stats,
	.close = client_close,
	.abandon = client_abandon,
};
