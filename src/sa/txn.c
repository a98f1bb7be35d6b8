/* SPDX-License-Identifier: BSD-2-Clause */
/* One question to an SA, asked as often as its deadline allows. */
#include "sa/txn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/container.h"

/*
 * A question is asked again after twice the time that a fabric with OpenSM's defaults takes at most for its answer
 * (subnet timeout 18 and response time 16: IBTA volume 1, 13.4.6.2), or twice what this SA was seen to take, and the
 * later the oftener there was none: an SA drops questions because it is flooded, and one that is slow answers each that
 * it was asked. BUSY means the same, said sooner. What was asked before is listened to on.
 */
enum { MOVED_S = 10, NONE_MS = 300, STATUS_NO_RECORDS = 0x0300 };
enum { FIRST_MS = 500, LISTEN_MS = 16000, TIMES_MAX = 3, BUSY_MS = 50, BUSY_TIMES_MAX = 5, LOST_MS = 20, LOST_MAX = 3 };

static void timer_fired(struct rcm_timer *timer);

/* At due, or at the deadline if that comes first. */
static void timer_set(struct rcm_txn *txn, uint64_t due)
{
	rcm_timer_start(txn->link->loop, &txn->timer, due < txn->deadline ? due : txn->deadline, timer_fired);
}

unsigned rcm_txn_agent(const struct rcm_txn *txn)
{
	return txn->sent < RCM_UMAD_AGENTS ? txn->sent : RCM_UMAD_AGENTS - 1;
}

static void txn_unqueue(struct rcm_txn *txn)
{
	if (txn->state == RCM_TXN_WAITING)
		TAILQ_REMOVE(&txn->link->waiting[rcm_txn_agent(txn)], txn, entry);
}

static void txn_leave(struct rcm_txn *txn)
{
	struct rcm_link *link = txn->link;

	rcm_timer_stop(link->loop, &txn->timer);
	txn_unqueue(txn);
	if (txn->held)
		rcm_link_orphan(link, txn);
	txn->state = RCM_TXN_IDLE;
	rcm_link_drop(link);
}

__attribute__((format(printf, 4, 5)))
static void txn_finish(struct rcm_txn *txn, int status, uint16_t mad_status, const char *format, ...)
{
	char text[RCM_TEXT_MAX];
	va_list args;

	txn_leave(txn);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	txn->done(txn, &(struct rcm_txn_outcome){ .status = status, .mad_status = mad_status, .text = text,
						  .late = status == -EBUSY || status == -ETIMEDOUT });
}

/* What to say of a failure that is not the SA's. */
static void finish_local(struct rcm_txn *txn, int status)
{
	const struct rcm_sa_port *port = &txn->link->port;

	if (status == -ENETDOWN)
		txn_finish(txn, status, 0, "port %s/%u is down or has lost its subnet manager", port->device,
			   port->number);
	else
		txn_finish(txn, status, 0, "umad of port %s/%u: %s", port->device, port->number,
			   strerrordesc_np(-status));
}

/* How long ago the SM was found to be another, in seconds; a new one knows of what was published before only once
 * that was published again. -1: not lately. */
static int moved_ago(const struct rcm_link *link)
{
	uint64_t ago = rcm_clock_now() - link->moved_at;

	return link->moved_at && ago < MOVED_S * RCM_NS_PER_S ? (int)(ago / RCM_NS_PER_S) : -1;
}

static void finish_none(struct rcm_txn *txn, uint16_t mad_status)
{
	int ago = moved_ago(txn->link);

	if (ago < 0)
		txn_finish(txn, -ENOENT, mad_status, "the SA has no such record");
	else
		txn_finish(txn, -ENOENT, mad_status,
			   "the SA has no such record; the subnet manager changed %d s ago",
			   ago);
}

