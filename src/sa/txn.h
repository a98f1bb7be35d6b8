/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to an SA and how they get answered: a link is one local port with its window of questions in flight; a
 * transaction is one question, asked as often as its deadline allows. All calls are on the loop's thread.
 */
#pragma once

#include <sys/queue.h>

#include "base/limits.h"
#include "loop/timer.h"
#include "sa/umad.h"
#include "sa/wire.h"

struct rcm_txn;

/* A question the kernel has under way. It outlives its transaction: a cancelled one still takes its place there. */
struct rcm_slot {
	uint32_t tid;			/* 0: free */
	struct rcm_txn *txn;		/* NULL: nobody waits for it any more */
	uint64_t until;			/* ns; if nothing was heard of it by then, the kernel dropped it in silence */
};

TAILQ_HEAD(rcm_txn_list, rcm_txn);

struct rcm_link {
	LIST_ENTRY(rcm_link) entry;	/* the owner's */
	struct rcm_loop *loop;
	const struct rcm_umad_ops *ops;
	struct rcm_sa_port port;
	struct rcm_umad *umad;		/* NULL: not open */
	struct rcm_source source;
	struct rcm_sa_address address;
	uint64_t address_until;		/* ns; believed until then */
	struct rcm_slot slots[RCM_SA_WINDOW];
	unsigned used;			/* slots */
	unsigned active;		/* transactions started and not done, and callbacks of its own that run */
	struct rcm_txn_list waiting;	/* for a slot, first come first served */
	struct rcm_timer slots_timer;	/* for slots nobody waits for */
	struct rcm_timer idle_timer;
	struct rcm_timer source_timer;	/* without memory for a message: until it is read */
	uint32_t last_tid;
	uint64_t random;
	struct rcm_sa_stats *stats;	/* the owner's */
};

/* Valid during the completion only. */
struct rcm_txn_outcome {
	int status;			/* 0 or -errno as in struct rcm_sa_answer; 0 means one record at least */
	uint16_t mad_status;
	struct rcm_wire_answer answer;	/* where status is 0 */
	const char *text;		/* where it isn't */
};

/* The transaction is the caller's again when this is called. */
typedef void rcm_txn_done_fn(struct rcm_txn *txn, const struct rcm_txn_outcome *outcome);

struct rcm_txn {
	TAILQ_ENTRY(rcm_txn) entry;
	struct rcm_link *link;
	enum { RCM_TXN_IDLE, RCM_TXN_WAITING, RCM_TXN_SENT, RCM_TXN_PAUSED, RCM_TXN_FAILED } state;
	struct rcm_timer timer;
	uint64_t deadline;		/* ns; UINT64_MAX: none */
	struct rcm_slot *slot;		/* where sent */
	int failure;			/* where failed: -errno, to be told in the next turn */
	unsigned sent, silent, busy, lost;	/* how often */
	bool last_busy;			/* what the last attempt met */
	uint8_t mad[RCM_MAD_SIZE];
	rcm_txn_done_fn *done;
};

/* A link of the port that has this GID, not open yet; ops and stats have to outlive it. */
void rcm_link_init(struct rcm_link *link, struct rcm_loop *loop, const struct rcm_umad_ops *ops,
		   const struct rcm_gid *gid, struct rcm_sa_stats *stats);

/* Finds its port and opens it, where that isn't open. 0 or -errno. It is closed again after RCM_SA_IDLE_MS without
 * questions. */
int rcm_link_open(struct rcm_link *link);

/* Closes the port; its transactions must have been cancelled. */
void rcm_link_done(struct rcm_link *link);

/* After a fork, in the child: closes the port without touching the loop. */
void rcm_link_abandon(struct rcm_link *link);

/* Asks txn->mad, a question made by wire.h; deadline in ns of rcm_clock_now(), 0: none. done is called once, never
 * before this returned, unless the transaction is cancelled. */
void rcm_txn_start(struct rcm_link *link, struct rcm_txn *txn, uint64_t deadline, rcm_txn_done_fn *done);

/* done will not be called any more, and the transaction is the caller's. Does nothing where it isn't under way. */
void rcm_txn_cancel(struct rcm_txn *txn);

/* Between link.c and txn.c: none of these completes another transaction than the one it is given. */

/* Sends the question in a free slot: 0; -EAGAIN: none is free; other -errno, and where umad is NULL then, the port
 * has been given up. */
int rcm_link_send(struct rcm_link *link, struct rcm_txn *txn, unsigned timeout_ms);

/* Sends what waits, as far as the window allows; completes nothing. */
void rcm_link_pump(struct rcm_link *link);

/* Forgets what was known of the SM and reads it again, all of it where it is in doubt: 0, -ENETDOWN, -ENODEV. */
int rcm_link_look_again(struct rcm_link *link, bool in_doubt);

/* The question's slot is free again / taken until the kernel is done with it. */
void rcm_link_release(struct rcm_link *link, struct rcm_slot *slot);
void rcm_link_orphan(struct rcm_link *link, struct rcm_slot *slot);

/* A transaction began or ended; a callback of the link's or a transaction's began or ended. While any is held the link
 * is its own: its owner frees it only where active is 0. */
void rcm_link_hold(struct rcm_link *link);
void rcm_link_drop(struct rcm_link *link);

/* Between 0 and max, for jitter. */
uint64_t rcm_link_random(struct rcm_link *link, uint64_t max);

/* The transaction's turn to be sent; answer, silence, loss of the port for one that was sent, whose slot is free. */
void rcm_txn_send(struct rcm_txn *txn);
void rcm_txn_answered(struct rcm_txn *txn, const uint8_t *mad, size_t len);
void rcm_txn_silence(struct rcm_txn *txn);
void rcm_txn_lost(struct rcm_txn *txn);
void rcm_txn_overflow(struct rcm_txn *txn);
