/* SPDX-License-Identifier: BSD-2-Clause */
/* One local port with its window of questions in flight. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/container.h"
#include "base/log.h"
#include "sa/txn.h"

/* How long an address read from sysfs is believed, and how long the kernel may be late with its news. */
#define ADDRESS_NS (1 * RCM_NS_PER_S)
#define ORPHAN_NS (200 * RCM_NS_PER_MS)	/* how long a MAD that nobody waits for keeps its place */
#define LATE_NS (100 * RCM_NS_PER_MS)
#define REST_NS (20 * RCM_NS_PER_MS)	/* without memory for a message, until it is looked at again */

void rcm_link_init(struct rcm_link *link, struct rcm_loop *loop, const struct rcm_umad_ops *ops,
		   const struct rcm_gid *gid, struct rcm_sa_stats *stats)
{
	*link = (struct rcm_link){ .loop = loop, .ops = ops, .port.gid = *gid, .stats = stats };
	for (unsigned i = 0; i < RCM_UMAD_AGENTS; i++)
		TAILQ_INIT(&link->waiting[i]);
	if (getrandom(&link->random, sizeof(link->random), GRND_NONBLOCK) != sizeof(link->random))
		link->random = rcm_clock_now();
	link->random |= 1;
}

uint64_t rcm_link_random(struct rcm_link *link, uint64_t max)
{
	/* xorshift64: Marsaglia, Journal of Statistical Software 8(14), 2003 */
	link->random ^= link->random << 13;
	link->random ^= link->random >> 7;
	link->random ^= link->random << 17;
	return link->random % (max + 1);
}

static struct rcm_slot *slot_find(struct rcm_link *link, uint32_t tid)
{
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (link->slots[i].tid == tid)
			return &link->slots[i];
	return NULL;
}

static struct rcm_slot *slot_find_free(struct rcm_link *link, unsigned agent)
{
	struct rcm_slot *slots = &link->slots[(size_t)agent * RCM_SA_WINDOW];

	for (unsigned i = 0; i < RCM_SA_WINDOW; i++)
		if (!slots[i].tid)
			return &slots[i];
	return NULL;
}

/* 0 is never used: a free slot has it, and some SAs ignore it. */
static uint32_t next_tid(struct rcm_link *link)
{
	do
		link->last_tid++;
	while (!link->last_tid || slot_find(link, link->last_tid));
	return link->last_tid;
}

/* Its place is free again; returns whose it was. */
static struct rcm_txn *slot_release(struct rcm_link *link, struct rcm_slot *slot)
{
	struct rcm_txn *txn = slot->txn;

	*slot = (struct rcm_slot){ 0 };
	link->used--;
	if (txn)
		txn->held--;
	return txn;
}

static void slots_expire(struct rcm_timer *timer);

/* Watches over the slots: the kernel may forget a MAD in silence. */
static void slots_watch(struct rcm_link *link)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < RCM_SA_SLOTS; i++)
		if (link->slots[i].tid && link->slots[i].until < next)
			next = link->slots[i].until;
	if (next < UINT64_MAX)
		rcm_timer_start(link->loop, &link->slots_timer, next, slots_expire);
}

static void slots_expire(struct rcm_timer *timer)
{
	struct rcm_link *link = rcm_container(timer, struct rcm_link, slots_timer);
	uint64_t now = rcm_clock_now();

	/* Set for a MAD that was answered since. */
	if (!link->used)
		return;
	rcm_link_hold(link);
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++) {
		struct rcm_slot *slot = &link->slots[i];
		struct rcm_txn *txn;

		if (!slot->tid || slot->until > now)
			continue;
		txn = slot_release(link, slot);
		if (txn)
			rcm_txn_silence(txn);
		else
			link->stale++;
	}
	slots_watch(link);
	rcm_link_pump(link);
	rcm_link_drop(link);
}

/* The kernel can't be told; an SA that is well will answer soon, and for another no place is kept. */
void rcm_link_orphan(struct rcm_link *link, struct rcm_txn *txn)
{
	uint64_t until = rcm_clock_now() + ORPHAN_NS;

	for (unsigned i = 0; i < RCM_SA_SLOTS && txn->held; i++) {
		struct rcm_slot *slot = &link->slots[i];

		if (slot->txn != txn)
			continue;
		slot->txn = NULL;
		slot->until = until < slot->until ? until : slot->until;
		txn->held--;
	}
	slots_watch(link);
}

