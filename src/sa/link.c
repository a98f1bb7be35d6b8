/* SPDX-License-Identifier: BSD-2-Clause */
/* One local port with its window of questions in flight. */
#include "sa/link.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/container.h"
#include "base/log.h"

#define ORPHAN_NS (200 * RCM_NS_PER_MS)	/* how long a MAD that nobody waits for keeps its place */
#define LATE_NS (100 * RCM_NS_PER_MS)	/* how long the kernel may be late with its news */
#define REST_NS (20 * RCM_NS_PER_MS)	/* without memory for a message, until it is looked at again */

static void link_idle(struct rcm_timer *timer);
static void link_readable(struct rcm_source *source, uint32_t events);
static void link_pump(struct rcm_link *link);
static void txn_due(struct rcm_timer *timer);
static void slots_expire(struct rcm_timer *timer);

void rcm_link_init(struct rcm_link *link, struct rcm_loop *loop, const struct rcm_umad_ops *ops,
		   const struct rcm_gid *gid, struct rcm_sa_stats *stats)
{
	*link = (struct rcm_link){ .loop = loop, .way = { .ops = ops, .port.gid = *gid }, .stats = stats };
	for (unsigned i = 0; i < RCM_UMAD_AGENTS; i++)
		TAILQ_INIT(&link->waiting[i]);
	rcm_pace_init(&link->pace);
}

/* What is known of it now, for the next step of a transaction. */
static struct rcm_txn_view link_view(struct rcm_link *link)
{
	const struct rcm_way *way = &link->way;

	return (struct rcm_txn_view){ .now = rcm_clock_now(), .moved_at = way->moved_at, .port = &way->port,
				      .lid = way->address.lid, .takes = link->pace.seen, .says = link->pace.says,
				      .unsaid = !link->pace.asked, .random = rcm_pace_random(&link->pace) };
}

/* A transaction or a callback of the link's begins or ends: while there is any, the link isn't freed. */
static void link_hold(struct rcm_link *link)
{
	if (!link->active++)
		rcm_timer_stop(link->loop, &link->idle_timer);
}

static void link_drop(struct rcm_link *link)
{
	if (!--link->active)
		rcm_timer_start(link->loop, &link->idle_timer, rcm_clock_now() + RCM_SA_IDLE_MS * RCM_NS_PER_MS,
				link_idle);
}

/* ---- The port ---- */

static void link_close_device(struct rcm_link *link)
{
	rcm_source_remove(&link->source);
	rcm_timer_stop(link->loop, &link->source_timer);
	rcm_timer_stop(link->loop, &link->slots_timer);
	rcm_way_close(&link->way);
	link->stale = 0;
}

int rcm_link_open(struct rcm_link *link)
{
	struct rcm_way *way = &link->way;
	int ret;

	if (way->umad)
		return 0;
	ret = rcm_way_open(way);
	if (ret)
		return ret;
	ret = rcm_source_add(link->loop, &link->source, way->ops->fd(way->umad), RCM_READABLE, link_readable);
	if (ret)
		rcm_way_close(way);
	return ret;
}

void rcm_link_done(struct rcm_link *link)
{
	rcm_link_cancel(&link->said);
	rcm_timer_stop(link->loop, &link->idle_timer);
	link_close_device(link);
}

/* Where the SM is now, by a port that is opened again where it was lost. */
static int link_look_again(struct rcm_link *link, bool in_doubt)
{
	uint64_t moved_at = link->way.moved_at;
	int ret = rcm_link_open(link);

	if (!ret)
		ret = rcm_way_look(&link->way, in_doubt);
	if (link->way.moved_at != moved_at)
		rcm_pace_forget(&link->pace);
	return ret;
}

/* ---- A transaction's next step ---- */

/* Watches over the slots: the kernel may forget a MAD in silence. */
static void slots_watch(struct rcm_link *link)
{
	uint64_t next = rcm_slot_first_until(&link->slots);

	if (next < UINT64_MAX)
		rcm_timer_start(link->loop, &link->slots_timer, next, slots_expire);
}

static struct rcm_link_txn *slot_release(struct rcm_link *link, struct rcm_slot *slot)
{
	struct rcm_link_txn *txn = rcm_slot_release(&link->slots, slot);

