/* SPDX-License-Identifier: BSD-2-Clause */
/* A service by its SRV records. */
#include "dns/srv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "base/err.h"
#include "base/log.h"
#include "dns/eai.h"
#include "dns/targets.h"
#include "loop/timer.h"

struct srv;

/* A target that is asked about. */
struct srv_host {
	struct srv *srv;
	struct rcm_target *target;
	struct rcm_dns_lookup *lookup;		/* NULL: not under way */
	bool want;				/* no memory for what the hosts file has */
};

struct srv {
	struct rcm_dns_lookup base;
	LIST_ENTRY(srv) entry;
	struct rcm_srv_list *list;
	struct rcm_dns_lookup *asked;		/* for the records; NULL: it is over */
	struct rcm_timer timer;			/* until the silent are waited for */
	struct rcm_targets targets;
	struct srv_host *hosts;			/* one for each target */
	unsigned next, out;			/* the one to be asked about next; those under way */
	char name[RCM_NODE_MAX + 2];
};

struct rcm_srv_list {
	struct rcm_loop *loop;
	const struct rcm_srv_ops *ops;
	struct rcm_dns *dns;
	LIST_HEAD(, srv) all;
};

/* ---- Its life ---- */

static void srv_free(struct srv *srv)
{
	LIST_REMOVE(srv, entry);
	rcm_timer_stop(srv->list->loop, &srv->timer);
	rcm_targets_clear(&srv->targets);
	free(srv->hosts);
	free(srv);
}

static void srv_stop(struct rcm_dns_lookup **lookup)
{
	if (*lookup)
		(*lookup)->ops->cancel(*lookup);
	*lookup = NULL;
}

static void srv_end(struct srv *srv)
{
	srv_stop(&srv->asked);
	for (unsigned i = 0; i < srv->next; i++)
		srv_stop(&srv->hosts[i].lookup);
	srv_free(srv);
}

static void srv_cancel(struct rcm_dns_lookup *lookup)
{
	srv_end(rcm_container(lookup, struct srv, base));
}

/* ---- What is told ---- */

static void srv_fail(struct srv *srv, int status, int code, uint32_t ttl, const char *text)
{
	const struct rcm_dns_answer answer = { .status = status, .code = code, .ttl = ttl, .text = text };

	srv->base.done(srv->base.arg, &answer);
	srv_end(srv);
}

static void srv_fail_for_us(struct srv *srv, enum rcm_dns_verdict verdict)
{
	srv_fail(srv, rcm_verdict_errno(verdict), rcm_verdict_eai(verdict), 0, rcm_verdict_text(verdict));
}

/* All is known, or nobody waits for the rest: then it isn't kept. */
static void srv_conclude(struct srv *srv)
{
	bool all = srv->next == srv->targets.count && !srv->out;

	rcm_info("dns: SRV \"%s\": %u of %u targets have addresses", srv->name, srv->targets.found,
		 srv->targets.count);
	rcm_targets_tell(&srv->targets, all ? srv->targets.ttl : 0, srv->name, srv->base.done, srv->base.arg);
	srv_end(srv);
}

static bool srv_partial(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	const struct srv *srv = rcm_container(lookup, struct srv, base);

	if (!srv->targets.found)
		return false;
	rcm_targets_tell(&srv->targets, 0, srv->name, done, arg);
	return true;
}

/* ---- Targets ---- */

static void srv_go_on(struct srv *srv);

static void srv_host_answered(void *arg, const struct rcm_dns_answer *answer)
{
	struct srv_host *host = arg;
	struct srv *srv = host->srv;

	host->lookup = NULL;
	srv->out--;
	/* This process lacks something: half an answer is none, as who asks could not tell. */
	if (rcm_is_want(answer->status))
		srv_fail(srv, answer->status, answer->code, 0, answer->text);
	else if (!rcm_target_end(host->target, answer))
		srv_fail_for_us(srv, RCM_DNS_NOMEM);
	else
		srv_go_on(srv);
}

static struct rcm_dns_query srv_host_query(const struct srv_host *host)
{
	return (struct rcm_dns_query){
		.name = host->target->name, .family = host->target->family, .source = host->srv->base.source,
		.full = true,
	};
}

/* 0, or -errno. */
static int srv_host_ask(struct srv_host *host)
{
	const struct rcm_dns_query query = srv_host_query(host);
	struct rcm_srv_list *list = host->srv->list;
	int ret;

	if (host->target->over)
		return 0;
	ret = list->ops->host(list->dns, &query, srv_host_answered, host, &host->lookup);
	if (!ret)
		host->srv->out++;
	return ret;
}

