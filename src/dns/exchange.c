/* SPDX-License-Identifier: BSD-2-Clause */
/* One question's course. */
#include "dns/exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "base/container.h"
#include "base/tell.h"
#include "dns/told.h"

/* A server that has been silent of late gets no more than this. */
enum { PROBE_MS = 1000, RCODE_BADVERS = 16 };

struct rcm_again {
	struct rcm_carried carried;
	struct rcm_exchange *exchange;
	uint64_t asked_at;
};

static uint64_t exchange_now(const struct rcm_exchange *exchange)
{
	return exchange->servers->carry.loop->now;
}

/* ---- Places ---- */

static void exchange_give_place_up(struct rcm_exchange *exchange)
{
	struct rcm_contact *contact = exchange->contact;

	if (!exchange->placed)
		return;
	TAILQ_REMOVE(&contact->placed, exchange, place);
	contact->known.placed--;
	exchange->placed = false;
}

static void exchange_watch_patience(struct rcm_contact *contact);
static void exchange_admit(struct rcm_contact *contact);

static void exchange_patience_over(struct rcm_timer *timer)
{
	struct rcm_contact *contact = rcm_container(timer, struct rcm_contact, patience);
	uint64_t at = contact->servers->carry.loop->now, patience = rcm_server_patience(&contact->known);
	struct rcm_exchange *exchange;

	while ((exchange = TAILQ_FIRST(&contact->placed)) && exchange->asked_at + patience <= at) {
		exchange_give_place_up(exchange);
		rcm_server_overdue(&contact->known, exchange->asked_at, at);
	}
	exchange_admit(contact);
	contact->servers->room(contact->servers->room_arg);
	exchange_watch_patience(contact);
}

static void exchange_watch_patience(struct rcm_contact *contact)
{
	const struct rcm_exchange *oldest = TAILQ_FIRST(&contact->placed);

	if (oldest && contact->patience.state == RCM_TIMER_IDLE)
		rcm_timer_start(contact->servers->carry.loop, &contact->patience,
				oldest->asked_at + rcm_server_patience(&contact->known), exchange_patience_over);
}

static void exchange_take_place(struct rcm_exchange *exchange)
{
	struct rcm_contact *contact = exchange->contact;

	contact->known.out++;
	contact->known.placed++;
	exchange->placed = true;
	TAILQ_INSERT_TAIL(&contact->placed, exchange, place);
	exchange_watch_patience(contact);
}

static void exchange_forget_again(struct rcm_exchange *exchange)
{
	struct rcm_again *again = exchange->again;

	if (again && again->carried.by)
		rcm_udp_take_back(&again->carried);
	free(again);
	exchange->again = NULL;
}

static void exchange_wait_no_more(struct rcm_exchange *exchange)
{
	TAILQ_REMOVE(&exchange->contact->waiting, exchange, place);
	exchange->waits = false;
	exchange->contact = NULL;
}

/* The server isn't asked any more. */
static void exchange_leave(struct rcm_exchange *exchange)
{
	struct rcm_contact *contact = exchange->contact;

	rcm_timer_stop(exchange->servers->carry.loop, &exchange->timer);
	exchange_forget_again(exchange);
	if (exchange->waits)
		exchange_wait_no_more(exchange);
	if (!exchange->contact)
		return;
	if (exchange->carried.by && exchange->by_tcp)
		rcm_tcp_take_back(&contact->tcp, &exchange->carried);
	else if (exchange->carried.by)
		rcm_udp_take_back(&exchange->carried);
	exchange_give_place_up(exchange);
	contact->known.out--;
	exchange->contact = NULL;
	exchange_admit(contact);
	exchange->servers->room(exchange->servers->room_arg);
}

/* ---- On to the next ---- */

static const union rcm_dns_address *exchange_server_of(const struct rcm_exchange *exchange)
{
	const struct rcm_resolv *resolv = exchange->resolv;

	return &resolv->servers[exchange->order[exchange->tries % resolv->servers_count]];
}

