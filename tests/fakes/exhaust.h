/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes calls with the first use of some means failing, the second, and so on until the call has all it wants, each time
 * in a process of its own. A call whose means fail says so or succeeds; after it nothing is leaked, what it is watched
 * for is as before, and the same call succeeds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fake_means.h"

struct exhaust_call {
	const char *name;
	void (*prepare)(void);		/* before, with all means; NULL: nothing */
	int (*call)(void);		/* 0 or -errno */
	void (*undo)(void);		/* after each call that succeeded; NULL: nothing */
	int (*dropped)(void);		/* NULL, or: what stands for a success that was lost, as documented: -errno */
};

struct exhaust {
	const struct exhaust_call *calls;
	size_t count;
	void (*begin)(void);		/* in each process, before prepare() and after the last undo() */
	void (*end)(void);
};

/* These bytes may not change by a call that fails; NULL: none. */
void exhaust_watch(const void *bytes, size_t len);

/* The failure came as an event. */
void exhaust_by_event(void);

/* Does all that; prints the lines of the table. False: something was wrong, which is printed. */
bool exhaust_run(const struct exhaust *exhaust, const char *only);
