/* SPDX-License-Identifier: BSD-2-Clause */
/* One question to an SA, asked as often as its deadline allows. */
#include "sa/txn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/*
 * A question is asked again after twice the time that a fabric with OpenSM's defaults takes at most for its answer
 * (subnet timeout 18 and response time 16: IBTA volume 1, 13.4.6.2), or twice what this SA was seen to take or says it
 * may, and the later the oftener there was none: an SA drops questions because it is flooded, and one that is slow
 * answers each that it was asked. BUSY means the same, said sooner. What was asked before is listened to on.
 */
enum { FIRST_MS = 500, LISTEN_MS = 16000, TIMES_MAX = 3, BUSY_MS = 50, BUSY_TIMES_MAX = 5, LOST_MS = 20, LOST_MAX = 3 };
enum { MOVED_S = 10, NONE_MS = 300, STATUS_BUSY = 0x0001, STATUS_NO_RECORDS = 0x0300 };

static void txn_end(struct rcm_txn *txn, int end)
{
	txn->state = RCM_TXN_OVER;
	txn->end = end;
}

static void txn_fail(struct rcm_txn *txn, int failure)
{
	txn_end(txn, RCM_TXN_FAILED);
	txn->failure = failure;
}

/* At due, or at the deadline if that comes first. */
static void txn_go(struct rcm_txn *txn, enum rcm_txn_state state, uint64_t due)
{
	txn->state = state;
	txn->due = due < txn->deadline ? due : txn->deadline;
}

static void txn_pause(struct rcm_txn *txn, const struct rcm_txn_view *view, uint64_t ms)
{
	uint64_t due = view->now + (ms + view->random % (ms + 1)) * RCM_NS_PER_MS;

	/* The last attempt comes sooner than it would, and none is given up before its time. */
	if (due >= txn->deadline && txn->deadline - view->now > 2 * BUSY_MS * RCM_NS_PER_MS)
		due = view->now + (txn->deadline - view->now) / 2;
	txn_go(txn, RCM_TXN_PAUSED, due);
}

void rcm_txn_begin(struct rcm_txn *txn, uint64_t deadline)
{
	txn->deadline = deadline ? deadline : UINT64_MAX;
	txn->sent = txn->silent = txn->busy = txn->lost = 0;
	txn->last_busy = txn->last_none = txn->wonders = false;
	txn_go(txn, RCM_TXN_WAITING, UINT64_MAX);
}

unsigned rcm_txn_agent(const struct rcm_txn *txn)
{
	return txn->sent < RCM_UMAD_AGENTS ? txn->sent : RCM_UMAD_AGENTS - 1;
}

/* From its last MAD until it is asked again. */
static unsigned patience_ms(const struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	unsigned times = txn->silent < TIMES_MAX ? txn->silent : TIMES_MAX;
	uint64_t seen = 2 * view->takes / RCM_NS_PER_MS, says = 2 * view->says / RCM_NS_PER_MS, ms = FIRST_MS;
	uint64_t half = (txn->deadline - txn->sent_at) / 2 / RCM_NS_PER_MS;

	/* Whatever it says, a question that was lost is asked again in time. */
	if (says > half)
		says = half;
	if (seen > ms)
		ms = seen;
	if (says > ms)
		ms = says;
	ms <<= times;
	return (unsigned)(ms + txn->chance % (ms / 2 + 1));
}

/* To the end, unless it is one of many. */
unsigned rcm_txn_next(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	uint64_t rest, most;

	if (view->now >= txn->deadline) {
		txn_end(txn, RCM_TXN_LATE);
		return 0;
	}
	txn->chance = view->random;
	txn->sent_at = view->now;
	rest = (txn->deadline - view->now + RCM_NS_PER_MS - 1) / RCM_NS_PER_MS;
	most = txn->sent < RCM_UMAD_AGENTS - 1 ? LISTEN_MS : patience_ms(txn, view);
	return (unsigned)(rest < most ? rest : most);
}

/* Until it is asked again; half-way of its first MAD an SA of which that isn't known is asked what it may take. */
static void txn_listen(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	uint64_t patience = patience_ms(txn, view) * RCM_NS_PER_MS;

	if (view->unsaid && txn->sent == 1 && view->now < txn->sent_at + patience / 2)
		patience /= 2;
	txn_go(txn, RCM_TXN_SENT, txn->sent_at + patience);
}

