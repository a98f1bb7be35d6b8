/* SPDX-License-Identifier: BSD-2-Clause */
/* Both families of one name. */
#include "dns/families.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"

enum { A = 1, AAAA = 2 };

/* How long a family is waited for when the other has been found. */
#define OTHER_WAIT (1 * RCM_NS_PER_S)

static uint64_t families_now(const struct rcm_families *families)
{
	return families->servers->carry.loop->now;
}

/* The one that is not over yet. */
static struct rcm_exchange *families_other(struct rcm_families *families)
{
	return &families->exchanges[families->open == AAAA];
}

static void families_end(struct rcm_families *families)
{
	rcm_timer_stop(families->servers->carry.loop, &families->timer);
	for (int i = 0; i < 2; i++)
		if (families->open & (1U << i) & ~families->waiting)
			rcm_exchange_drop(&families->exchanges[i]);
	families->open = families->waiting = 0;
	families->done(families, families->arg);
}

static void families_act(struct rcm_timer *timer);

static void families_wait(struct rcm_families *families, uint64_t due)
{
	if (families->give_up_at && due > families->give_up_at)
		due = families->give_up_at;
	rcm_timer_start(families->servers->carry.loop, &families->timer, due, families_act);
}

/* It is asked once more, and, if the other has been found, again and again, each time after twice as long, but not
 * waited for much longer: a server that was asked too much loses more than one question of a name. */
static void families_act(struct rcm_timer *timer)
{
	struct rcm_families *families = rcm_container(timer, struct rcm_families, timer);

	if (families->give_up_at && families->give_up_at <= families_now(families)) {
		families->half = true;
		families->missing = families->open == AAAA ? AF_INET6 : AF_INET;
		families_end(families);
		return;
	}
	rcm_exchange_again(families_other(families));
	if (!families->give_up_at)
		return;
	families->again_after *= 2;
	families_wait(families, families_now(families) + families->again_after);
}

/* One is over, the other is not. */
static void families_await_other(struct rcm_families *families)
{
	const struct rcm_exchange *other = families_other(families);
	uint64_t at = families_now(families), due = at;

	families->again_after = OTHER_WAIT;
	if (other->contact) {
		families->again_after = rcm_server_early(&other->contact->known);
		due = other->asked_at + families->again_after;
	}
	if (families->verdict == RCM_DNS_FOUND)
		families->give_up_at = at + OTHER_WAIT;
	families_wait(families, due);
}

static void families_ask(struct rcm_families *families, unsigned bit);

/* The verdict on what the answer says. */
static enum rcm_dns_verdict families_read(struct rcm_families *families, enum rcm_dns_verdict verdict,
					  const struct rcm_message_answer *answer)
{
	if (!answer || (verdict == RCM_DNS_NXDOMAIN && answer->count))
		return verdict;
	if (families->hidden)
		return verdict == RCM_DNS_FOUND ? RCM_DNS_NODATA : verdict;
	if (verdict == RCM_DNS_FOUND || verdict == RCM_DNS_NODATA)
		return rcm_reply_add(&families->reply, answer);
	if (verdict == RCM_DNS_NXDOMAIN)
		rcm_reply_add(&families->reply, answer);
	return verdict;
}

static void families_answered(struct rcm_exchange *exchange, enum rcm_dns_verdict verdict,
			      const union rcm_dns_address *speaker, const struct rcm_message_answer *answer)
{
	bool second = exchange->question.type == ns_t_aaaa;
	struct rcm_exchange *first = exchange - second;
	struct rcm_families *families = rcm_container(first, struct rcm_families, exchanges[0]);

	families->open &= ~(second ? AAAA : A);
	verdict = families_read(families, verdict, answer);
	if (verdict == RCM_DNS_TIMEOUT || verdict == RCM_DNS_CUT_TIMEOUT)
		families->missing = second ? AF_INET6 : AF_INET;
	families->half |= verdict > RCM_DNS_NODATA && verdict != RCM_DNS_FOUND && verdict != RCM_DNS_DECLINED;
	if (verdict >= families->verdict) {
		families->verdict = verdict;
		families->speaker = speaker;
	}
	if (!families->open || rcm_verdict_is_ours(verdict)) {
		families_end(families);
		return;
	}
	if (families->waiting)
		families_ask(families, families->waiting);
	families_await_other(families);
}