	if (txn)
		txn->held--;
	return txn;
}

/* Nobody waits for its MADs any more. The kernel can't be told; an SA that is well will answer soon, and for another no
 * place is kept. */
static void txn_orphan(struct rcm_link_txn *txn)
{
	struct rcm_link *link = txn->link;

	if (!txn->held)
		return;
	rcm_slot_orphan(&link->slots, txn, rcm_clock_now() + ORPHAN_NS);
	txn->held = 0;
	slots_watch(link);
}

static void txn_unqueue(struct rcm_link_txn *txn)
{
	if (txn->queued)
		TAILQ_REMOVE(&txn->link->waiting[rcm_txn_agent(&txn->txn)], txn, entry);
	txn->queued = false;
}

static void txn_leave(struct rcm_link_txn *txn)
{
	rcm_timer_stop(txn->link->loop, &txn->timer);
	txn_unqueue(txn);
	txn_orphan(txn);
	txn->txn.state = RCM_TXN_IDLE;
	link_drop(txn->link);
}

static void txn_tell(struct rcm_link_txn *txn)
{
	struct rcm_txn_view view = link_view(txn->link);
	struct rcm_txn_outcome outcome;
	char text[RCM_TEXT_MAX];

	txn_leave(txn);
	rcm_txn_tell(&txn->txn, &view, text, &outcome);
	txn->done(txn, &outcome);
}

static void link_said(struct rcm_link_txn *txn, const struct rcm_txn_outcome *outcome)
{
	if (!outcome->status)
		rcm_pace_said(&txn->link->pace, rcm_wire_response_time(outcome->answer.records));
	else if (outcome->status != -EIO && outcome->status != -ENOENT)
		txn->link->pace.asked = false;
}

/* Once for each SM: what it says counts for all questions; where it was not to be heard, who waits next asks. */
static void link_wonder(struct rcm_link *link)
{
	if (link->said.txn.state != RCM_TXN_IDLE)
		return;
	link->pace.asked = true;
	rcm_wire_ask(RCM_SA_GET, RCM_SA_CLASS_PORT_INFO, 0, NULL, 0, link->said.txn.mad);
	rcm_link_ask(link, &link->said, rcm_clock_now() + RCM_SA_DEADLINE_MS * RCM_NS_PER_MS, link_said);
}

/* Does what was decided. What is over is told in the loop's next turn: its caller may still be starting it. */
static void txn_follow(struct rcm_link_txn *txn)
{
	struct rcm_link *link = txn->link;

	if (txn->txn.wonders)
		link_wonder(link);
	txn->txn.wonders = false;
	if (txn->txn.state == RCM_TXN_IN_DOUBT)
		rcm_txn_looked(&txn->txn, link_look_again(link, true));
	txn_unqueue(txn);
	if (txn->txn.state == RCM_TXN_WAITING) {
		TAILQ_INSERT_TAIL(&link->waiting[rcm_txn_agent(&txn->txn)], txn, entry);
		txn->queued = true;
	}
	rcm_timer_start(link->loop, &txn->timer, txn->txn.state == RCM_TXN_OVER ? 0 : txn->txn.due, txn_due);
}

/* The same where it can be told at once. */
static void txn_follow_or_tell(struct rcm_link_txn *txn)
{
	if (txn->txn.state != RCM_TXN_OVER)
		txn_follow(txn);
	if (txn->txn.state == RCM_TXN_OVER)
		txn_tell(txn);
}

/* While another of its MADs is listened to, its own time counts. */
static void txn_silent(struct rcm_link_txn *txn)
{
	struct rcm_txn_view view = link_view(txn->link);

	if (txn->held)
		return;
	rcm_txn_silence(&txn->txn, &view);
	txn_follow_or_tell(txn);
}

static void txn_due(struct rcm_timer *timer)
{
	struct rcm_link_txn *txn = rcm_container(timer, struct rcm_link_txn, timer);
	struct rcm_link *link = txn->link;
	struct rcm_txn_view view = link_view(link);

	/* Whoever is told may ask again, and the link be the one to make room. */
	link_hold(link);
	rcm_txn_woken(&txn->txn, &view);
	txn_follow_or_tell(txn);
	link_pump(link);
	link_drop(link);
}