void rcm_txn_sent(struct rcm_txn *txn, const struct rcm_txn_view *view, int ret)
{
	if (ret == -EIO && txn->lost < LOST_MAX) {
		rcm_txn_lost(txn, view);
	} else if (ret) {
		txn_fail(txn, ret);
	} else {
		txn->sent++;
		txn_listen(txn, view);
	}
}

void rcm_txn_silence(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	if (txn->state != RCM_TXN_SENT)
		return;
	txn->silent++;
	txn->last_busy = false;
	/* The SM may have moved, or the port gone down: that is why nobody answered. */
	if (view->now >= txn->deadline)
		txn_end(txn, RCM_TXN_LATE);
	else
		txn_go(txn, RCM_TXN_IN_DOUBT, UINT64_MAX);
}

void rcm_txn_looked(struct rcm_txn *txn, int ret)
{
	if (ret)
		txn_fail(txn, ret);
	else
		txn_go(txn, RCM_TXN_WAITING, UINT64_MAX);
}

void rcm_txn_again(struct rcm_txn *txn)
{
	if (txn->state == RCM_TXN_SENT)
		txn_go(txn, RCM_TXN_WAITING, UINT64_MAX);
}

bool rcm_txn_port(struct rcm_txn *txn, int ret)
{
	if (txn->state == RCM_TXN_IDLE || txn->state == RCM_TXN_OVER)
		return false;
	if (ret < 0)
		txn_fail(txn, ret);
	else if (ret && txn->state == RCM_TXN_SENT)
		txn_go(txn, RCM_TXN_WAITING, UINT64_MAX);
	else
		return false;
	return true;
}

void rcm_txn_lost(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	if (txn->lost++ < LOST_MAX)
		txn_pause(txn, view, LOST_MS);
	else
		txn_fail(txn, -ENODEV);
}

void rcm_txn_too_large(struct rcm_txn *txn)
{
	txn_end(txn, RCM_TXN_TOO_LARGE);
}

static void txn_busy(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	unsigned times = txn->busy < BUSY_TIMES_MAX ? txn->busy : BUSY_TIMES_MAX;

	txn->busy++;
	txn->last_busy = true;
	txn->last_none = false;
	txn_pause(txn, view, (uint64_t)BUSY_MS << times);
}

/* How long ago the SM was found to be another, in seconds; a new one knows of what was published before only once
 * that was published again. -1: not lately. */
static int moved_ago(const struct rcm_txn_view *view)
{
	uint64_t ago = view->now - view->moved_at;

	return view->moved_at && ago < MOVED_S * RCM_NS_PER_S ? (int)(ago / RCM_NS_PER_S) : -1;
}

/* Of an SA that has just begun it may be there in a moment: it is asked again as long as there is time. */
static void txn_none(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	if (!txn->renews || moved_ago(view) < 0 || txn->deadline == UINT64_MAX || txn->deadline <= view->now ||
	    txn->deadline - view->now < NONE_MS * RCM_NS_PER_MS) {
		txn_end(txn, RCM_TXN_NONE);
		return;
	}
	txn->last_none = true;
	txn->last_busy = false;
	txn_pause(txn, view, NONE_MS);
}

void rcm_txn_answered(struct rcm_txn *txn, const struct rcm_txn_view *view, const uint8_t *mad, size_t len)
{
	if (rcm_wire_read(txn->mad, mad, len, &txn->answer)) {
		txn_end(txn, RCM_TXN_MALFORMED);
		return;
	}
	switch (rcm_wire_verdict(txn->answer.status)) {
	case RCM_WIRE_AGAIN:
		txn_busy(txn, view);
		return;
	case RCM_WIRE_REFUSED:
		txn_end(txn, RCM_TXN_REFUSED);
		return;
	case RCM_WIRE_OK:
		if (txn->answer.count) {
			txn_end(txn, RCM_TXN_ANSWERED);
			return;
		}
		break;
	case RCM_WIRE_NONE:
		break;
	}
	txn_none(txn, view);
}

/* What is known of the SA may have changed since it was sent. */
static void txn_wait_on(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	txn->wonders = view->unsaid;
	if (view->now < txn->sent_at + patience_ms(txn, view) * RCM_NS_PER_MS)
		txn_listen(txn, view);
	else
		rcm_txn_silence(txn, view);
}

void rcm_txn_woken(struct rcm_txn *txn, const struct rcm_txn_view *view)
{
	if (txn->state == RCM_TXN_OVER)
		return;
	if (view->now >= txn->deadline)
		txn_end(txn, RCM_TXN_LATE);
	else if (txn->state == RCM_TXN_SENT)
		txn_wait_on(txn, view);
	else if (txn->state == RCM_TXN_PAUSED)
		txn_go(txn, RCM_TXN_WAITING, UINT64_MAX);
}

