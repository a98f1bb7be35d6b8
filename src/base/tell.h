/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, in words: to the program's watcher, and as lines of RAI_LOG=trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* As enum rai_step_kind of rdma/rai.h has them. */
enum rcm_tell_kind {
	RCM_TELL_COURSE = 1, RCM_TELL_FILES, RCM_TELL_HOSTS, RCM_TELL_QUESTION, RCM_TELL_ANSWER, RCM_TELL_ORDER,
	RCM_TELL_KEPT,
};

/* at: ns of CLOCK_MONOTONIC; request: 0: of no request alone. */
typedef void rcm_tell_fn(const void *watcher, uint64_t at, enum rcm_tell_kind kind, unsigned request, const char *text);

/* fn is called with what watcher points to, on any thread of the library's or a caller's, without locks but the
 * engine's gate. 0; -EBUSY: another one watches. watcher NULL: nobody any more; a call may still be under way. */
int rcm_tell_watch(rcm_tell_fn *fn, const void *watcher);

/* True where anybody wants to know. Any thread. */
bool rcm_tell_wants(void);

/* One step; to be called without locks. Control characters become '?'. Keeps errno. */
void rcm_tell_write(enum rcm_tell_kind kind, unsigned request, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define rcm_tell(kind, ...) \
	do { if (rcm_tell_wants()) rcm_tell_write(kind, 0, __VA_ARGS__); } while (0)
