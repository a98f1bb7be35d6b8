/* SPDX-License-Identifier: BSD-2-Clause */
/* All names under way: who gets the next place at a name server, and the configuration they go by. */
#include "dns/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/limits.h"
#include "dns/name.h"
#include "loop/timer.h"

struct rcm_names {
	struct rcm_loop *loop;
	struct rcm_sources sources;
	unsigned turns;			/* given to names that waited for a place */
	struct rcm_timer pump, newest;
	uint64_t newest_at;		/* when one beyond the window was asked about, */
	bool more_wait;			/* and whether others have come to wait since then */
};

/* ---- Places ---- */

static void names_pump(struct rcm_timer *timer);

/* In the turn's timers, those that can go on do. */
static void names_wake(struct rcm_names *names)
{
	if (names->pump.state == RCM_TIMER_IDLE)
		rcm_timer_start(names->loop, &names->pump, 0, names_pump);
}

static void names_wake_of(struct rcm_sources *sources)
{
	names_wake(rcm_container(sources, struct rcm_names, sources));
}

static void names_have_room(void *arg)
{
	struct rcm_names *names = arg;

	if (!TAILQ_EMPTY(&names->sources.lists[RCM_NAME_WAITING]))
		names_wake(names);
}

/* Whose turn it is to get a place; NULL: nobody waits. All that came before may be of a kind that is never answered. */
static struct rcm_name *names_next(const struct rcm_names *names)
{
	const struct rcm_name_list *waiting = &names->sources.lists[RCM_NAME_WAITING];

	return names->turns % RCM_DNS_NEWEST ? TAILQ_FIRST(waiting) : TAILQ_LAST(waiting, rcm_name_list);
}

static void names_newest_due(struct rcm_timer *timer);

/* Those in front of it may be of a kind that is never answered: it doesn't wait until they lose their places. */
static void names_ask_newest(struct rcm_names *names)
{
	struct rcm_name *newest = TAILQ_LAST(&names->sources.lists[RCM_NAME_WAITING], rcm_name_list);
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
	names->sources.servers.beyond = RCM_DNS_WINDOW_MIN;
	rcm_name_advance(newest, true);
	names->sources.servers.beyond = 0;
}

static void names_newest_due(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, newest);

	names_ask_newest(names);
	names->sources.families->flush(&names->sources.servers);
}

/* What needs no name server waits for nobody; who does waits in order, but for the share of the newest. */
static void names_pump(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, pump);
	struct rcm_name_list *waiting = &names->sources.lists[RCM_NAME_WAITING];
	struct rcm_name *name;

	while ((name = names_next(names)) && !rcm_name_advance(name, true))
		names->turns++;
	while ((name = TAILQ_FIRST(&names->sources.lists[RCM_NAME_FRESH])))
		if (rcm_name_advance(name, TAILQ_EMPTY(waiting))) {
			rcm_name_move(name, RCM_NAME_WAITING);
			names->more_wait = true;
		}
	names_ask_newest(names);
	names->sources.families->flush(&names->sources.servers);
}

/* ---- All of them ---- */

int rcm_names_open(struct rcm_loop *loop, const struct rcm_families_ops *families, struct rcm_names **ret_names)
{
	struct rcm_names *names = calloc(1, sizeof(*names));
	int ret;

	if (!names)
		return -ENOMEM;
	names->loop = loop;
	names->sources.families = families;
	names->sources.wake = names_wake_of;
	rcm_servers_init(&names->sources.servers, loop, names_have_room, names);
	for (int i = 0; i < RCM_NAME_STATES; i++)
		TAILQ_INIT(&names->sources.lists[i]);
	ret = rcm_srcaddr_open(&names->sources.srcaddr);
	if (ret) {
		rcm_names_close(names);
		return ret;
	}
	rcm_srcaddr_watch(names->sources.srcaddr, loop);
	*ret_names = names;
	return 0;
}

static void names_leave_lost_servers(struct rcm_names *names, const struct rcm_resolv *resolv)
{
	static const enum rcm_name_state states[] = { RCM_NAME_WAITING, RCM_NAME_ASKED };
	struct rcm_name *name, *before;

	for (int i = 0; i < 2; i++) {
		for (name = TAILQ_LAST(&names->sources.lists[states[i]], rcm_name_list); name; name = before) {
			before = TAILQ_PREV(name, rcm_name_list, entry);
			if (rcm_name_is_at_lost_server(name, resolv))
				rcm_name_begin_again(name);
		}
	}
	names_wake(names);
	rcm_servers_keep(&names->sources.servers, resolv);
}

void rcm_names_configure(struct rcm_names *names, const enum rcm_pick_step steps[RCM_PICK_STEPS],
			 struct rcm_resolv *resolv, struct rcm_hosts *hosts)
{
	memcpy(names->sources.steps, steps, sizeof(names->sources.steps));
	if (resolv && names->sources.resolv && rcm_resolv_is_same(names->sources.resolv, resolv)) {
		rcm_resolv_put(resolv);
	} else if (resolv) {
		rcm_resolv_put(names->sources.resolv);
		names->sources.resolv = resolv;
		names_leave_lost_servers(names, resolv);
	}
	if (hosts) {
		rcm_hosts_free(names->sources.hosts);
		names->sources.hosts = hosts;
	}
}

void rcm_names_rank(struct rcm_names *names, const struct rcm_policy *policy)
{
	rcm_srcaddr_rank(names->sources.srcaddr, policy);
}

int rcm_names_start(struct rcm_names *names, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		    struct rcm_dns_lookup **ret_lookup)
{
	struct rcm_name *name;
	int ret;

	ret = rcm_name_new(&names->sources, query, done, arg, &name);
	if (ret)
		return ret;
	names_wake(names);
	*ret_lookup = &name->base;
	return 0;
}

void rcm_names_close(struct rcm_names *names)
{
	if (!names)
		return;
	for (int i = 0; i < RCM_NAME_STATES; i++)
		while (!TAILQ_EMPTY(&names->sources.lists[i]))
			rcm_name_free(TAILQ_FIRST(&names->sources.lists[i]));
	rcm_servers_done(&names->sources.servers);
	rcm_timer_stop(names->loop, &names->pump);
	rcm_timer_stop(names->loop, &names->newest);
	rcm_srcaddr_close(names->sources.srcaddr);
	rcm_resolv_put(names->sources.resolv);
	rcm_hosts_free(names->sources.hosts);
	free(names);
}

/* What it has open was closed at the fork, the loop's own descriptor, too: so there is nothing shared to be touched. */
void rcm_names_abandon(struct rcm_names *names)
{
	rcm_names_close(names);
}