static void exchange_conclude(struct rcm_exchange *exchange, enum rcm_dns_verdict verdict,
		     const union rcm_dns_address *speaker, const struct rcm_message_answer *answer)
{
	exchange_leave(exchange);
	exchange->done(exchange, verdict, speaker, answer);
}

/* A server that spoke weighs more than one that didn't, and a silent one more than one out of reach. */
static unsigned exchange_weight_of(enum rcm_dns_verdict verdict)
{
	if (rcm_verdict_is_spoken(verdict))
		return 2;
	return verdict == RCM_DNS_TIMEOUT;
}

static void exchange_send(struct rcm_exchange *exchange);

/* Before the names that are new: see exchange_send_in_turn(). */
static void exchange_admit(struct rcm_contact *contact)
{
	struct rcm_exchange *exchange;

	while ((exchange = TAILQ_FIRST(&contact->waiting)) && rcm_server_has_room(&contact->known, 1, 0)) {
		exchange_wait_no_more(exchange);
		exchange_send(exchange);
	}
}

/* Those that were lost together would be asked again together, and more at once than the server can take. */
static void exchange_send_in_turn(struct rcm_exchange *exchange)
{
	struct rcm_contact *contact = rcm_servers_get(exchange->servers, exchange_server_of(exchange));

	if (!contact || rcm_server_has_room(&contact->known, 1, 0)) {
		exchange_send(exchange);
		return;
	}
	exchange->contact = contact;
	exchange->waits = true;
	TAILQ_INSERT_TAIL(&contact->waiting, exchange, place);
}

static void exchange_go_on(struct rcm_exchange *exchange, enum rcm_dns_verdict verdict)
{
	const struct rcm_resolv *resolv = exchange->resolv;

	if (exchange_weight_of(verdict) >= exchange_weight_of(exchange->verdict)) {
		exchange->verdict = verdict;
		exchange->speaker = rcm_verdict_is_spoken(verdict) ? exchange_server_of(exchange) : NULL;
	}
	exchange_leave(exchange);
	exchange->cut = false;
	if (rcm_verdict_is_ours(verdict))
		exchange_conclude(exchange, verdict, NULL, NULL);
	else if (++exchange->tries >= resolv->servers_count * (unsigned)resolv->attempts)
		exchange_conclude(exchange, exchange->verdict, exchange->speaker, NULL);
	else
		exchange_send_in_turn(exchange);
}

static enum rcm_dns_verdict exchange_verdict_of_errno(int error, bool cut)
{
	switch (error) {
	case -ENOMEM:
	case -ENOBUFS:
		return RCM_DNS_NOMEM;
	case -EMFILE:
	case -ENFILE:
		return RCM_DNS_NOFILE;
	default:
		return cut ? RCM_DNS_CUT_UNREACHABLE : RCM_DNS_UNREACHABLE;
	}
}

static void exchange_failed(struct rcm_exchange *exchange, int error)
{
	enum rcm_dns_verdict verdict = exchange_verdict_of_errno(error, exchange->cut);

	rcm_told_answer(&exchange->question, exchange_server_of(exchange), verdict, NULL);
	/* A connection that ended in the middle says that there can be one. */
	if (verdict == RCM_DNS_CUT_UNREACHABLE && error != -ECONNRESET)
		rcm_server_refuses_tcp(&exchange->contact->known, exchange_now(exchange));
	exchange_go_on(exchange, verdict);
}

static void exchange_time_over(struct rcm_timer *timer)
{
	struct rcm_exchange *exchange = rcm_container(timer, struct rcm_exchange, timer);

	rcm_told_answer(&exchange->question, exchange_server_of(exchange), RCM_DNS_TIMEOUT, NULL);
	rcm_server_silent(&exchange->contact->known, exchange->asked_at, exchange_now(exchange));
	exchange_go_on(exchange, exchange->cut ? RCM_DNS_CUT_TIMEOUT : RCM_DNS_TIMEOUT);
}

/* ---- Answers ---- */

