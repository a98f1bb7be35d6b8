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

/* A MAD that the kernel has under way. It outlives its transaction: a cancelled one still takes its place there. */
struct rcm_slot {
	uint32_t tid;			/* 0: free */
	struct rcm_txn *txn;		/* NULL: nobody waits for it any more */
	uint64_t at;			/* ns; when it was sent */
	uint64_t until;			/* ns; from then on it takes no place any more, whatever the kernel has */
};

/* Each agent has its own, as the kernel may count by agent. A question's first MAD is sent by the first agent, its
 * second by the second, and from the fourth on by the last: so that those which are listened to for long keep no place
 * from those that repeat them. */
enum { RCM_SA_SLOTS = RCM_UMAD_AGENTS * RCM_SA_WINDOW };

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
	uint64_t moved_at;		/* ns; when the SM was found to be at another LID; 0: never */
	struct rcm_slot slots[RCM_SA_SLOTS];	/* one agent's after the other's */
	unsigned used;			/* slots */
	unsigned stale;			/* MADs that take no place any more, and the kernel has still */
	uint64_t round_trip;		/* ns; what the SA was seen to take for an answer, of late */
	unsigned active;		/* transactions started and not done, and callbacks of its own that run */
	struct rcm_txn_list waiting[RCM_UMAD_AGENTS];	/* for a slot, first come first served */
	struct rcm_timer slots_timer;	/* for slots that nothing is heard of */
	struct rcm_timer idle_timer;
	struct rcm_timer source_timer;	/* without memory for a message: until it is read */
	uint32_t last_tid;
	uint64_t random;
	struct rcm_sa_stats *stats;	/* the owner's */
};

/* Valid during the completion only. */
struct rcm_txn_outcome {
	int status;			/* 0 or -errno as in struct rcm_sa_answer; 0 means one record at least */
	bool late;			/* for want of time */
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
	unsigned held;			/* slots: any of its MADs may be answered */
	int failure;			/* where failed: -errno, to be told in the next turn */
	unsigned sent, silent, busy, lost;	/* how often */
	bool last_busy, last_none;	/* what the last attempt met */
	bool renews;			/* the caller's: a new SM is soon told of what it has none of */
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

/* Sends the question in a free slot, to be listened to for so long: 0; -EAGAIN: none is free; other -errno, and where
 * umad is NULL then, the port has been given up. */
int rcm_link_send(struct rcm_link *link, struct rcm_txn *txn, unsigned timeout_ms);

/* Sends what waits, as far as the window allows; completes nothing. */
void rcm_link_pump(struct rcm_link *link);

/* Forgets what was known of the SM and reads it again, all of it where it is in doubt: 0, -ENETDOWN, -ENODEV. */
int rcm_link_look_again(struct rcm_link *link, bool in_doubt);

/* Nobody waits for the transaction's MADs any more. */
void rcm_link_orphan(struct rcm_link *link, struct rcm_txn *txn);

/* By which agent the transaction's next MAD goes, so where it waits. */
unsigned rcm_txn_agent(const struct rcm_txn *txn);

/* A transaction began or ended; a callback of the link's or a transaction's began or ended. While any is held the link
 * is its own: its owner frees it only where active is 0. */
void rcm_link_hold(struct rcm_link *link);
void rcm_link_drop(struct rcm_link *link);

/* Between 0 and max, for jitter. */
uint64_t rcm_link_random(struct rcm_link *link, uint64_t max);

/* The transaction's turn to be sent; an answer; the kernel listens no longer to one of its MADs; the port was lost, or
 * closed to be rid of what nobody waits for, and with it all its MADs. Their slots are free already. */
void rcm_txn_send(struct rcm_txn *txn);
void rcm_txn_answered(struct rcm_txn *txn, const uint8_t *mad, size_t len);
void rcm_txn_silence(struct rcm_txn *txn);
void rcm_txn_lost(struct rcm_txn *txn);
void rcm_txn_again(struct rcm_txn *txn);
void rcm_txn_overflow(struct rcm_txn *txn);
