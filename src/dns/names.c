/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by hosts file and name servers. */
#include "dns/names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "dns/lookup.h"
#include "dns/reply.h"
#include "dns/srcaddr.h"
#include "loop/timer.h"

/*
 * A name that is unanswered for four times the usual round trip is taken to be one that will be slow: it waits on,
 * but no longer holds one of the places in flight that others wait for. So silent names hold up a live one by one
 * patience per window of them, and a server still never gets more than a window of new questions at once.
 */
#define PATIENCE_UNKNOWN (10 * RCM_NS_PER_MS)
#define PATIENCE_MIN (5 * RCM_NS_PER_MS)
#define PATIENCE_MAX (50 * RCM_NS_PER_MS)
enum { PATIENCE_TRIPS = 4, SMOOTHING = 8 };

enum state {
	WAITING,		/* for its first question, or the next */
	PLACED,			/* has a place in flight */
	OVERDUE			/* in flight, its place given up */
};

struct name {
	struct rcm_dns_lookup base;
	TAILQ_ENTRY(name) entry;	/* of waiting or placed */
	struct rcm_names *names;
	enum state state;
	unsigned step;			/* index into the steps of the configuration */
	struct rcm_resolv *resolv;
	unsigned candidate;		/* of the search list */
	enum rcm_search_kind kind;
	uint64_t asked_at;
	struct rcm_exchange exchange;
	struct rcm_timer other;		/* runs when one family was found and the other is missing */
	enum rcm_dns_verdict verdict;	/* of this candidate so far */
	enum rcm_dns_verdict worst;	/* what is told if no candidate is found */
	bool worst_known, worst_final;
	bool half;			/* one family's answer is missing for a failure */
	struct rcm_reply reply;
	union rcm_dns_address server, worst_server;	/* who said so; no family: nobody */
	char text[];			/* the name */
};

TAILQ_HEAD(name_list, name);

struct rcm_names {
	struct rcm_loop *loop;
	const struct rcm_cares_ops *questions;
	struct rcm_cares *cares;
	struct rcm_srcaddr *srcaddr;
	uint64_t followed_at;		/* turn of the loop */
	struct rcm_resolv *resolv;
	struct rcm_hosts *hosts;
	enum rcm_pick_step steps[RCM_PICK_STEPS];
	struct name_list waiting;	/* in order of start() */
	struct name_list placed;	/* in order of asking */
	struct name_list overdue;
	unsigned placed_count;
	uint64_t round_trip;		/* smoothed, ns; 0: unknown */
	struct rcm_timer pump;
	struct rcm_timer patience;
};

static struct name_list *list_of(struct name *name)
{
	struct rcm_names *names = name->names;

	return name->state == WAITING ? &names->waiting : name->state == PLACED ? &names->placed : &names->overdue;
}

static void pump(struct rcm_timer *timer);
static void patience_over(struct rcm_timer *timer);

/* Places have become free: in the turn's timers, those waiting get them. */
static void wake_pump(struct rcm_names *names)
{
	if (!TAILQ_EMPTY(&names->waiting))
		rcm_timer_start(names->loop, &names->pump, 0, pump);
}

static uint64_t patience(const struct rcm_names *names)
{
	uint64_t wait = PATIENCE_TRIPS * names->round_trip;

	if (!wait)
		return PATIENCE_UNKNOWN;
	return wait < PATIENCE_MIN ? PATIENCE_MIN : wait > PATIENCE_MAX ? PATIENCE_MAX : wait;
}

/* The one place where a name changes its state. */
static void move(struct name *name, enum state state)
{
	struct rcm_names *names = name->names;

	TAILQ_REMOVE(list_of(name), name, entry);
	names->placed_count -= name->state == PLACED;
	names->placed_count += state == PLACED;
	name->state = state;
	/* One that has been asked already goes on before those that have not. */
	if (state == WAITING)
		TAILQ_INSERT_HEAD(&names->waiting, name, entry);
	else
		TAILQ_INSERT_TAIL(list_of(name), name, entry);
}

static void name_free(struct name *name)
{
	struct rcm_names *names = name->names;

	names->questions->drop(&name->exchange);
	rcm_timer_stop(names->loop, &name->other);
	TAILQ_REMOVE(list_of(name), name, entry);
	names->placed_count -= name->state == PLACED;
	if (name->state != WAITING)
		wake_pump(names);
	rcm_resolv_put(name->resolv);
	rcm_reply_clear(&name->reply);
	free(name);
}

static void name_cancel(struct rcm_dns_lookup *lookup)
{
	name_free(rcm_container(lookup, struct name, base));
}

static void deliver(struct name *name, const struct rcm_dns_answer *answer)
{
	rcm_dns_done_fn *done = name->base.done;
	void *arg = name->base.arg;

	done(arg, answer);
	name_free(name);
}