static enum rcm_dns_verdict exchange_verdict_of(const struct rcm_message_answer *answer)
{
	switch (answer->rcode) {
	case ns_r_noerror:
		if (answer->count)
			return RCM_DNS_FOUND;
		return answer->empty && !answer->authoritative && !answer->recursion ? RCM_DNS_LAME : RCM_DNS_NODATA;
	case ns_r_nxdomain:
		return RCM_DNS_NXDOMAIN;
	case ns_r_formerr:
		return RCM_DNS_FORMERR;
	case ns_r_notimpl:
		return RCM_DNS_NOTIMP;
	case ns_r_refused:
		return RCM_DNS_REFUSED;
	case ns_r_servfail:
		return RCM_DNS_SERVFAIL;
	default:
		return RCM_DNS_OTHER_RCODE;
	}
}

/* Others may do better than this one. */
static bool exchange_is_for_others(enum rcm_dns_verdict verdict)
{
	return verdict == RCM_DNS_SERVFAIL || verdict == RCM_DNS_NOTIMP || verdict == RCM_DNS_REFUSED ||
	       verdict == RCM_DNS_LAME;
}

static bool exchange_is_about_edns(const struct rcm_exchange *exchange, const struct rcm_message_answer *answer)
{
	return exchange->question.edns && (answer->rcode == ns_r_formerr || answer->rcode == ns_r_notimpl ||
					   answer->rcode == RCODE_BADVERS);
}

static void exchange_answered(struct rcm_exchange *exchange, const struct rcm_message_answer *answer)
{
	struct rcm_server *known = &exchange->contact->known;
	enum rcm_dns_verdict verdict;

	if (answer->truncated && !exchange->by_tcp) {
		exchange->cut = true;
		rcm_tell(RCM_TELL_ANSWER, "it was cut short, so TCP is next");
		if (exchange_now(exchange) < known->no_tcp_until) {
			exchange_go_on(exchange, RCM_DNS_CUT_UNREACHABLE);
			return;
		}
		exchange_leave(exchange);
		exchange_send(exchange);
		return;
	}
	if (exchange_is_about_edns(exchange, answer)) {
		rcm_server_refuses_edns(known, exchange_now(exchange));
		exchange_leave(exchange);
		exchange_send(exchange);
		return;
	}
	verdict = exchange_verdict_of(answer);
	rcm_told_answer(&exchange->question, exchange_server_of(exchange), verdict, answer);
	if (exchange_is_for_others(verdict))
		exchange_go_on(exchange, verdict);
	else
		exchange_conclude(exchange, verdict, exchange_server_of(exchange), answer);
}

static bool exchange_take(struct rcm_exchange *exchange, uint64_t asked_at, const uint8_t *bytes, size_t len)
{
	struct rcm_message_answer answer;
	int ret = rcm_message_read(&exchange->question, exchange->by_tcp, bytes, len, &answer);

	if (ret == -ENOENT)
		return false;
	rcm_server_answered(&exchange->contact->known, asked_at, exchange_now(exchange));
	if (ret)
		rcm_told_answer(&exchange->question, exchange_server_of(exchange), RCM_DNS_MALFORMED, NULL);
	if (ret)
		exchange_go_on(exchange, RCM_DNS_MALFORMED);
	else
		exchange_answered(exchange, &answer);
	return true;
}

/* ---- Asking ---- */

static size_t exchange_carried_write(struct rcm_carried *carried, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	struct rcm_exchange *exchange = rcm_container(carried, struct rcm_exchange, carried);

	return rcm_message_ask(&exchange->question, carried->id, bytes);
}

static bool exchange_carried_take(struct rcm_carried *carried, const uint8_t *bytes, size_t len)
{
	struct rcm_exchange *exchange = rcm_container(carried, struct rcm_exchange, carried);

	return exchange_take(exchange, exchange->asked_at, bytes, len);
}

static void exchange_carried_fail(struct rcm_carried *carried, int error)
{
	exchange_failed(rcm_container(carried, struct rcm_exchange, carried), error);
}

static const struct rcm_carried_ops carried_ops = {
	.write = exchange_carried_write,
	.take = exchange_carried_take,
	.fail = exchange_carried_fail,
};

