/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a bare descriptor, which nothing of ours makes readable. */
#pragma once

#include <stdbool.h>

/* The waits that began since the last were roused, and the descriptor that rouses them. */
struct rcm_round;

/* A wait that can be roused: {0} before it joins, and once it has left. */
struct rcm_rouse {
	struct rcm_round *round;
};

/* Takes a wait into the present round. True: it was in none, or in one that is over, and looks whether it is still
 * wanted before it waits. With cancellation held off. */
bool rcm_rouse_join(struct rcm_rouse *rouse);

/* Readable: the round is over, join the next. -1: no descriptor is left for it, and nothing rouses it. */
int rcm_rouse_fd(const struct rcm_rouse *rouse);

/* Of a wait that is over; one that has not joined: nothing. Any thread, as all of these; no cancellation point. */
void rcm_rouse_leave(struct rcm_rouse *rouse);

/* Ends the round: who has joined and looked before doesn't stay asleep. Waits for nobody; no cancellation point. */
void rcm_rouse_all(void);
