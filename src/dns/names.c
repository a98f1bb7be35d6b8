/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by hosts file and name servers. */
#include "dns/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "dns/explain.h"
#include "dns/lookup.h"
#include "dns/search.h"
#include "dns/srcaddr.h"
#include "loop/timer.h"

enum name_state {
	NAME_FRESH,		/* not looked at yet */
	NAME_WAITING,		/* for a place at a name server */
	NAME_ASKED,
	NAME_STATES
};

struct name {
	struct rcm_dns_lookup base;
	TAILQ_ENTRY(name) entry;	/* of all of its state */
	struct rcm_names *names;
	struct rcm_resolv *resolv;
	struct rcm_families *families;	/* while NAME_ASKED */
	struct rcm_search search;
	uint32_t no_ttl;		/* the least that a "no" may be kept; UINT32_MAX: nobody said one */
	uint8_t step;			/* index into the steps of the configuration */
	uint8_t state;
	char text[];			/* the name */
};

TAILQ_HEAD(name_list, name);

struct rcm_names {
	struct rcm_loop *loop;
	const struct rcm_families_ops *families;
	struct rcm_servers servers;
	struct rcm_srcaddr *srcaddr;
	struct rcm_resolv *resolv;
	struct rcm_hosts *hosts;
	enum rcm_pick_step steps[RCM_PICK_STEPS];
	struct name_list lists[NAME_STATES];
	unsigned turns;			/* given to names that waited for a place */
	struct rcm_timer pump, newest;
	uint64_t newest_at;		/* when one beyond the window was asked about, */
	bool more_wait;			/* and whether others have come to wait since then */
};

/* ---- A name's life ---- */

static void names_pump(struct rcm_timer *timer);

/* In the turn's timers, those that can go on do. */
static void names_wake(struct rcm_names *names)
{
	if (names->pump.state == RCM_TIMER_IDLE)
		rcm_timer_start(names->loop, &names->pump, 0, names_pump);
}

static void names_have_room(void *arg)
{
	struct rcm_names *names = arg;

	if (!TAILQ_EMPTY(&names->lists[NAME_WAITING]))
		names_wake(names);
}

/* The one place where a name changes its state. One that has been asked about goes on before those that have not. */
static void name_move(struct name *name, enum name_state state)
{
	struct name_list *lists = name->names->lists;

	TAILQ_REMOVE(&lists[name->state], name, entry);
	if (name->state == NAME_ASKED && state == NAME_WAITING)
		TAILQ_INSERT_HEAD(&lists[state], name, entry);
	else
		TAILQ_INSERT_TAIL(&lists[state], name, entry);
	name->state = state;
}

static void name_free_families(struct name *name)
{
	struct rcm_families *families = name->families;

	name->families = NULL;
	name->names->families->free(families);
}

static void name_free(struct name *name)
{
	TAILQ_REMOVE(&name->names->lists[name->state], name, entry);
	name_free_families(name);
	rcm_resolv_put(name->resolv);
	free(name);
}

static void name_cancel(struct rcm_dns_lookup *lookup)
{
	name_free(rcm_container(lookup, struct name, base));
}

/* ---- What is told ---- */

static void name_deliver(struct name *name, const struct rcm_dns_answer *answer)
{
	rcm_dns_done_fn *done = name->base.done;
	void *arg = name->base.arg;

	done(arg, answer);
	name_free(name);
}

static void name_deliver_failure(struct name *name)
{
	const struct rcm_search *search = &name->search;
	enum rcm_dns_verdict verdict = search->known ? (enum rcm_dns_verdict)search->verdict : RCM_DNS_NXDOMAIN;
	struct rcm_dns_answer answer = {
		.status = rcm_verdict_errno(verdict), .code = rcm_verdict_eai(verdict),
		.ttl = name->no_ttl == UINT32_MAX ? 0 : name->no_ttl,
	};
	const struct rcm_explain explain = {
		.nobody = !name->step, .resolv = name->resolv, .known = search->known, .verdict = verdict,
		.server = search->server,
	};
	char text[RCM_TEXT_MAX];

	rcm_explain(&explain, text, sizeof(text));
	rcm_info("dns: \"%s\": %s", name->text, text);
	answer.text = text;
	name_deliver(name, &answer);
}