/* ---- What is told ---- */

static void txn_tell_none(const struct rcm_txn_view *view, char text[RCM_TEXT_MAX], uint16_t mad_status,
			  struct rcm_txn_outcome *out)
{
	int ago = moved_ago(view);

	out->status = -ENOENT;
	out->mad_status = mad_status;
	if (ago < 0)
		snprintf(text, RCM_TEXT_MAX, "none that this port may see");
	else
		snprintf(text, RCM_TEXT_MAX, "none that this port may see; the subnet manager changed %d s ago", ago);
}

static void txn_tell_late(const struct rcm_txn *txn, const struct rcm_txn_view *view, char text[RCM_TEXT_MAX],
			  struct rcm_txn_outcome *out)
{
	const struct rcm_sa_port *port = view->port;

	if (txn->last_none) {
		txn_tell_none(view, text, STATUS_NO_RECORDS, out);
		return;
	}
	out->late = true;
	out->status = txn->last_busy ? -EBUSY : -ETIMEDOUT;
	if (txn->last_busy) {
		out->mad_status = STATUS_BUSY;
		snprintf(text, RCM_TEXT_MAX, "the SA at LID %u of port %s/%u was busy, asked %u time%s", view->lid,
			 port->device, port->number, txn->sent, txn->sent == 1 ? "" : "s");
	} else if (!txn->sent) {
		snprintf(text, RCM_TEXT_MAX, "waited in line for the SA of port %s/%u until the deadline", port->device,
			 port->number);
	} else {
		snprintf(text, RCM_TEXT_MAX, "no answer from the SA at LID %u of port %s/%u, asked %u time%s",
			 view->lid, port->device, port->number, txn->sent, txn->sent == 1 ? "" : "s");
	}
}

/* What to say of a failure that is not the SA's. */
static void txn_tell_failure(const struct rcm_txn *txn, const struct rcm_txn_view *view, char text[RCM_TEXT_MAX],
			     struct rcm_txn_outcome *out)
{
	const struct rcm_sa_port *port = view->port;

	out->status = txn->failure;
	if (txn->failure == -ENETDOWN)
		snprintf(text, RCM_TEXT_MAX, "port %s/%u is down or has lost its subnet manager", port->device,
			 port->number);
	else
		snprintf(text, RCM_TEXT_MAX, "umad of port %s/%u: %s", port->device, port->number,
			 strerrordesc_np(-txn->failure));
}

static void txn_tell_refused(const struct rcm_txn *txn, char text[RCM_TEXT_MAX], struct rcm_txn_outcome *out)
{
	out->status = -EIO;
	out->mad_status = txn->answer.status;
	snprintf(text, RCM_TEXT_MAX, "the SA answered with status 0x%04x (%s)", txn->answer.status,
		 rcm_wire_status_name(txn->answer.status));
}

void rcm_txn_tell(struct rcm_txn *txn, const struct rcm_txn_view *view, char text[RCM_TEXT_MAX],
		  struct rcm_txn_outcome *ret_outcome)
{
	*ret_outcome = (struct rcm_txn_outcome){ .text = text };
	switch (txn->end) {
	case RCM_TXN_ANSWERED:
		ret_outcome->answer = txn->answer;
		ret_outcome->text = NULL;
		break;
	case RCM_TXN_NONE:
		txn_tell_none(view, text, txn->answer.status, ret_outcome);
		break;
	case RCM_TXN_REFUSED:
		txn_tell_refused(txn, text, ret_outcome);
		break;
	case RCM_TXN_MALFORMED:
		ret_outcome->status = -EIO;
		snprintf(text, RCM_TEXT_MAX, "the SA's answer is malformed");
		break;
	case RCM_TXN_TOO_LARGE:
		ret_outcome->status = -EIO;
		ret_outcome->too_large = true;
		snprintf(text, RCM_TEXT_MAX, "the SA's answer is larger than %d bytes", RCM_SA_ANSWER_MAX);
		break;
	case RCM_TXN_LATE:
		txn_tell_late(txn, view, text, ret_outcome);
		break;
	case RCM_TXN_FAILED:
		txn_tell_failure(txn, view, text, ret_outcome);
		break;
	}
	txn->state = RCM_TXN_IDLE;
}
