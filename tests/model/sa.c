/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports, and an SA that answers by the name of the service. In the place of sa/port.c and sa/umad.c. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "loop/timer.h"
#include "model.h"
#include "sa/sa.h"

enum { RECORDS_MAX = 8 };

struct rcm_sa {
	struct rcm_loop *loop;
	LIST_HEAD(, rcm_sa_query) queries;
};

struct rcm_sa_query {
	LIST_ENTRY(rcm_sa_query) entry;
	struct rcm_sa *sa;
	struct rcm_timer timer;
	rcm_sa_done_fn *done;
	void *arg;
	int status;
	unsigned records;
};

static atomic_uint under_way;

unsigned model_sa_under_way(void)
{
	return atomic_load(&under_way);
}

static void query_free(struct rcm_sa_query *query)
{
	rcm_timer_stop(query->sa->loop, &query->timer);
	LIST_REMOVE(query, entry);
	free(query);
	atomic_fetch_sub(&under_way, 1);
}

static void query_answer(struct rcm_timer *timer)
{
	struct rcm_sa_query *query = rcm_container(timer, struct rcm_sa_query, timer);
	struct rcm_sa_service_record records[RECORDS_MAX] = { 0 };
	struct rcm_sa_answer answer = { .status = query->status, .services = records };
	rcm_sa_done_fn *done = query->done;
	void *arg = query->arg;

	answer.count = answer.total = answer.status ? 0 : query->records;
	for (unsigned i = 0; i < answer.count; i++) {
		records[i].id = i + 1;
		records[i].gid = (struct rcm_gid){ { 0xfe, 0x80, [15] = (uint8_t)(100 + i) } };
	}
	query_free(query);
	done(arg, &answer);
}

static struct rcm_sa_query *query_new(struct rcm_sa *sa, rcm_sa_done_fn *done, void *arg)
{
	struct rcm_sa_query *query = calloc(1, sizeof(*query));

	if (!query)
		return NULL;
	query->sa = sa;
	query->done = done;
	query->arg = arg;
	LIST_INSERT_HEAD(&sa->queries, query, entry);
	atomic_fetch_add(&under_way, 1);
	return query;
}

static int sa_open(struct rcm_loop *loop, struct rcm_sa **ret_sa)
{
	*ret_sa = calloc(1, sizeof(**ret_sa));
	if (!*ret_sa)
		return -ENOMEM;
	(*ret_sa)->loop = loop;
	return 0;
}

static int sa_service(struct rcm_sa *sa, const struct rcm_sa_service_query *asked, rcm_sa_done_fn *done, void *arg,
		      struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query = query_new(sa, done, arg);

	if (!query)
		return -ENOMEM;
	*ret_query = query;
	if (!strcmp(asked->service_name, "none"))
		query->status = -ENOENT;
	else if (!strcmp(asked->service_name, "busy"))
		query->status = -EBUSY;
	else
		sscanf(asked->service_name, "rec%u", &query->records);
	if (strcmp(asked->service_name, "never") != 0)
		rcm_timer_start(sa->loop, &query->timer, 0, query_answer);
	return 0;
}

/* Nobody has a path. */
static int sa_path(struct rcm_sa *sa, const struct rcm_sa_path_query *asked, rcm_sa_done_fn *done, void *arg,
		   struct rcm_sa_query **ret_query)
{
	struct rcm_sa_query *query = query_new(sa, done, arg);

	(void)asked;
	if (!query)
		return -ENOMEM;
	*ret_query = query;
	query->status = -ENOENT;
	rcm_timer_start(sa->loop, &query->timer, 0, query_answer);
	return 0;
}

static void sa_cancel(struct rcm_sa *sa, struct rcm_sa_query *query)
{
	(void)sa;
	query_free(query);
}

static void sa_stats(struct rcm_sa *sa, struct rcm_sa_stats *ret_stats)
{
	(void)sa;
	*ret_stats = (struct rcm_sa_stats){ 0 };
}

static void sa_close(struct rcm_sa *sa)
{
	struct rcm_sa_query *query;

	if (!sa)
		return;
	while ((query = LIST_FIRST(&sa->queries)))
		query_free(query);
	free(sa);
}

static void sa_look(struct rcm_sa *sa)
{
	(void)sa;
}

const struct rcm_sa_ops rcm_sa_umad = {
	.name = "model", .open = sa_open, .service = sa_service, .path = sa_path, .cancel = sa_cancel, .stats = sa_stats,
	.look = sa_look, .close = sa_close, .abandon = sa_close,
};

/* ---- Ports ---- */

static void port_make(struct rcm_sa_port *port, uint8_t number)
{
	*port = (struct rcm_sa_port){ .device = "model0", .number = number, .infiniband = true, .active = true };
	port->gid = (struct rcm_gid){ { 0xfe, 0x80, [15] = number } };
}

int rcm_sa_ports(struct rcm_sa_port *ports, unsigned max)
{
	unsigned count = max < MODEL_GIDS ? max : MODEL_GIDS;

	for (unsigned i = 0; i < count; i++)
		port_make(&ports[i], (uint8_t)(i + 1));
	return (int)count;
}

int rcm_sa_port_by_gid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	uint8_t number = gid->raw[15];

	if (number < 1 || number > MODEL_GIDS)
		return -ENODEV;
	port_make(ret_port, number);
	return 0;
}

bool rcm_sa_port_is_full_member(const struct rcm_gid *gid, uint16_t pkey)
{
	(void)gid;
	(void)pkey;
	return true;
}

int rcm_sa_umad_usable(const struct rcm_gid *port)
{
	(void)port;
	return 0;
}