static void link_close_device(struct rcm_link *link)
{
	rcm_source_remove(&link->source);
	rcm_timer_stop(link->loop, &link->source_timer);
	rcm_timer_stop(link->loop, &link->slots_timer);
	link->ops->close(link->umad);
	link->umad = NULL;
	link->address_until = 0;
	link->stale = 0;
}

/* Closes the port, and with it ends all MADs under way: each transaction that has none any more is told, by tell. */
static void device_drop(struct rcm_link *link, void (*tell)(struct rcm_txn *txn))
{
	link_close_device(link);
	for (unsigned i = 0; i < RCM_SA_SLOTS; i++) {
		struct rcm_slot *slot = &link->slots[i];
		struct rcm_txn *txn = slot->tid ? slot_release(link, slot) : NULL;

		if (txn && !txn->held)
			tell(txn);
	}
}

/* The port is of no more use: what was sent through it is asked again, once it could be opened anew. */
static void device_lost(struct rcm_link *link, int cause)
{
	rcm_info("sa: lost %s/%u: %s", link->port.device, link->port.number, strerrordesc_np(-cause));
	device_drop(link, rcm_txn_lost);
}

/* More counts at once, less bit by bit. */
static void link_note_round_trip(struct rcm_link *link, const struct rcm_slot *slot)
{
	uint64_t took = rcm_clock_now() - slot->at;

	link->round_trip = took > link->round_trip ? took : link->round_trip - (link->round_trip - took) / 8;
}

static void take_message(struct rcm_link *link, const struct rcm_umad_message *message, int ret)
{
	struct rcm_slot *slot;
	struct rcm_txn *txn;

	if (message->len < RCM_MAD_HEADER_SIZE || !rcm_wire_tid(message->mad))
		return;
	slot = slot_find(link, rcm_wire_tid(message->mad));
	if (!slot) {
		rcm_trace("sa: dropped a late answer");
		link->stale -= link->stale > 0;
		return;
	}
	if (!message->timed_out)
		link_note_round_trip(link, slot);
	txn = slot_release(link, slot);
	if (!txn)
		return;
	if (ret == -EMSGSIZE)
		rcm_txn_overflow(txn);
	else if (message->timed_out)
		rcm_txn_silence(txn);
	else
		rcm_txn_answered(txn, message->mad, message->len);
}

static void link_readable(struct rcm_source *source, uint32_t events);

static void link_resume(struct rcm_timer *timer)
{
	struct rcm_link *link = rcm_container(timer, struct rcm_link, source_timer);
	int ret = rcm_source_add(link->loop, &link->source, link->ops->fd(link->umad), RCM_READABLE, link_readable);

	if (!ret)
		return;
	rcm_link_hold(link);
	device_lost(link, ret);
	rcm_link_pump(link);
	rcm_link_drop(link);
}

/* The message stays in the kernel, so the descriptor stays readable: looking at it again at once would be a spin. */
static void link_rest(struct rcm_link *link)
{
	rcm_source_remove(&link->source);
	rcm_timer_start(link->loop, &link->source_timer, rcm_clock_now() + REST_NS, link_resume);
}

static void link_readable(struct rcm_source *source, uint32_t events)
{
	struct rcm_link *link = rcm_container(source, struct rcm_link, source);
	/* No more can have come than was asked for: a read to find nothing would be one too many. */
	unsigned most = link->used ? link->used : 1;
	struct rcm_umad_message message;
	int ret = 0;

	/* What is told from here may end the last question, and ask another that wants this link's place. */
	rcm_link_hold(link);
	for (unsigned i = 0; i < most && !ret && link->umad; i++) {
		ret = link->ops->recv(link->umad, &message);
		if (!ret || ret == -EMSGSIZE)
			take_message(link, &message, ret);
	}
	if (link->umad && (!ret || ret == -EAGAIN) && (events & (RCM_BROKEN | RCM_HANGUP)))
		ret = -EIO;
	if (link->umad && ret == -ENOMEM)
		link_rest(link);
	else if (link->umad && ret && ret != -EAGAIN)
		device_lost(link, ret);
	rcm_link_pump(link);
	rcm_link_drop(link);
}

