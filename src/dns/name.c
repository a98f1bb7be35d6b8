/* SPDX-License-Identifier: BSD-2-Clause */
/* One name's course: the steps, what they found, and what is told. */
#include "dns/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/tell.h"
#include "dns/explain.h"

/* ---- Its life ---- */

void rcm_name_move(struct rcm_name *name, enum rcm_name_state state)
{
	struct rcm_name_list *lists = name->sources->lists;

	TAILQ_REMOVE(&lists[name->state], name, entry);
	if (name->state == RCM_NAME_ASKED && state == RCM_NAME_WAITING)
		TAILQ_INSERT_HEAD(&lists[state], name, entry);
	else
		TAILQ_INSERT_TAIL(&lists[state], name, entry);
	name->state = state;
}

static void name_free_families(struct rcm_name *name)
{
	struct rcm_families *families = name->families;

	name->families = NULL;
	name->sources->families->free(families);
}

void rcm_name_free(struct rcm_name *name)
{
	TAILQ_REMOVE(&name->sources->lists[name->state], name, entry);
	name_free_families(name);
	rcm_resolv_put(name->resolv);
	free(name);
}

static void name_cancel(struct rcm_dns_lookup *lookup)
{
	rcm_name_free(rcm_container(lookup, struct rcm_name, base));
}

/* ---- What is told ---- */

static void name_deliver(struct rcm_name *name, const struct rcm_dns_answer *answer)
{
	rcm_dns_done_fn *done = name->base.done;
	void *arg = name->base.arg;

	done(arg, answer);
	rcm_name_free(name);
}

static void name_deliver_failure(struct rcm_name *name)
{
	const struct rcm_search *search = &name->search;
	enum rcm_dns_verdict verdict = search->known ? (enum rcm_dns_verdict)search->verdict : RCM_DNS_NXDOMAIN;
	struct rcm_dns_answer answer = {
		.status = rcm_verdict_errno(verdict), .code = rcm_verdict_eai(verdict),
		.ttl = name->no_ttl == UINT32_MAX ? 0 : name->no_ttl,
	};
	const struct rcm_explain explain = {
		.nobody = !name->step, .resolv = name->resolv, .known = search->known,
		.verdict = verdict, .server = search->server, .srv = name->srv,
	};
	char text[RCM_TEXT_MAX];

	rcm_explain(&explain, text, sizeof(text));
	rcm_info("dns: \"%s\": %s", name->base.name, text);
	answer.text = text;
	name_deliver(name, &answer);
}

/* Whatever was found or told by others before; server: who says so now. */
static void name_fail(struct rcm_name *name, enum rcm_dns_verdict verdict, const union rcm_dns_address *server)
{
	name->search = (struct rcm_search){ .known = true, .verdict = (uint8_t)verdict, .server = server };
	name_deliver_failure(name);
}

/* Nobody else can answer for us. */
static void name_fail_for_us(struct rcm_name *name, enum rcm_dns_verdict verdict)
{
	name_fail(name, verdict, NULL);
}

/* What the search list is for: a domain, of a name for SRV records what is behind its labels of service and protocol.
 * A full name has a dot at its end. */
static const char *name_searched(const struct rcm_name *name, char buf[RCM_SEARCH_NAME_MAX])
{
	const char *text = name->base.name + name->prefix;

	if (!name->full)
		return text;
	strcpy(stpcpy(buf, text), text[strlen(text) - 1] == '.' ? "" : ".");
	return buf;
}

static void sources_sort(struct rcm_sources *sources, union rcm_dns_address *addresses, unsigned count)
{
	if (count > 1)
		rcm_srcaddr_follow(sources->srcaddr);
	if (rcm_tell_wants())
		rcm_order_tell(rcm_srcaddr_sort_why(sources->srcaddr, addresses, count), count);
	else
		rcm_srcaddr_sort(sources->srcaddr, addresses, count);
}

