/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a bare descriptor, which nothing of ours makes readable. */
#pragma once

/* A wait that can be roused. */
struct rcm_rouse {
	unsigned changes;
};

/* Before the look whether it is still wanted. Any thread, as all of these. */
void rcm_rouse_look(struct rcm_rouse *rouse);

/* Readable: look again. One for the process, made when first asked for; -1: none is left for it. */
int rcm_rouse_fd(void);

/* Of a wait that was roused and not meant: until there is reason to look again. No cancellation point. */
void rcm_rouse_await_change(const struct rcm_rouse *rouse);

/* From the one to the other all such waits are ended, and none stays asleep that has not looked since the first. */
void rcm_rouse_begin(void);
void rcm_rouse_end(void);
