/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, in words: to the program's watcher, and as lines of RAI_LOG=trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* As enum rai_step_kind of rdma/rai.h has them. */
enum rcm_tell_kind {
	RCM_TELL_COURSE = 1, RCM_TELL_FILES, RCM_TELL_HOSTS, RCM_TELL_QUESTION, RCM_TELL_ANSWER, RCM_TELL_ORDER,
	RCM_TELL_KEPT,
};

/* What a step has beside its words. */
struct rcm_tell_facts {
	const char *server;	/* address of a name server, or DEVICE/PORT whose SA it is; NULL: it is of none */
	int status;		/* of an answer: 0: there are records in it; else -errno */
	int64_t ttl_s, kept_s;	/* of what was answered, how long it may live and is kept; negative: not told */
};

struct rcm_tell_step {
	uint64_t at;		/* ns of CLOCK_MONOTONIC */
	enum rcm_tell_kind kind;
	unsigned request;	/* 0: of no request alone */
	const char *text;
	struct rcm_tell_facts facts;
};

typedef void rcm_tell_fn(const void *watcher, const struct rcm_tell_step *step);

/* fn is called with what watcher points to, on any thread of the library's or a caller's, without locks: the program's
 * code may wait for one that a forking thread holds. 0; -EBUSY: another one watches. watcher NULL: nobody any more; a
 * call may still be under way. */
int rcm_tell_watch(rcm_tell_fn *fn, const void *watcher);

/* True where anybody wants to know. Any thread. */
bool rcm_tell_wants(void);

/* Steps that the watcher is still to be told. */
struct rcm_tell_held;
STAILQ_HEAD(rcm_tell_list, rcm_tell_held);

/* The calling thread takes locks that a fork waits for: from now on its steps are put into the list. NULL: the watcher
 * is told at once. The list that they were put into until now. */
struct rcm_tell_list *rcm_tell_hold(struct rcm_tell_list *list);

/* Ends that, with outer as it said: what is in the list, empty afterwards, goes to that one's end, as its holder has
 * locks yet, or is told. */
void rcm_tell_release(struct rcm_tell_list *list, struct rcm_tell_list *outer);

/* Tells all that is in the list, without changing it: to be called without locks. */
void rcm_tell_list(const struct rcm_tell_list *list);
void rcm_tell_forget(struct rcm_tell_list *list);

/* One step; to be called without locks, but by a thread that holds its steps, where one that there is no memory for is
 * told to no watcher. facts NULL: none. Control characters become '?'. Keeps errno. */
void rcm_tell_write(enum rcm_tell_kind kind, unsigned request, const struct rcm_tell_facts *facts, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));

#define rcm_tell(kind, ...) rcm_tell_facts(kind, NULL, __VA_ARGS__)
#define rcm_tell_facts(kind, facts, ...) \
	do { if (rcm_tell_wants()) rcm_tell_write(kind, 0, facts, __VA_ARGS__); } while (0)
