/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One question to an SA, asked as often as its deadline allows: what is to be done about it next. All of it is pure: a
 * step is told what happened and what is known of the port, and leaves in the transaction what to do, which the link
 * does. It carries whatever MAD it is given, of any method and attribute that wire.h can read the answer of.
 */
#pragma once

#include "base/limits.h"
#include "sa/umad.h"
#include "sa/wire.h"

/* What is known of the port when a step is made. */
struct rcm_txn_view {
	uint64_t now;			/* ns of rcm_clock_now() */
	uint64_t takes;			/* ns; what the SA was seen to take for an answer */
	uint64_t says;			/* ns; what it says it may */
	bool unsaid;			/* it wasn't asked yet what it may take */
	uint64_t moved_at;		/* ns; when the SM was found to be at another LID; 0: never */
	uint64_t random;		/* another for each step */
	const struct rcm_sa_port *port;
	uint16_t lid;			/* of the SM */
};

enum rcm_txn_state {
	RCM_TXN_IDLE,			/* not begun, or told */
	RCM_TXN_WAITING,		/* to be sent as soon as there is room for it */
	RCM_TXN_SENT,			/* to be listened to, until due */
	RCM_TXN_PAUSED,			/* to rest until due */
	RCM_TXN_IN_DOUBT,		/* nobody answers: the port is to be looked at again */
	RCM_TXN_OVER,			/* to be told */
};

struct rcm_txn {
	uint8_t mad[RCM_MAD_SIZE];	/* the caller's: the question */
	bool renews;			/* the caller's: a new SM is soon told of what it has none of */
	enum rcm_txn_state state;
	uint64_t due;			/* ns; when it is to be woken, never after its deadline */
	uint64_t deadline;		/* ns; UINT64_MAX: none */
	unsigned sent, silent, busy, lost;	/* how often */
	uint64_t sent_at;		/* ns; its last MAD */
	uint64_t chance;		/* by how much it is more patient than others */
	bool wonders;			/* how long the SA may take: the link is to ask it */
	bool last_busy, last_none;	/* what the last attempt met */
	enum { RCM_TXN_ANSWERED, RCM_TXN_NONE, RCM_TXN_REFUSED, RCM_TXN_MALFORMED, RCM_TXN_TOO_LARGE,
	       RCM_TXN_LATE, RCM_TXN_FAILED } end;	/* how it came to be over */
	int failure;			/* where failed: -errno */
	struct rcm_wire_answer answer;	/* in the bytes of the step that ended it */
};

struct rcm_txn_outcome {
	int status;			/* 0 or -errno as in struct rcm_sa_answer; 0 means one record at least */
	bool late;			/* for want of time */
	bool too_large;
	uint16_t mad_status;
	struct rcm_wire_answer answer;	/* where status is 0 */
	const char *text;		/* where it isn't */
};

/* Its question has been written; deadline in ns, 0: none. It is waiting then. */
void rcm_txn_begin(struct rcm_txn *txn, uint64_t deadline);

/* By which agent its next MAD goes: those that are listened to for long keep no place from those that repeat them. */
unsigned rcm_txn_agent(const struct rcm_txn *txn);

/* There is room for it: for how many ms the MAD is to be listened to; 0: it isn't to be sent, it is over. */
unsigned rcm_txn_next(struct rcm_txn *txn, const struct rcm_txn_view *view);

/* What became of sending that; -EIO where the port was lost with it. */
void rcm_txn_sent(struct rcm_txn *txn, const struct rcm_txn_view *view, int ret);

/* An answer to any of its MADs; one that was larger than can be read. */
void rcm_txn_answered(struct rcm_txn *txn, const struct rcm_txn_view *view, const uint8_t *mad, size_t len);
void rcm_txn_too_large(struct rcm_txn *txn);

/* None of its MADs is listened to any more; the port was lost with all of them; or was closed for another's sake. */
void rcm_txn_silence(struct rcm_txn *txn, const struct rcm_txn_view *view);
void rcm_txn_lost(struct rcm_txn *txn, const struct rcm_txn_view *view);
void rcm_txn_again(struct rcm_txn *txn);

/* The port was looked at again: 0 or -errno. */
void rcm_txn_looked(struct rcm_txn *txn, int ret);

/* The port was looked at for another's sake: -errno: it is of no use; 1: the SM is another. True: that changes what is
 * to be done about it. */
bool rcm_txn_port(struct rcm_txn *txn, int ret);

/* It is due. */
void rcm_txn_woken(struct rcm_txn *txn, const struct rcm_txn_view *view);

/* What to tell of one that is over, which is idle then; text is where its words are put. */
void rcm_txn_tell(struct rcm_txn *txn, const struct rcm_txn_view *view, char text[RCM_TEXT_MAX],
		  struct rcm_txn_outcome *ret_outcome);
