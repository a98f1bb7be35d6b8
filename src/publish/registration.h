/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One service on its way to the SA, and kept there: asked for, set, renewed, set again, and removed at the end. All
 * calls are on the loop's thread.
 */
#pragma once

#include "base/limits.h"
#include "loop/timer.h"
#include "publish/offer.h"

/*
 * WAITING   for its time, or for a change		(registration_rest)
 * IN_LINE   for a turn					(registration_want)
 * ASKING    whether the SA has its record		(registration_ask)
 * LOOKING   what is in the place of its record		(registration_look)
 * SETTING   the record					(registration_set)
 * REMOVING  the record					(registration_remove)
 */
enum rcm_registration_state {
	RCM_REGISTRATION_WAITING, RCM_REGISTRATION_IN_LINE, RCM_REGISTRATION_ASKING, RCM_REGISTRATION_LOOKING,
	RCM_REGISTRATION_SETTING, RCM_REGISTRATION_REMOVING,
};

struct rcm_registration;

/* What its owner does for it. */
struct rcm_registration_ops {
	/* It wants a turn: rcm_registration_turn(), not inside of this call. */
	void (*want)(struct rcm_registration *registration);

	/* Its turn is over. */
	void (*rest)(struct rcm_registration *registration);

	/* Another one whose record is, or may be, in the place that it is to have next; NULL: none. */
	const struct rcm_registration *(*holder)(const struct rcm_registration *registration);

	/* The place that it had is free; who was held up by that is to be stirred. */
	void (*left)(struct rcm_registration *registration);

	/* What became of its record changed. Not any more once it was stopped. */
	void (*tell)(struct rcm_registration *registration, const struct rcm_service_outcome *outcome);

	/* It is through, its turn too, and the owner's to free. */
	void (*over)(struct rcm_registration *registration);

	uint64_t (*random)(struct rcm_registration *registration);
};

struct rcm_registration {
	struct rcm_loop *loop;
	const struct rcm_registration_ops *ops;
	struct rcm_service_offer offer;
	uint8_t key[16];			/* the ServiceKey, by which it knows its own record; never 0 */
	enum rcm_registration_state state;
	bool ending;				/* to be removed */
	bool sent;				/* a Set for place was sent: the SA may have the record */
	bool there;				/* the SA has it until lease_end, */
	bool was_there;				/* or has had it before */
	bool again;				/* something changed during its turn */
	bool blocked;				/* another of this process has the place: waits to be stirred */
	bool told_any;
	int told;				/* the status that was told last */
	unsigned failures;			/* in a row */
	uint64_t lease_end, set_at;		/* ns */
	struct rcm_service_place place;		/* where the record is, or is to be */
	struct rcm_timer timer;
	const struct rcm_sa_ops *sa_ops;	/* during a turn: through whom, */
	struct rcm_sa *sa;
	struct rcm_gid port;			/* by which port, */
	uint16_t sm_lid, set_sm_lid;		/* where its SM is, and was when the record was set, */
	struct rcm_service_place next;		/* and where the record is to be from now on */
	struct rcm_sa_query *query;
	int why_status;				/* what went wrong last, */
	char why[RCM_TEXT_MAX];			/* and in words */
};

/* Begins, or begins anew on another loop: it wants a turn. What an earlier one knows of its record counts still. */
void rcm_registration_start(struct rcm_registration *registration, struct rcm_loop *loop,
			    const struct rcm_registration_ops *ops);

/* Whether the SA has its record there, or may have. */
bool rcm_registration_is_at(const struct rcm_registration *registration, const struct rcm_service_place *place);

/* Its turn; sa NULL: there is no turn to be had, for that reason (-errno, words). Ends with rest() or over(). */
void rcm_registration_turn(struct rcm_registration *registration, const struct rcm_sa_ops *ops, struct rcm_sa *sa,
			   const struct rcm_publish_port *port);
void rcm_registration_fail(struct rcm_registration *registration, int status, const char *text);

/* Something changed: it wants a turn at once. */
void rcm_registration_stir(struct rcm_registration *registration);

/* Removes the record where the SA has it, and only where it is this one's; then over(). */
void rcm_registration_stop(struct rcm_registration *registration);

/* Of one whose loop was lost: its record isn't renewed any more. True: which is to be told. Any thread. */
bool rcm_registration_forsake(struct rcm_registration *registration, int status, const char *text);