static void sort(struct rcm_names *names, union rcm_dns_address *addresses, unsigned count)
{
	if (count > 1 && names->followed_at != names->loop->now) {
		rcm_srcaddr_follow(names->srcaddr);
		names->followed_at = names->loop->now;
	}
	rcm_srcaddr_sort(names->srcaddr, addresses, count);
}

static void deliver_addresses(struct name *name, union rcm_dns_address *addresses, unsigned count,
			      const char *canonname, uint32_t ttl)
{
	struct rcm_dns_answer answer = { .ttl = ttl, .count = count, .addresses = addresses, .canonname = canonname };

	sort(name->names, addresses, count);
	deliver(name, &answer);
}

static void write_address(const union rcm_dns_address *address, char *buf, size_t size)
{
	const void *bytes = address->sa.sa_family == AF_INET ? (const void *)&address->in.sin_addr :
							       (const void *)&address->in6.sin6_addr;

	if (!inet_ntop(address->sa.sa_family, bytes, buf, (socklen_t)size))
		*buf = '\0';
}

/* "name server 192.0.2.1 refused to answer (REFUSED)"; where none spoke, all that were asked are named. */
static void explain(const struct name *name, char *text, size_t size)
{
	const struct rcm_resolv *resolv = name->resolv;
	char address[INET6_ADDRSTRLEN];
	size_t len;

	if (!name->step)
		snprintf(text, size, "nsswitch.conf names no source of host names");
	else if (!resolv || !name->worst_known)
		snprintf(text, size, "the hosts file has no such name");
	if (!resolv && name->worst_known)
		snprintf(text, size, "the hosts file %s", rcm_verdict_text(name->worst));
	if (!resolv || !name->worst_known)
		return;
	len = (size_t)snprintf(text, size, "name server ");
	if (name->worst_server.sa.sa_family) {
		write_address(&name->worst_server, address, sizeof(address));
		len += (size_t)snprintf(text + len, size - len, "%s ", address);
	} else {
		for (unsigned i = 0; i < resolv->servers_count && len < size / 2; i++) {
			write_address(&resolv->servers[i], address, sizeof(address));
			len += (size_t)snprintf(text + len, size - len, "%s%s ", i ? "or " : "", address);
		}
	}
	snprintf(text + len, size - len, "%s", rcm_verdict_text(name->worst));
}

static void deliver_failure(struct name *name)
{
	enum rcm_dns_verdict verdict = name->worst_known ? name->worst : RCM_DNS_NXDOMAIN;
	struct rcm_dns_answer answer = { .status = rcm_verdict_errno(verdict), .code = rcm_verdict_eai(verdict) };
	char text[RCM_TEXT_MAX];

	explain(name, text, sizeof(text));
	rcm_info("dns: \"%s\": %s", name->text, text);
	answer.text = text;
	deliver(name, &answer);
}

/* Whatever was found or told by others: nobody else can answer for us. */
static void fail_for_us(struct name *name, enum rcm_dns_verdict verdict)
{
	name->worst = verdict;
	name->worst_known = true;
	memset(&name->worst_server, 0, sizeof(name->worst_server));
	deliver_failure(name);
}

static void deliver_reply(struct name *name, uint32_t ttl)
{
	char asked[RCM_SEARCH_NAME_MAX];
	const char *canonname = name->reply.canonname;
	size_t len;

	if (!canonname) {
		rcm_search_name(name->resolv, name->text, name->candidate, asked);
		len = strlen(asked);
		if (len > 1 && asked[len - 1] == '.')
			asked[len - 1] = '\0';
		canonname = asked;
	}
	deliver_addresses(name, name->reply.addresses, name->reply.count, canonname, ttl);
}

/* True: found and delivered. */
static bool look_in_hosts(struct name *name)
{
	union rcm_dns_address *addresses;
	const char *canonname;
	int found = rcm_hosts_find(name->names->hosts, name->text, name->base.family, &addresses, &canonname);

	if (found < 0) {
		fail_for_us(name, RCM_DNS_NOMEM);
		return true;
	}
	if (!found)
		return false;
	deliver_addresses(name, addresses, (unsigned)found, canonname, 0);
	free(addresses);
	return true;
}

/* As res_search(3) chooses what to tell: the failure of the name as it is where that was asked first, else "no address"
 * of any candidate, else a SERVFAIL, else the last. */
static bool is_told(const struct name *name, enum rcm_dns_verdict verdict)
{
	if (!name->worst_known)
		return true;
	if (name->worst_final || name->worst == RCM_DNS_NODATA)
		return false;
	return name->worst != RCM_DNS_SERVFAIL || verdict == RCM_DNS_NODATA;
}

