/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a bare descriptor, which nothing of ours makes readable. */
#pragma once

/* A wait that can be roused: begun before the look whether it is still wanted. */
struct rcm_rouse {
	int fd;					/* readable: look again whether it is; -1: none is left for it */
	unsigned changes;
};

/* fd is one for the process, made when first asked for. Any thread, as all of these. */
void rcm_rouse_begin_wait(struct rcm_rouse *rouse);

/* Of a wait that was roused and not meant: until there is reason to look again. No cancellation point. */
void rcm_rouse_await_change(const struct rcm_rouse *rouse);

/* From the one to the other all such waits are ended, and none stays asleep that has not looked since the first. */
void rcm_rouse_begin(void);
void rcm_rouse_end(void);
