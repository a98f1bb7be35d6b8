/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One local port with its window of questions in flight: it does what transactions decide (sa/txn.h), opens and closes
 * the port, sends, listens, keeps the time. All calls are on the loop's thread.
 */
#pragma once

#include <sys/queue.h>

#include "loop/timer.h"
#include "sa/pace.h"
#include "sa/slot.h"
#include "sa/txn.h"
#include "sa/way.h"

struct rcm_link_txn;

/* The transaction is the caller's again when this is called; the outcome is valid during the call. */
typedef void rcm_link_done_fn(struct rcm_link_txn *txn, const struct rcm_txn_outcome *outcome);

/* A transaction while a link carries it; zeroed before first use. */
struct rcm_link_txn {
	struct rcm_txn txn;
	struct rcm_link *link;
	TAILQ_ENTRY(rcm_link_txn) entry;
	bool queued;
	unsigned held;			/* slots: any of its MADs may be answered */
	struct rcm_timer timer;
	rcm_link_done_fn *done;
};

TAILQ_HEAD(rcm_link_txns, rcm_link_txn);

struct rcm_link {
	LIST_ENTRY(rcm_link) entry;	/* the owner's */
	struct rcm_loop *loop;
	struct rcm_way way;
	struct rcm_source source;
	struct rcm_slots slots;
	unsigned stale;			/* MADs that take no place any more, and the kernel has still */
	struct rcm_link_txn said;	/* the question how long an answer may take */
	struct rcm_pace pace;
	unsigned active;		/* transactions under way, and callbacks of its own that run */
	struct rcm_link_txns waiting[RCM_UMAD_AGENTS];	/* for a slot, first come first served */
	struct rcm_timer slots_timer;	/* for slots that nothing is heard of */
	struct rcm_timer idle_timer;
	struct rcm_timer source_timer;	/* without memory for a message: until it is read */
	struct rcm_sa_stats *stats;	/* the owner's */
};

/* A link of the port that has this GID, not open yet; ops and stats have to outlive it. Its owner frees it only where
 * active is 0. */
void rcm_link_init(struct rcm_link *link, struct rcm_loop *loop, const struct rcm_umad_ops *ops,
		   const struct rcm_gid *gid, struct rcm_sa_stats *stats);

/* Finds its port and opens it, where that isn't open. 0 or -errno. It is closed again after RCM_SA_IDLE_MS without
 * questions. */
int rcm_link_open(struct rcm_link *link);

/* Closes the port; its transactions must have been cancelled. */
void rcm_link_done(struct rcm_link *link);

/* After a fork, in the child: closes the port without touching the loop. */
static inline void rcm_link_abandon(struct rcm_link *link)
{
	rcm_way_close(&link->way);
}

/* Asks txn->txn.mad, a question made by wire.h; deadline in ns of rcm_clock_now(), 0: none. done is called once, never
 * before this returned, unless the transaction is cancelled. */
void rcm_link_ask(struct rcm_link *link, struct rcm_link_txn *txn, uint64_t deadline, rcm_link_done_fn *done);

/* Looks at its port anew, where that is open, in_doubt: at its P_Keys, too. 0; 1: its SM is at another LID than before;
 * -ENETDOWN, -ENODEV. And tells that to one of its transactions that is under way: what was sent to the SM of before is
 * sent to the new one, and one whose port is down fails, in the loop's next turn. */
int rcm_link_look(struct rcm_link *link, bool in_doubt);
void rcm_link_looked(struct rcm_link_txn *txn, int ret);

/* done will not be called any more, and the transaction is the caller's. Does nothing where it isn't under way. */
void rcm_link_cancel(struct rcm_link_txn *txn);