/* SERVFAIL at one domain doesn't end the search, any other failure does, but for the name as it is. */
static void leave_candidate(struct name *name)
{
	enum rcm_dns_verdict verdict = name->verdict;
	bool hard = verdict > RCM_DNS_NODATA && verdict != RCM_DNS_SERVFAIL;

	if (is_told(name, verdict)) {
		name->worst = verdict;
		name->worst_server = name->server;
	}
	name->worst_known = true;
	name->worst_final |= name->candidate == 0 && name->kind == RCM_SEARCH_AS_IS;
	if (name->kind == RCM_SEARCH_DOMAIN && hard)
		name->candidate = rcm_search_last(name->resolv, name->text);
	else
		name->candidate++;
	name->verdict = RCM_DNS_NXDOMAIN;
}

static void half_over(struct rcm_timer *timer)
{
	struct name *name = rcm_container(timer, struct name, other);

	/* Without the other family this answer isn't one to keep. */
	deliver_reply(name, 0);
}

/* One family is there; the other gets the time of each server once, unless the caller would have given up on both. */
static void await_other(struct name *name)
{
	uint64_t wait = (uint64_t)name->resolv->timeout_ms * name->resolv->servers_count;
	uint64_t hint = name->base.timeout_ms;

	if (hint && hint / 2 < wait)
		wait = hint / 2;
	rcm_timer_start(name->names->loop, &name->other, name->names->loop->now + wait * RCM_NS_PER_MS, half_over);
}

static void take_answer(struct name *name, const struct rcm_cares_answer *answer)
{
	enum rcm_dns_verdict verdict = answer->verdict;

	if (verdict == RCM_DNS_FOUND)
		verdict = rcm_reply_add(&name->reply, answer->type, answer->bytes, answer->len);
	name->half |= verdict > RCM_DNS_NODATA && verdict != RCM_DNS_FOUND;
	if (verdict < name->verdict)
		return;
	name->verdict = verdict;
	if (answer->server)
		name->server = *answer->server;
	else
		memset(&name->server, 0, sizeof(name->server));
}

static void measure(struct name *name, enum rcm_dns_verdict verdict)
{
	struct rcm_names *names = name->names;
	uint64_t trip = names->loop->now - name->asked_at;

	if (rcm_verdict_is_ours(verdict) || (verdict >= RCM_DNS_UNREACHABLE && verdict <= RCM_DNS_CUT_TIMEOUT))
		return;
	if (names->round_trip)
		trip = names->round_trip - names->round_trip / SMOOTHING + trip / SMOOTHING;
	names->round_trip = trip ? trip : 1;
}

/* May be called while the question is being asked: nothing is asked from here, the pump does. */
static void answered(struct rcm_exchange *exchange, const struct rcm_cares_answer *answer, bool last)
{
	struct name *name = rcm_container(exchange, struct name, exchange);

	measure(name, answer->verdict);
	take_answer(name, answer);
	if (!last) {
		if (name->verdict == RCM_DNS_FOUND)
			await_other(name);
		return;
	}
	rcm_timer_stop(name->names->loop, &name->other);
	if (name->verdict == RCM_DNS_FOUND) {
		deliver_reply(name, name->half ? 0 : name->reply.ttl);
		return;
	}
	if (rcm_verdict_is_ours(name->verdict)) {
		fail_for_us(name, name->verdict);
		return;
	}
	leave_candidate(name);
	move(name, WAITING);
	wake_pump(name->names);
}

/* The next candidate that can be the name of a host: glibc takes no answer about another. False: none is left. */
static bool next_candidate(struct name *name, char candidate[RCM_SEARCH_NAME_MAX])
{
	for (;;) {
		name->kind = rcm_search_name(name->resolv, name->text, name->candidate, candidate);
		if (name->kind == RCM_SEARCH_END)
			return false;
		if (res_hnok(candidate))
			return true;
		name->verdict = RCM_DNS_NO_HOST;
		memset(&name->server, 0, sizeof(name->server));
		leave_candidate(name);
	}
}

/* 0: in flight, or ended already; -ENOENT: no candidate is left; -EAGAIN: no room; other -errno. */
static int ask(struct name *name)
{
	struct rcm_names *names = name->names;
	bool a = name->base.family != AF_INET6;
	bool aaaa = name->base.family != AF_INET;
	char candidate[RCM_SEARCH_NAME_MAX];

	if (!next_candidate(name, candidate))
		return -ENOENT;
	name->asked_at = names->loop->now;
	move(name, PLACED);
	rcm_reply_clear(&name->reply);
	name->half = false;
	name->exchange.answered = answered;
	return names->questions->ask(names->cares, name->resolv, candidate, a, aaaa, &name->exchange);
}