/* What was found, to whoever it is. missing: the family that isn't in it for its silence, or 0. */
static void name_tell(const struct rcm_name *name, int missing, uint32_t ttl, rcm_dns_done_fn *done, void *arg)
{
	const struct rcm_reply *reply = &name->families->reply;
	struct rcm_dns_answer answer = { .ttl = ttl, .count = reply->count, .canonname = reply->canonname,
					 .missing = missing };
	union rcm_dns_address *addresses = malloc(reply->count * sizeof(*addresses));
	char asked[RCM_SEARCH_NAME_MAX], buf[RCM_SEARCH_NAME_MAX];

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
	sources_sort(name->sources, addresses, reply->count);
	answer.addresses = addresses;
	rcm_search_print(&name->search, name->resolv, name_searched(name, buf), asked);
	if (!answer.canonname)
		answer.canonname = asked;
	if (missing)
		rcm_info("dns: \"%s\": no IPv%c addresses in time", name->base.name, missing == AF_INET ? '4' : '6');
	done(arg, &answer);
	free(addresses);
}

static void name_tell_srvs(const struct rcm_name *name, const struct rcm_reply *reply)
{
	const struct rcm_srvs *srvs = reply->srvs;
	const struct rcm_dns_answer answer = {
		.ttl = reply->ttl, .count = srvs->addresses_count, .addresses = srvs->addresses,
		.srv_count = srvs->count, .srv = srvs->records, .canonname = reply->canonname,
	};

	name->base.done(name->base.arg, &answer);
}

static bool name_partial(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	struct rcm_name *name = rcm_container(lookup, struct rcm_name, base);
	const struct rcm_families *families = name->families;

	if (!families || families->verdict != RCM_DNS_FOUND)
		return false;
	name_tell(name, families->reply.addresses[0].sa.sa_family == AF_INET ? AF_INET6 : AF_INET, 0, done, arg);
	return true;
}

/* ---- The steps ---- */

/* True: found and delivered. */
static bool name_look_in_hosts(struct rcm_name *name)
{
	struct rcm_dns_answer answer = { 0 };
	union rcm_dns_address *addresses;
	int found = 0;

	if (!name->srv)
		found = rcm_hosts_find(name->sources->hosts, name->base.name, name->base.family, &addresses,
				       &answer.canonname);
	if (found < 0) {
		name_fail_for_us(name, RCM_DNS_NOMEM);
		return true;
	}
	if (!found) {
		rcm_tell(RCM_TELL_HOSTS, "it has no %s", name->base.name);
		return false;
	}
	rcm_tell(RCM_TELL_HOSTS, "it has %d for %s", found, name->base.name);
	sources_sort(name->sources, addresses, (unsigned)found);
	answer.addresses = addresses;
	answer.count = (unsigned)found;
	name_deliver(name, &answer);
	free(addresses);
	return true;
}

/* A "no" of a zone that doesn't say how long to keep it isn't kept (RFC 2308, section 5), nor one that half is a
 * failure. */
static void name_limit_no(struct rcm_name *name, const struct rcm_families *families)
{
	const struct rcm_reply *reply = &families->reply;
	uint32_t ttl = families->half || !reply->limited || reply->ttl == UINT32_MAX ? 0 : reply->ttl;

	if (ttl < name->no_ttl)
		name->no_ttl = ttl;
}

static void name_answered(struct rcm_families *families, void *arg)
{
	struct rcm_name *name = arg;

	char buf[RCM_SEARCH_NAME_MAX];

	if (families->verdict == RCM_DNS_FOUND) {
		if (name->srv)
			name_tell_srvs(name, &families->reply);
		else
			name_tell(name, families->missing, families->half ? 0 : families->reply.ttl,
				  name->base.done, name->base.arg);
		rcm_name_free(name);
		return;
	}
	if (rcm_verdict_is_ours(families->verdict)) {
		name_fail_for_us(name, families->verdict);
		return;
	}
	name_limit_no(name, families);
	if (families->verdict == RCM_DNS_DECLINED) {
		name_fail(name, RCM_DNS_DECLINED, families->speaker);
		return;
	}
	rcm_search_fail(&name->search, name->resolv, name_searched(name, buf), families->verdict, families->speaker);
	name_free_families(name);
	rcm_name_move(name, RCM_NAME_WAITING);
	name->sources->wake(name->sources);
}