static void srv_wait_over(struct rcm_timer *timer)
{
	srv_conclude(rcm_container(timer, struct srv, timer));
}

/* Asks about as many as may be; waits, or ends. */
static void srv_go_on(struct srv *srv)
{
	struct rcm_loop *loop = srv->list->loop;
	int ret = 0;

	while (!ret && srv->next < srv->targets.count && srv->out < RCM_SRV_AT_ONCE)
		ret = srv_host_ask(&srv->hosts[srv->next++]);
	if (ret)
		srv_fail_for_us(srv, ret == -ENOMEM ? RCM_DNS_NOMEM : RCM_DNS_NOFILE);
	else if (!srv->out)
		srv_conclude(srv);
	else if (srv->targets.found)
		rcm_timer_start(loop, &srv->timer, loop->now + RCM_SRV_WAIT_MS * RCM_NS_PER_MS, srv_wait_over);
}

/* ---- Records ---- */

/* What the hosts file says counts until it changes, which is seen then. */
static void srv_host_is_here(void *arg, const struct rcm_dns_answer *answer)
{
	struct srv_host *host = arg;

	host->target->over = !answer->status;
	host->want = !answer->status && !rcm_target_add(host->target, answer->addresses, answer->count);
}

/* What is known of a target before anybody is asked. False: no memory. */
static bool srv_host_look(struct srv_host *host, const struct rcm_dns_answer *answer)
{
	const struct rcm_dns_query query = srv_host_query(host);
	struct rcm_srv_list *list = host->srv->list;

	list->ops->host_now(list->dns, &query, srv_host_is_here, host);
	if (host->want)
		return false;
	if (host->target->over || !list->ops->extras_count(list->dns, query.source))
		return true;
	return rcm_target_take_extras(host->target, answer);
}

static bool srv_take(struct srv *srv, const struct rcm_dns_answer *answer)
{
	if (!rcm_targets_take(&srv->targets, answer, srv->base.family))
		return false;
	srv->hosts = calloc(srv->targets.count, sizeof(*srv->hosts));
	if (!srv->hosts)
		return false;
	for (unsigned i = 0; i < srv->targets.count; i++) {
		srv->hosts[i] = (struct srv_host){ .srv = srv, .target = &srv->targets.targets[i] };
		if (!srv_host_look(&srv->hosts[i], answer))
			return false;
	}
	return true;
}

static void srv_answered(void *arg, const struct rcm_dns_answer *answer)
{
	struct srv *srv = arg;

	srv->asked = NULL;
	if (answer->status)
		srv_fail(srv, answer->status, answer->code, answer->ttl, answer->text);
	else if (!srv_take(srv, answer))
		srv_fail_for_us(srv, RCM_DNS_NOMEM);
	else
		srv_go_on(srv);
}

/* ---- All of them ---- */

int rcm_srv_start(struct rcm_srv_list *list, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup)
{
	static const struct rcm_lookup_ops ops = { .cancel = srv_cancel, .partial = srv_partial };
	struct rcm_dns_query own = *query;
	struct srv *srv;
	int ret;

	if (strlen(query->name) >= sizeof(srv->name))
		return -ENAMETOOLONG;
	srv = calloc(1, sizeof(*srv));
	if (!srv)
		return -ENOMEM;
	strcpy(srv->name, query->name);
	own.name = srv->name;
	rcm_lookup_init(&srv->base, &ops, &own, done, arg);
	srv->list = list;
	ret = list->ops->records(list->dns, &own, srv_answered, srv, &srv->asked);
	if (ret) {
		free(srv);
		return ret;
	}
	LIST_INSERT_HEAD(&list->all, srv, entry);
	*ret_lookup = &srv->base;
	return 0;
}

int rcm_srv_open(struct rcm_loop *loop, const struct rcm_srv_ops *ops, struct rcm_dns *dns,
		 struct rcm_srv_list **ret_list)
{
	struct rcm_srv_list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list->loop = loop;
	list->ops = ops;
	list->dns = dns;
	LIST_INIT(&list->all);
	*ret_list = list;
	return 0;
}

void rcm_srv_close(struct rcm_srv_list *list)
{
	if (!list)
		return;
	while (!LIST_EMPTY(&list->all))
		srv_free(LIST_FIRST(&list->all));
	free(list);
}
