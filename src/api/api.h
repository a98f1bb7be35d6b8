/* SPDX-License-Identifier: BSD-2-Clause */
/* The border of the library: every public call goes in and out through these two. */
#pragma once

/*
 * First in a public call. A call that doesn't block by definition is no cancellation point, whatever it uses inside:
 * cancellation is held off until rcm_leave(), which gets what this returned.
 */
int rcm_enter(void);

/* Last in a public call: ret 0 or more is returned as it is, -errno as -1 with errno set. */
int rcm_leave(int cancel_state, int ret);

/* For calls that block until something happens, and may be cancelled meanwhile: the errno part alone. */
int rcm_result(int ret);