/* ---- MADs under way ---- */

static void slots_expire(struct rcm_timer *timer)
{
	struct rcm_link *link = rcm_container(timer, struct rcm_link, slots_timer);
	uint64_t now = rcm_clock_now();
	struct rcm_link_txn *txn;
	struct rcm_slot *slot;

	/* Set for a MAD that was answered since. */
	if (!link->slots.used)
		return;
	link_hold(link);
	while ((slot = rcm_slot_find_over(&link->slots, now))) {
		txn = slot_release(link, slot);
		if (txn)
			txn_silent(txn);
		else
			link->stale++;
	}
	slots_watch(link);
	link_pump(link);
	link_drop(link);
}

/* Closes the port, and with it ends all MADs under way; lost: against its will. */
static void device_drop(struct rcm_link *link, bool lost)
{
	struct rcm_slot *slot;

	link_close_device(link);
	while ((slot = rcm_slot_find_over(&link->slots, UINT64_MAX))) {
		struct rcm_link_txn *txn = slot_release(link, slot);
		struct rcm_txn_view view = link_view(link);

		if (!txn || txn->held)
			continue;
		if (lost)
			rcm_txn_lost(&txn->txn, &view);
		else
			rcm_txn_again(&txn->txn);
		txn_follow(txn);
	}
}

/* The port is of no more use: what was sent through it is asked again, once it could be opened anew. */
static void device_lost(struct rcm_link *link, int cause)
{
	rcm_info("sa: lost %s/%u: %s", link->way.port.device, link->way.port.number, strerrordesc_np(-cause));
	/* An answer that can't be read past is no fault of the device's, and counts against nobody else. */
	device_drop(link, cause != -EMSGSIZE);
}

static void link_idle(struct rcm_timer *timer)
{
	device_drop(rcm_container(timer, struct rcm_link, idle_timer), false);
}

static void txn_take(struct rcm_link_txn *txn, const struct rcm_umad_message *message, int ret)
{
	struct rcm_txn_view view = link_view(txn->link);

	if (ret == -EMSGSIZE)
		rcm_txn_too_large(&txn->txn);
	else
		rcm_txn_answered(&txn->txn, &view, message->mad, message->len);
	txn_follow_or_tell(txn);
}

static void link_take(struct rcm_link *link, const struct rcm_umad_message *message, int ret)
{
	struct rcm_slot *slot;
	struct rcm_link_txn *txn;

	if (message->len < RCM_MAD_HEADER_SIZE || !rcm_wire_tid(message->mad))
		return;
	slot = rcm_slot_find(&link->slots, rcm_wire_tid(message->mad));
	if (!slot) {
		rcm_trace("sa: dropped a late answer");
		link->stale -= link->stale > 0;
		return;
	}
	if (!message->timed_out)
		rcm_pace_note(&link->pace, rcm_clock_now() - slot->at);
	txn = slot_release(link, slot);
	if (txn && message->timed_out && ret != -EMSGSIZE)
		txn_silent(txn);
	else if (txn)
		txn_take(txn, message, ret);
}

static void link_resume(struct rcm_timer *timer)
{
	struct rcm_link *link = rcm_container(timer, struct rcm_link, source_timer);

	if (rcm_source_change(&link->source, RCM_READABLE))
		rcm_timer_start(link->loop, timer, rcm_clock_now() + REST_NS, link_resume);
}

/* The message stays in the kernel, so the descriptor stays readable: looking at it again at once would be a spin. */
static void link_rest(struct rcm_link *link)
{
	rcm_source_change(&link->source, 0);
	rcm_timer_start(link->loop, &link->source_timer, rcm_clock_now() + REST_NS, link_resume);
}