/* Whatever was found or told by others: nobody else can answer for us. */
static void name_fail_for_us(struct name *name, enum rcm_dns_verdict verdict)
{
	name->search = (struct rcm_search){ .known = true, .verdict = (uint8_t)verdict };
	name_deliver_failure(name);
}

static void names_sort(struct rcm_names *names, union rcm_dns_address *addresses, unsigned count)
{
	if (count > 1)
		rcm_srcaddr_follow(names->srcaddr);
	rcm_srcaddr_sort(names->srcaddr, addresses, count);
}

/* What was found, to whoever it is. missing: the family that isn't in it for its silence, or 0. */
static void name_tell(const struct name *name, int missing, uint32_t ttl, rcm_dns_done_fn *done, void *arg)
{
	const struct rcm_reply *reply = &name->families->reply;
	struct rcm_dns_answer answer = { .ttl = ttl, .count = reply->count, .canonname = reply->canonname,
					 .missing = missing };
	union rcm_dns_address *addresses = malloc(reply->count * sizeof(*addresses));
	char asked[RCM_SEARCH_NAME_MAX];

	if (!addresses) {
		answer = (struct rcm_dns_answer){ .status = rcm_verdict_errno(RCM_DNS_NOMEM),
						  .code = rcm_verdict_eai(RCM_DNS_NOMEM),
						  .text = rcm_verdict_text(RCM_DNS_NOMEM) };
		done(arg, &answer);
		return;
	}
	memcpy(addresses, reply->addresses, reply->count * sizeof(*addresses));
	if (name->base.family == AF_INET)
		rcm_sortlist_apply(&name->resolv->sortlist, addresses, reply->count);
	names_sort(name->names, addresses, reply->count);
	answer.addresses = addresses;
	rcm_search_print(&name->search, name->resolv, name->text, asked);
	if (!answer.canonname)
		answer.canonname = asked;
	if (missing)
		rcm_info("dns: \"%s\": no IPv%c addresses in time", name->text, missing == AF_INET ? '4' : '6');
	done(arg, &answer);
	free(addresses);
}

static bool name_partial(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	struct name *name = rcm_container(lookup, struct name, base);
	const struct rcm_families *families = name->families;

	if (!families || families->verdict != RCM_DNS_FOUND)
		return false;
	name_tell(name, families->reply.addresses[0].sa.sa_family == AF_INET ? AF_INET6 : AF_INET, 0, done, arg);
	return true;
}

/* ---- The steps ---- */

/* True: found and delivered. */
static bool name_look_in_hosts(struct name *name)
{
	struct rcm_dns_answer answer = { 0 };
	union rcm_dns_address *addresses;
	int found = rcm_hosts_find(name->names->hosts, name->text, name->base.family, &addresses, &answer.canonname);

	if (found < 0) {
		name_fail_for_us(name, RCM_DNS_NOMEM);
		return true;
	}
	if (!found)
		return false;
	names_sort(name->names, addresses, (unsigned)found);
	answer.addresses = addresses;
	answer.count = (unsigned)found;
	name_deliver(name, &answer);
	free(addresses);
	return true;
}

/* A "no" of a zone that doesn't say how long to keep it isn't kept (RFC 2308, section 5), nor one that half is a
 * failure. */
static void name_limit_no(struct name *name, const struct rcm_families *families)
{
	const struct rcm_reply *reply = &families->reply;
	uint32_t ttl = families->half || !reply->limited || reply->ttl == UINT32_MAX ? 0 : reply->ttl;

	if (ttl < name->no_ttl)
		name->no_ttl = ttl;
}

static void name_answered(struct rcm_families *families, void *arg)
{
	struct name *name = arg;

	if (families->verdict == RCM_DNS_FOUND) {
		name_tell(name, families->missing, families->half ? 0 : families->reply.ttl,
			  name->base.done, name->base.arg);
		name_free(name);
		return;
	}
	if (rcm_verdict_is_ours(families->verdict)) {
		name_fail_for_us(name, families->verdict);
		return;
	}
	name_limit_no(name, families);
	rcm_search_fail(&name->search, name->resolv, name->text, families->verdict, families->speaker);
	name_free_families(name);
	name_move(name, NAME_WAITING);
	names_wake(name->names);
}