static void families_ask(struct rcm_families *families, unsigned bit)
{
	families->waiting &= ~bit;
	if (families->resolv->reopen && bit == AAAA)
		families->exchanges[1].went_by = families->exchanges[0].went_by;
	rcm_exchange_start(&families->exchanges[bit == AAAA]);
}

static void families_prepare(struct rcm_families *families, int family, const uint8_t order[RCM_RESOLV_SERVERS])
{
	uint16_t first = family == RCM_FAMILIES_SRV ? ns_t_srv : ns_t_a;

	for (int i = 0; i < 2; i++) {
		struct rcm_exchange *exchange = &families->exchanges[i];

		exchange->servers = families->servers;
		exchange->resolv = families->resolv;
		exchange->question = (struct rcm_message_question){
			.name = families->name, .name_len = families->name_len,
			.type = i ? ns_t_aaaa : first, .trust_ad = families->resolv->trust_ad,
		};
		memcpy(exchange->order, order, sizeof(exchange->order));
		exchange->done = families_answered;
	}
}

/* With "options no-aaaa" the name's existence is asked for by A. */
static void families_choose(struct rcm_families *families, int family)
{
	families->open = family == AF_INET || family == RCM_FAMILIES_SRV ? A : family == AF_INET6 ? AAAA : A | AAAA;
	if (!families->resolv->no_aaaa || families->open == A)
		return;
	families->hidden = family == AF_INET6;
	families->open = A;
}

static bool families_have_room(struct rcm_servers *servers, const struct rcm_resolv *resolv, unsigned first,
			       unsigned questions)
{
	struct rcm_contact *contact = rcm_servers_get(servers, &resolv->servers[first]);

	/* Without memory for it the question says so. */
	return !contact || rcm_server_has_room(&contact->known, questions, servers->beyond);
}

static int families_start(struct rcm_servers *servers, const struct rcm_resolv *resolv, const char *name, int family,
			  void (*done)(struct rcm_families *families, void *arg), void *arg,
			  struct rcm_families **ret_families)
{
	uint8_t order[RCM_RESOLV_SERVERS] = { 0 }, labels[RCM_LABELS_MAX];
	size_t len = rcm_labels_read(name, labels);
	struct rcm_families *families;

	if (!len)
		return -EINVAL;
	rcm_servers_order(servers, resolv, order);
	if (!families_have_room(servers, resolv, order[0], family == AF_UNSPEC ? 2 : 1))
		return -EAGAIN;
	families = calloc(1, sizeof(*families) + len);
	if (!families)
		return -ENOMEM;
	families->servers = servers;
	families->resolv = resolv;
	families->done = done;
	families->arg = arg;
	families->name_len = len;
	memcpy(families->name, labels, len);
	families_choose(families, family);
	families_prepare(families, family, order);
	families->waiting = families->open;
	families_ask(families, families->open & A ? A : AAAA);
	if (families->waiting && !resolv->single_request && !resolv->reopen)
		families_ask(families, families->waiting);
	*ret_families = families;
	return 0;
}

static void families_free(struct rcm_families *families)
{
	if (!families)
		return;
	rcm_timer_stop(families->servers->carry.loop, &families->timer);
	for (int i = 0; i < 2; i++)
		rcm_exchange_drop(&families->exchanges[i]);
	rcm_reply_clear(&families->reply);
	free(families);
}

const struct rcm_families_ops rcm_families_network = {
	.start = families_start,
	.flush = rcm_servers_flush,
	.free = families_free,
};