/* Not at once: who asks is not to be told while it asks. */
static void exchange_fail_soon(struct rcm_timer *timer)
{
	struct rcm_exchange *exchange = rcm_container(timer, struct rcm_exchange, timer);

	if (!exchange->contact)
		exchange_go_on(exchange, exchange->resolv->attempts ? RCM_DNS_NOMEM : RCM_DNS_UNREACHABLE);
	else
		exchange_failed(exchange, exchange->error);
}

static uint64_t exchange_time_for(const struct rcm_exchange *exchange)
{
	unsigned ms = (unsigned)exchange->resolv->timeout_ms;

	if (rcm_server_is_silent(&exchange->contact->known) && exchange->resolv->servers_count > 1 && ms > PROBE_MS)
		ms = PROBE_MS;
	return ms * RCM_NS_PER_MS;
}

static void exchange_send(struct rcm_exchange *exchange)
{
	const struct rcm_resolv *resolv = exchange->resolv;
	struct rcm_loop *loop = exchange->servers->carry.loop;
	struct rcm_contact *contact = NULL;

	if (resolv->attempts)
		contact = exchange->contact = rcm_servers_get(exchange->servers, exchange_server_of(exchange));
	if (!contact) {
		rcm_timer_start(loop, &exchange->timer, 0, exchange_fail_soon);
		return;
	}
	exchange->asked_at = loop->now;
	exchange_take_place(exchange);
	exchange->question.edns = resolv->edns && contact->known.no_edns_until <= loop->now;
	exchange->by_tcp = exchange->cut || resolv->use_tcp;
	exchange->error = 0;
	rcm_told_question(&exchange->question, exchange_server_of(exchange), exchange->by_tcp, exchange->tries);
	if (exchange->by_tcp)
		rcm_tcp_put(&contact->tcp, &exchange->carried);
	else
		exchange->error = rcm_udp_put(&contact->udp, &exchange->carried, exchange->went_by);
	exchange->went_by = exchange->by_tcp ? NULL : exchange->carried.by;
	if (exchange->error)
		rcm_timer_start(loop, &exchange->timer, 0, exchange_fail_soon);
	else
		rcm_timer_start(loop, &exchange->timer, loop->now + exchange_time_for(exchange), exchange_time_over);
}

void rcm_exchange_start(struct rcm_exchange *exchange)
{
	exchange->carried.ops = &carried_ops;
	exchange->verdict = RCM_DNS_UNREACHABLE;
	exchange_send(exchange);
}

/* ---- Once more ---- */

static size_t exchange_again_write(struct rcm_carried *carried, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	struct rcm_again *again = rcm_container(carried, struct rcm_again, carried);

	return rcm_message_ask(&again->exchange->question, carried->id, bytes);
}

static bool exchange_again_take(struct rcm_carried *carried, const uint8_t *bytes, size_t len)
{
	struct rcm_again *again = rcm_container(carried, struct rcm_again, carried);

	return exchange_take(again->exchange, again->asked_at, bytes, len);
}

/* The first one is still out. */
static void exchange_again_fail(struct rcm_carried *carried, int error)
{
	(void)carried;
	(void)error;
}

static const struct rcm_carried_ops again_ops = {
	.write = exchange_again_write,
	.take = exchange_again_take,
	.fail = exchange_again_fail,
};

void rcm_exchange_again(struct rcm_exchange *exchange)
{
	struct rcm_again *again;

	if (!exchange->carried.by || exchange->by_tcp)
		return;
	exchange_forget_again(exchange);
	again = calloc(1, sizeof(*again));
	if (!again)
		return;
	again->exchange = exchange;
	again->asked_at = exchange_now(exchange);
	again->carried.ops = &again_ops;
	exchange->again = again;
	/* Without it the first is waited for. */
	(void)rcm_udp_put(&exchange->contact->udp, &again->carried, exchange->carried.by);
}

void rcm_exchange_drop(struct rcm_exchange *exchange)
{
	exchange_leave(exchange);
}