/* 0: it is asked about; -ENOENT: no candidate is left; -EAGAIN: no room; other -errno. */
static int name_ask(struct rcm_name *name)
{
	char candidate[RCM_NODE_MAX + RCM_SEARCH_NAME_MAX], buf[RCM_SEARCH_NAME_MAX];
	const char *searched = name_searched(name, buf);
	struct rcm_sources *sources = name->sources;
	int ret = -ENOENT;

	memcpy(candidate, name->base.name, name->prefix);

	if (!name->resolv)
		name->resolv = rcm_resolv_get(sources->resolv);
	while (rcm_search_next(&name->search, name->resolv, searched, candidate + name->prefix)) {
		ret = sources->families->start(&sources->servers, name->resolv, candidate,
					       name->srv ? RCM_FAMILIES_SRV : name->base.family,
					       name_answered, name, &name->families);
		if (ret != -EINVAL)
			break;
		rcm_search_fail(&name->search, name->resolv, searched, RCM_DNS_NXDOMAIN, NULL);
		ret = -ENOENT;
	}
	if (!ret)
		rcm_name_move(name, RCM_NAME_ASKED);
	return ret;
}

static enum rcm_pick_step name_step(const struct rcm_name *name)
{
	return name->step < RCM_PICK_STEPS ? (enum rcm_pick_step)name->steps[name->step] : RCM_PICK_END;
}

/* Takes a name at its DNS step on: 0: it is in good hands, or over; -ENOENT: to the next step; -EAGAIN: no room. */
static int name_go_to_servers(struct rcm_name *name)
{
	int ret = name_ask(name);

	if (!ret || ret == -ENOENT || ret == -EAGAIN)
		return ret;
	name_fail_for_us(name, ret == -EMFILE ? RCM_DNS_NOFILE : RCM_DNS_NOMEM);
	return 0;
}

int rcm_name_advance(struct rcm_name *name, bool may_ask)
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

/* ---- Its beginnings ---- */

static void name_take_steps(struct rcm_name *name)
{
	static const enum rcm_pick_step servers[RCM_PICK_STEPS] = { RCM_PICK_DNS };
	static const enum rcm_pick_step hosts[RCM_PICK_STEPS] = { RCM_PICK_FILES };
	const enum rcm_pick_step *steps = name->base.source == RCM_DNS_HOSTS ? hosts :
					  name->srv || name->base.source == RCM_DNS_SERVERS ? servers :
					  name->sources->steps;

	for (int i = 0; i < RCM_PICK_STEPS; i++)
		name->steps[i] = (uint8_t)steps[i];
}

int rcm_name_new(struct rcm_sources *sources, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		 struct rcm_name **ret_name)
{
	static const struct rcm_lookup_ops ops = { .cancel = name_cancel, .partial = name_partial };
	struct rcm_name *name;

	if (strlen(query->name) > RCM_NODE_MAX + 1)
		return -ENAMETOOLONG;
	name = calloc(1, sizeof(*name));
	if (!name)
		return -ENOMEM;
	rcm_lookup_init(&name->base, &ops, query, done, arg);
	name->srv = query->srv;
	name->full = query->full;
	if (query->srv)
		name->prefix = (uint8_t)rcm_search_prefix(query->name);
	name->sources = sources;
	name->no_ttl = UINT32_MAX;
	name_take_steps(name);
	TAILQ_INSERT_TAIL(&sources->lists[RCM_NAME_FRESH], name, entry);
	*ret_name = name;
	return 0;
}

bool rcm_name_is_at_lost_server(const struct rcm_name *name, const struct rcm_resolv *resolv)
{
	if (!name->resolv)
		return false;
	for (unsigned i = 0; i < name->resolv->servers_count; i++)
		if (!rcm_resolv_has(resolv, &name->resolv->servers[i]))
			return true;
	return false;
}

void rcm_name_begin_again(struct rcm_name *name)
{
	name_free_families(name);
	rcm_resolv_put(name->resolv);
	name->resolv = NULL;
	name->search = (struct rcm_search){ 0 };
	name->no_ttl = UINT32_MAX;
	if (name->state == RCM_NAME_ASKED)
		rcm_name_move(name, RCM_NAME_WAITING);
}