/* 0: it is asked about; -ENOENT: no candidate is left; -EAGAIN: no room; other -errno. */
static int name_ask(struct name *name)
{
	struct rcm_names *names = name->names;
	char candidate[RCM_SEARCH_NAME_MAX];
	int ret = -ENOENT;

	if (!name->resolv)
		name->resolv = rcm_resolv_get(names->resolv);
	while (rcm_search_next(&name->search, name->resolv, name->text, candidate)) {
		ret = names->families->start(&names->servers, name->resolv, candidate, name->base.family,
					     name_answered, name, &name->families);
		if (ret != -EINVAL)
			break;
		rcm_search_fail(&name->search, name->resolv, name->text, RCM_DNS_NXDOMAIN, NULL);
		ret = -ENOENT;
	}
	if (!ret)
		name_move(name, NAME_ASKED);
	return ret;
}

static enum rcm_pick_step name_step(const struct name *name)
{
	static const enum rcm_pick_step servers[] = { RCM_PICK_DNS, RCM_PICK_END };
	static const enum rcm_pick_step hosts[] = { RCM_PICK_FILES, RCM_PICK_END };
	const enum rcm_pick_step *steps = name->base.source == RCM_DNS_SERVERS ? servers :
					  name->base.source == RCM_DNS_HOSTS ? hosts : name->names->steps;

	return name->step < RCM_PICK_STEPS ? steps[name->step] : RCM_PICK_END;
}

/* Takes a name at its DNS step on: 0: it is in good hands, or over; -ENOENT: to the next step; -EAGAIN: no room. */
static int name_go_to_servers(struct name *name)
{
	int ret = name_ask(name);

	if (!ret || ret == -ENOENT || ret == -EAGAIN)
		return ret;
	name_fail_for_us(name, ret == -EMFILE ? RCM_DNS_NOFILE : RCM_DNS_NOMEM);
	return 0;
}

/* Takes a name as far as it goes; -EAGAIN: to a name server without room for it. */
static int name_advance(struct name *name, bool may_ask)
{
	int ret;

	for (;; name->step++) {
		switch (name_step(name)) {
		case RCM_PICK_FILES:
			if (name_look_in_hosts(name))
				return 0;
			break;
		case RCM_PICK_DNS:
			ret = may_ask ? name_go_to_servers(name) : -EAGAIN;
			if (ret != -ENOENT)
				return ret;
			break;
		case RCM_PICK_END:
			name_deliver_failure(name);
			return 0;
		}
	}
}

/* Whose turn it is to get a place; NULL: nobody waits. All that came before may be of a kind that is never answered. */
static struct name *names_next(const struct rcm_names *names)
{
	const struct name_list *waiting = &names->lists[NAME_WAITING];

	return names->turns % RCM_DNS_NEWEST ? TAILQ_FIRST(waiting) : TAILQ_LAST(waiting, name_list);
}

static void names_newest_due(struct rcm_timer *timer);

/* Those in front of it may be of a kind that is never answered: it doesn't wait until they lose their places. */
static void names_ask_newest(struct rcm_names *names)
{
	struct name *newest = TAILQ_LAST(&names->lists[NAME_WAITING], name_list);
	uint64_t due = names->newest_at + RCM_DNS_NEWEST_US * RCM_NS_PER_MS / 1000;

	if (!newest || !names->more_wait)
		return;
	if (due > names->loop->now) {
		if (names->newest.state == RCM_TIMER_IDLE)
			rcm_timer_start(names->loop, &names->newest, due, names_newest_due);
		return;
	}
	names->more_wait = false;
	names->newest_at = names->loop->now;
	names->servers.beyond = RCM_DNS_WINDOW_MIN;
	name_advance(newest, true);
	names->servers.beyond = 0;
}

static void names_newest_due(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, newest);

	names_ask_newest(names);
	names->families->flush(&names->servers);
}

/* What needs no name server waits for nobody; who does waits in order, but for the share of the newest. */
static void names_pump(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, pump);
	struct name_list *waiting = &names->lists[NAME_WAITING];
	struct name *name;

	while ((name = names_next(names)) && !name_advance(name, true))
		names->turns++;
	while ((name = TAILQ_FIRST(&names->lists[NAME_FRESH])))
		if (name_advance(name, TAILQ_EMPTY(waiting))) {
			name_move(name, NAME_WAITING);
			names->more_wait = true;
		}
	names_ask_newest(names);
	names->families->flush(&names->servers);
}

/* ---- All of them ---- */