static void finish_late(struct rcm_txn *txn)
{
	const struct rcm_sa_port *port = &txn->link->port;
	unsigned lid = txn->link->address.lid;

	if (txn->last_none)
		finish_none(txn, STATUS_NO_RECORDS);
	else if (txn->last_busy)
		txn_finish(txn, -EBUSY, 0x0001, "the SA at LID %u of port %s/%u was busy, asked %u times", lid,
			   port->device, port->number, txn->sent);
	else if (!txn->sent)
		txn_finish(txn, -ETIMEDOUT, 0, "waited in line for the SA of port %s/%u until the deadline",
			   port->device, port->number);
	else
		txn_finish(txn, -ETIMEDOUT, 0, "no answer from the SA at LID %u of port %s/%u, asked %u times", lid,
			   port->device, port->number, txn->sent);
}

/* Tells of the failure in the loop's next turn: its cause may be found while the caller is still starting it. */
static void fail_soon(struct rcm_txn *txn, int failure)
{
	txn_unqueue(txn);
	txn->state = RCM_TXN_FAILED;
	txn->failure = failure;
	rcm_timer_start(txn->link->loop, &txn->timer, 0, timer_fired);
}

static void txn_queue(struct rcm_txn *txn)
{
	txn->state = RCM_TXN_WAITING;
	timer_set(txn, UINT64_MAX);
	TAILQ_INSERT_TAIL(&txn->link->waiting[rcm_txn_agent(txn)], txn, entry);
}

static void pause_for(struct rcm_txn *txn, uint64_t delay_ms)
{
	uint64_t now = rcm_clock_now(), due = now + (delay_ms + rcm_link_random(txn->link, delay_ms)) * RCM_NS_PER_MS;

	/* The last attempt comes sooner than it would, and none is given up before its time. */
	if (due >= txn->deadline && txn->deadline - now > 2 * BUSY_MS * RCM_NS_PER_MS)
		due = now + (txn->deadline - now) / 2;
	txn_unqueue(txn);
	txn->state = RCM_TXN_PAUSED;
	timer_set(txn, due);
}

/* Until it is asked again. */
static unsigned patience_ms(const struct rcm_txn *txn)
{
	unsigned times = txn->silent < TIMES_MAX ? txn->silent : TIMES_MAX;
	uint64_t seen = 2 * txn->link->round_trip / RCM_NS_PER_MS, ms = (seen > FIRST_MS ? seen : FIRST_MS) << times;

	return (unsigned)(ms + rcm_link_random(txn->link, ms / 2));
}

/* How long its next MAD is listened to: to the end, unless it is one of many. */
static unsigned listen_ms(const struct rcm_txn *txn, uint64_t now, unsigned patience)
{
	uint64_t rest = (txn->deadline - now + RCM_NS_PER_MS - 1) / RCM_NS_PER_MS;
	uint64_t most = txn->sent < RCM_UMAD_AGENTS - 1 ? LISTEN_MS : patience;

	return (unsigned)(rest < most ? rest : most);
}

void rcm_txn_send(struct rcm_txn *txn)
{
	uint64_t now = rcm_clock_now();
	unsigned patience = patience_ms(txn);
	int ret;

	if (now >= txn->deadline) {
		fail_soon(txn, -ETIMEDOUT);
		return;
	}
	txn_unqueue(txn);
	txn->state = RCM_TXN_PAUSED;
	ret = rcm_link_send(txn->link, txn, listen_ms(txn, now, patience));
	if (ret == -EIO && txn->lost < LOST_MAX) {
		rcm_txn_lost(txn);
		return;
	}
	if (ret) {
		fail_soon(txn, ret);
		return;
	}
	txn->sent++;
	txn->state = RCM_TXN_SENT;
	timer_set(txn, now + patience * RCM_NS_PER_MS);
}

static void txn_ask_again(struct rcm_txn *txn)
{
	int ret;

	txn->silent++;
	txn->last_busy = false;
	if (rcm_clock_now() >= txn->deadline) {
		finish_late(txn);
		return;
	}
	/* The SM may have moved, or the port gone down: that is why nobody answered. */
	ret = rcm_link_look_again(txn->link, true);
	if (ret)
		finish_local(txn, ret);
	else
		txn_queue(txn);
}

/* While another is listened to, its own time counts. */
void rcm_txn_silence(struct rcm_txn *txn)
{
	if (txn->state == RCM_TXN_SENT && !txn->held)
		txn_ask_again(txn);
}

