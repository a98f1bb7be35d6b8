/* SPDX-License-Identifier: BSD-2-Clause */
/* The border of the library, where -errno becomes errno. Calls on an id come and go by api/door.h. */
#pragma once

/*
 * First in a public call that does more than read. A call that doesn't block by definition is no cancellation point,
 * whatever it uses inside: cancellation is held off until rcm_leave(), which gets what this returned.
 */
int rcm_enter(void);

/* Last in such a call: ret 0 or more is returned as it is, -errno as -1 with errno set. */
int rcm_leave(int cancel_state, int ret);

/* The errno part alone: for calls that only look at what they are given, and for those that block until something
 * happens and may be cancelled meanwhile. */
int rcm_result(int ret);