int rcm_names_open(struct rcm_loop *loop, const struct rcm_families_ops *families, struct rcm_names **ret_names)
{
	struct rcm_names *names = calloc(1, sizeof(*names));
	int ret;

	if (!names)
		return -ENOMEM;
	names->loop = loop;
	names->families = families;
	rcm_servers_init(&names->servers, loop, names_have_room, names);
	for (int i = 0; i < NAME_STATES; i++)
		TAILQ_INIT(&names->lists[i]);
	ret = rcm_srcaddr_open(&names->srcaddr);
	if (ret) {
		rcm_names_close(names);
		return ret;
	}
	rcm_srcaddr_watch(names->srcaddr, loop);
	*ret_names = names;
	return 0;
}

static bool name_is_at_lost_server(const struct name *name, const struct rcm_resolv *resolv)
{
	if (!name->resolv)
		return false;
	for (unsigned i = 0; i < name->resolv->servers_count; i++)
		if (!rcm_resolv_has(resolv, &name->resolv->servers[i]))
			return true;
	return false;
}

/* As if nobody had been asked about it yet. */
static void name_begin_again(struct name *name)
{
	name_free_families(name);
	rcm_resolv_put(name->resolv);
	name->resolv = NULL;
	name->search = (struct rcm_search){ 0 };
	name->no_ttl = UINT32_MAX;
	if (name->state == NAME_ASKED)
		name_move(name, NAME_WAITING);
}

static void names_leave_lost_servers(struct rcm_names *names, const struct rcm_resolv *resolv)
{
	static const enum name_state states[] = { NAME_WAITING, NAME_ASKED };
	struct name *name, *before;

	for (int i = 0; i < 2; i++) {
		for (name = TAILQ_LAST(&names->lists[states[i]], name_list); name; name = before) {
			before = TAILQ_PREV(name, name_list, entry);
			if (name_is_at_lost_server(name, resolv))
				name_begin_again(name);
		}
	}
	names_wake(names);
	rcm_servers_keep(&names->servers, resolv);
}

void rcm_names_configure(struct rcm_names *names, const enum rcm_pick_step steps[RCM_PICK_STEPS],
			 struct rcm_resolv *resolv, struct rcm_hosts *hosts)
{
	memcpy(names->steps, steps, sizeof(names->steps));
	if (resolv && names->resolv && rcm_resolv_is_same(names->resolv, resolv)) {
		rcm_resolv_put(resolv);
	} else if (resolv) {
		rcm_resolv_put(names->resolv);
		names->resolv = resolv;
		names_leave_lost_servers(names, resolv);
	}
	if (hosts) {
		rcm_hosts_free(names->hosts);
		names->hosts = hosts;
	}
}

void rcm_names_rank(struct rcm_names *names, const struct rcm_policy *policy)
{
	rcm_srcaddr_rank(names->srcaddr, policy);
}

int rcm_names_start(struct rcm_names *names, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		    struct rcm_dns_lookup **ret_lookup)
{
	size_t len = strlen(query->name) + 1;
	struct name *name;

	if (len > RCM_NODE_MAX + 2)
		return -ENAMETOOLONG;
	name = calloc(1, sizeof(*name) + len);
	if (!name)
		return -ENOMEM;
	rcm_lookup_init(&name->base, query, done, arg);
	name->base.cancel = name_cancel;
	name->base.partial = name_partial;
	name->names = names;
	name->no_ttl = UINT32_MAX;
	memcpy(name->text, query->name, len);
	TAILQ_INSERT_TAIL(&names->lists[NAME_FRESH], name, entry);
	names_wake(names);
	*ret_lookup = &name->base;
	return 0;
}

void rcm_names_close(struct rcm_names *names)
{
	if (!names)
		return;
	for (int i = 0; i < NAME_STATES; i++)
		while (!TAILQ_EMPTY(&names->lists[i]))
			name_free(TAILQ_FIRST(&names->lists[i]));
	rcm_servers_done(&names->servers);
	rcm_timer_stop(names->loop, &names->pump);
	rcm_timer_stop(names->loop, &names->newest);
	rcm_srcaddr_close(names->srcaddr);
	rcm_resolv_put(names->resolv);
	rcm_hosts_free(names->hosts);
	free(names);
}

/* What it has open was closed at the fork, the loop's own descriptor, too: so there is nothing shared to be touched. */
void rcm_names_abandon(struct rcm_names *names)
{
	rcm_names_close(names);
}