static void link_readable(struct rcm_source *source, uint32_t events)
{
	struct rcm_link *link = rcm_container(source, struct rcm_link, source);
	/* No more can have come than was asked for: a read to find nothing would be one too many. */
	unsigned most = link->slots.used ? link->slots.used : 1;
	struct rcm_umad_message message;
	int ret = 0;

	/* What is told from here may end the last question, and ask another that wants this link's place. */
	link_hold(link);
	for (unsigned i = 0; i < most && !ret && link->way.umad; i++) {
		ret = rcm_way_recv(&link->way, &message);
		if (!ret || ret == -EMSGSIZE)
			link_take(link, &message, ret);
	}
	if ((!ret || ret == -EAGAIN || ret == -ENOMEM) && (events & (RCM_BROKEN | RCM_HANGUP)))
		ret = -EIO;
	if (link->way.umad && ret == -ENOMEM)
		link_rest(link);
	else if (link->way.umad && ret && ret != -EAGAIN)
		device_lost(link, ret);
	link_pump(link);
	link_drop(link);
}

/* ---- Sending ---- */

/* Sends its question in a free slot, to be listened to for so long: 0 or -errno; umad is NULL where the port has been
 * given up. */
static int txn_send_mad(struct rcm_link_txn *txn, struct rcm_slot *slot, unsigned listen_ms)
{
	struct rcm_link *link = txn->link;
	struct rcm_way *way = &link->way;
	uint32_t tid = rcm_slot_next_tid(&link->slots);
	uint64_t now = rcm_clock_now();
	int ret = !way->umad || way->address_until <= now ? link_look_again(link, false) : 0;

	if (ret)
		return ret;
	rcm_wire_set_tid(txn->txn.mad, tid);
	ret = rcm_way_send(way, rcm_txn_agent(&txn->txn), txn->txn.mad, listen_ms);
	if (ret == -EIO || ret == -ENODEV || ret == -EBADF)
		device_lost(link, ret);
	if (ret)
		return ret;
	*slot = (struct rcm_slot){ .tid = tid, .txn = txn, .at = now,
				   .until = now + listen_ms * RCM_NS_PER_MS + LATE_NS };
	if (link->slots_timer.state == RCM_TIMER_IDLE)
		rcm_timer_start(link->loop, &link->slots_timer, slot->until, slots_expire);
	txn->held++;
	link->slots.used++;
	link->stats->queries++;
	link->stats->retries += txn->txn.sent > 0;
	return 0;
}

static void txn_send(struct rcm_link_txn *txn, struct rcm_slot *slot)
{
	struct rcm_txn_view view = link_view(txn->link);
	unsigned listen_ms = rcm_txn_next(&txn->txn, &view);

	txn_unqueue(txn);
	if (listen_ms)
		rcm_txn_sent(&txn->txn, &view, txn_send_mad(txn, slot, listen_ms));
	txn_follow(txn);
}

/* Sends what waits, as far as the window allows; completes nothing. */
static void link_pump(struct rcm_link *link)
{
	struct rcm_link_txn *txn;
	struct rcm_slot *slot;

	/* What the kernel has for nobody would keep what follows from being sent. */
	if (link->stale >= RCM_SA_WINDOW / 2)
		device_drop(link, false);
	for (unsigned agent = 0; agent < RCM_UMAD_AGENTS; agent++)
		while ((txn = TAILQ_FIRST(&link->waiting[agent])) && (slot = rcm_slot_find_free(&link->slots, agent)))
			txn_send(txn, slot);
}

void rcm_link_ask(struct rcm_link *link, struct rcm_link_txn *txn, uint64_t deadline, rcm_link_done_fn *done)
{
	txn->link = link;
	txn->done = done;
	rcm_txn_begin(&txn->txn, deadline);
	link_hold(link);
	txn_follow(txn);
	link_pump(link);
}

void rcm_link_cancel(struct rcm_link_txn *txn)
{
	if (txn->txn.state != RCM_TXN_IDLE)
		txn_leave(txn);
}

int rcm_link_look(struct rcm_link *link, bool in_doubt)
{
	uint16_t before = link->way.address.lid;
	int ret = link->way.umad ? link_look_again(link, in_doubt) : 0;

	return ret ? ret : before != link->way.address.lid;
}

void rcm_link_looked(struct rcm_link_txn *txn, int ret)
{
	if (!rcm_txn_port(&txn->txn, ret))
		return;
	txn_follow(txn);
	link_pump(txn->link);
}