static enum rcm_pick_step step_of(const struct name *name)
{
	static const enum rcm_pick_step servers[] = { RCM_PICK_DNS, RCM_PICK_END };
	static const enum rcm_pick_step hosts[] = { RCM_PICK_FILES, RCM_PICK_END };
	const enum rcm_pick_step *steps = name->base.source == RCM_DNS_SERVERS ? servers :
					  name->base.source == RCM_DNS_HOSTS ? hosts : name->names->steps;

	return name->step < RCM_PICK_STEPS ? steps[name->step] : RCM_PICK_END;
}

/* Takes the first of those waiting as far as it goes; false: there is no room for it yet. */
static bool advance(struct name *name)
{
	int err;

	for (;; name->step++) {
		switch (step_of(name)) {
		case RCM_PICK_FILES:
			if (look_in_hosts(name))
				return true;
			break;
		case RCM_PICK_DNS:
			if (!name->resolv)
				name->resolv = rcm_resolv_get(name->names->resolv);
			err = ask(name);
			if (!err)
				return true;
			if (err == -EAGAIN) {
				move(name, WAITING);
				return false;
			}
			if (err != -ENOENT) {
				fail_for_us(name, err == -EMFILE ? RCM_DNS_NOFILE : RCM_DNS_NOMEM);
				return true;
			}
			break;
		case RCM_PICK_END:
			deliver_failure(name);
			return true;
		}
	}
}

static void watch_patience(struct rcm_names *names)
{
	struct name *oldest = TAILQ_FIRST(&names->placed);

	if (oldest && names->patience.state == RCM_TIMER_IDLE)
		rcm_timer_start(names->loop, &names->patience, oldest->asked_at + patience(names), patience_over);
}

static void pump(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, pump);

	while (names->placed_count < RCM_DNS_WINDOW && !TAILQ_EMPTY(&names->waiting)) {
		if (advance(TAILQ_FIRST(&names->waiting)))
			continue;
		/* Room may also come without notice, by a question that had been dropped. */
		rcm_timer_start(names->loop, &names->pump, names->loop->now + PATIENCE_MIN, pump);
		break;
	}
	watch_patience(names);
}

static void patience_over(struct rcm_timer *timer)
{
	struct rcm_names *names = rcm_container(timer, struct rcm_names, patience);
	struct name *name;

	while ((name = TAILQ_FIRST(&names->placed)) && name->asked_at + patience(names) <= names->loop->now)
		move(name, OVERDUE);
	wake_pump(names);
	watch_patience(names);
}

int rcm_names_open(struct rcm_loop *loop, const struct rcm_cares_ops *questions, struct rcm_names **ret_names)
{
	struct rcm_names *names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	names->loop = loop;
	names->questions = questions;
	TAILQ_INIT(&names->waiting);
	TAILQ_INIT(&names->placed);
	TAILQ_INIT(&names->overdue);
	err = rcm_srcaddr_open(&names->srcaddr);
	if (!err)
		err = questions->open(loop, &names->cares);
	if (err)
		rcm_names_close(names);
	else
		*ret_names = names;
	return err;
}

void rcm_names_configure(struct rcm_names *names, const enum rcm_pick_step steps[RCM_PICK_STEPS],
			 struct rcm_resolv *resolv, struct rcm_hosts *hosts)
{
	memcpy(names->steps, steps, sizeof(names->steps));
	if (resolv) {
		rcm_resolv_put(names->resolv);
		names->resolv = resolv;
		names->round_trip = 0;
	}
	if (hosts) {
		rcm_hosts_free(names->hosts);
		names->hosts = hosts;
	}
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
	rcm_lookup_init(&name->base, query, done, arg, name_cancel);
	name->names = names;
	memcpy(name->text, query->name, len);
	TAILQ_INSERT_TAIL(&names->waiting, name, entry);
	if (names->placed_count < RCM_DNS_WINDOW)
		wake_pump(names);
	*ret_lookup = &name->base;
	return 0;
}

static void free_all(struct name_list *list)
{
	struct name *name;

	while ((name = TAILQ_FIRST(list)))
		name_free(name);
}

void rcm_names_close(struct rcm_names *names)
{
	if (!names)
		return;
	free_all(&names->waiting);
	free_all(&names->placed);
	free_all(&names->overdue);
	rcm_timer_stop(names->loop, &names->pump);
	rcm_timer_stop(names->loop, &names->patience);
	names->questions->close(names->cares);
	rcm_srcaddr_close(names->srcaddr);
	rcm_resolv_put(names->resolv);
	rcm_hosts_free(names->hosts);
	free(names);
}

void rcm_names_abandon(struct rcm_names *names)
{
	if (!names)
		return;
	names->questions->abandon(names->cares);
	names->cares = NULL;
	rcm_names_close(names);
}