void rcm_txn_again(struct rcm_txn *txn)
{
	if (txn->state == RCM_TXN_SENT)
		txn_queue(txn);
}

void rcm_txn_lost(struct rcm_txn *txn)
{
	if (txn->lost++ < LOST_MAX)
		pause_for(txn, LOST_MS);
	else
		fail_soon(txn, -ENODEV);
}

void rcm_txn_overflow(struct rcm_txn *txn)
{
	txn_finish(txn, -EIO, 0, "the SA's answer is larger than %d bytes", RCM_SA_ANSWER_MAX);
}

static void txn_busy(struct rcm_txn *txn)
{
	unsigned times = txn->busy < BUSY_TIMES_MAX ? txn->busy : BUSY_TIMES_MAX;

	txn->busy++;
	txn->last_busy = true;
	txn->last_none = false;
	pause_for(txn, (uint64_t)BUSY_MS << times);
}

/* Of an SA that has just begun it may be there in a moment: it is asked again as long as there is time. */
static void txn_none(struct rcm_txn *txn, uint16_t mad_status)
{
	uint64_t now = rcm_clock_now();

	if (!txn->renews || moved_ago(txn->link) < 0 || txn->deadline == UINT64_MAX ||
	    txn->deadline - now < NONE_MS * RCM_NS_PER_MS) {
		finish_none(txn, mad_status);
		return;
	}
	txn->last_none = true;
	txn->last_busy = false;
	pause_for(txn, NONE_MS);
}

void rcm_txn_answered(struct rcm_txn *txn, const uint8_t *mad, size_t len)
{
	struct rcm_txn_outcome outcome = { 0 };

	if (rcm_wire_read(txn->mad, mad, len, &outcome.answer)) {
		txn_finish(txn, -EIO, 0, "the SA's answer is malformed");
		return;
	}
	outcome.mad_status = outcome.answer.status;
	switch (rcm_wire_verdict(outcome.mad_status)) {
	case RCM_WIRE_AGAIN:
		txn_busy(txn);
		return;
	case RCM_WIRE_REFUSED:
		txn_finish(txn, -EIO, outcome.mad_status, "the SA answered with status 0x%04x (%s)", outcome.mad_status,
			   rcm_wire_status_name(outcome.mad_status));
		return;
	case RCM_WIRE_OK:
		if (outcome.answer.count) {
			txn_leave(txn);
			txn->done(txn, &outcome);
			return;
		}
		break;
	case RCM_WIRE_NONE:
		break;
	}
	txn_none(txn, outcome.mad_status);
}

static void timer_fired(struct rcm_timer *timer)
{
	struct rcm_txn *txn = rcm_container(timer, struct rcm_txn, timer);
	struct rcm_link *link = txn->link;

	/* Whoever is told may ask again, and the link be the one to make room. */
	rcm_link_hold(link);
	if (txn->state == RCM_TXN_FAILED && txn->failure != -ETIMEDOUT) {
		finish_local(txn, txn->failure);
	} else if (txn->state == RCM_TXN_FAILED || rcm_clock_now() >= txn->deadline) {
		finish_late(txn);
	} else if (txn->state == RCM_TXN_SENT) {
		txn_ask_again(txn);
	} else if (txn->state == RCM_TXN_PAUSED) {
		txn_queue(txn);
	}
	rcm_link_pump(link);
	rcm_link_drop(link);
}

void rcm_txn_start(struct rcm_link *link, struct rcm_txn *txn, uint64_t deadline, rcm_txn_done_fn *done)
{
	txn->link = link;
	txn->deadline = deadline ? deadline : UINT64_MAX;
	txn->done = done;
	txn->sent = txn->silent = txn->busy = txn->lost = txn->held = 0;
	txn->last_busy = txn->last_none = false;
	rcm_link_hold(link);
	txn_queue(txn);
	rcm_link_pump(link);
}

void rcm_txn_cancel(struct rcm_txn *txn)
{
	if (txn->state != RCM_TXN_IDLE)
		txn_leave(txn);
}