/* Where the port was closed its device may have come back under another name. */
static int link_find(struct rcm_link *link)
{
	struct rcm_gid gid = link->port.gid;

	return link->ops->find(&gid, &link->port);
}

int rcm_link_open(struct rcm_link *link)
{
	int ret;

	if (link->umad)
		return 0;
	ret = link_find(link);
	if (ret)
		return ret;
	ret = link->ops->open(&link->port, &link->umad);
	if (ret)
		return ret == -EPERM ? -EACCES : ret;
	ret = rcm_source_add(link->loop, &link->source, link->ops->fd(link->umad), RCM_READABLE, link_readable);
	if (ret) {
		link->ops->close(link->umad);
		link->umad = NULL;
	}
	return ret;
}

void rcm_link_done(struct rcm_link *link)
{
	rcm_timer_stop(link->loop, &link->idle_timer);
	link_close_device(link);
}

void rcm_link_abandon(struct rcm_link *link)
{
	link->ops->close(link->umad);
	link->umad = NULL;
}

static void link_idle(struct rcm_timer *timer)
{
	struct rcm_link *link = rcm_container(timer, struct rcm_link, idle_timer);

	device_drop(link, rcm_txn_again);
}

void rcm_link_hold(struct rcm_link *link)
{
	if (!link->active++)
		rcm_timer_stop(link->loop, &link->idle_timer);
}

void rcm_link_drop(struct rcm_link *link)
{
	if (!--link->active)
		rcm_timer_start(link->loop, &link->idle_timer, rcm_clock_now() + RCM_SA_IDLE_MS * RCM_NS_PER_MS,
				link_idle);
}

int rcm_link_look_again(struct rcm_link *link, bool in_doubt)
{
	uint16_t before = link->address.lid;
	int ret;

	link->address_until = 0;
	ret = rcm_link_open(link);
	if (!ret)
		ret = link->ops->address(link->umad, in_doubt, &link->address);
	if (ret)
		return ret;
	if (before && before != link->address.lid) {
		rcm_info("sa: the SM of %s/%u is at LID %u now", link->port.device, link->port.number,
			 link->address.lid);
		link->moved_at = rcm_clock_now();
	}
	link->address_until = rcm_clock_now() + ADDRESS_NS;
	return 0;
}

int rcm_link_send(struct rcm_link *link, struct rcm_txn *txn, unsigned timeout_ms)
{
	unsigned agent = rcm_txn_agent(txn);
	struct rcm_slot *slot = slot_find_free(link, agent);
	uint64_t now;
	uint32_t tid;
	int ret;

	if (!slot)
		return -EAGAIN;
	if (!link->umad || link->address_until <= rcm_clock_now()) {
		ret = rcm_link_look_again(link, false);
		if (ret)
			return ret;
	}
	tid = next_tid(link);
	rcm_wire_set_tid(txn->mad, tid);
	ret = link->ops->send(link->umad, agent, &link->address, txn->mad, timeout_ms);
	if (ret == -EIO || ret == -ENODEV || ret == -EBADF)
		device_lost(link, ret);
	if (ret)
		return ret;
	now = rcm_clock_now();
	*slot = (struct rcm_slot){ .tid = tid, .txn = txn, .at = now,
				   .until = now + timeout_ms * RCM_NS_PER_MS + LATE_NS };
	if (link->slots_timer.state == RCM_TIMER_IDLE)
		rcm_timer_start(link->loop, &link->slots_timer, slot->until, slots_expire);
	txn->held++;
	link->used++;
	link->stats->queries++;
	link->stats->retries += txn->sent > 0;
	return 0;
}

void rcm_link_pump(struct rcm_link *link)
{
	struct rcm_txn *txn;

	/* What the kernel has for nobody would keep what follows from being sent. */
	if (link->stale >= RCM_SA_WINDOW / 2)
		device_drop(link, rcm_txn_again);
	for (unsigned agent = 0; agent < RCM_UMAD_AGENTS; agent++)
		while ((txn = TAILQ_FIRST(&link->waiting[agent])) && slot_find_free(link, agent))
			rcm_txn_send(txn);
}
