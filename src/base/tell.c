/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, in words. */
#include "base/tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

enum { TEXT_MAX = 1400 };	/* a name of DNS has 1024 bytes where each of its own is escaped */

struct rcm_tell_held {
	STAILQ_ENTRY(rcm_tell_held) entry;
	struct rcm_tell_step step;
	char texts[];		/* the step's, and its server's */
};

static _Atomic(const void *) watched_by;
static _Atomic(rcm_tell_fn *) watch;
static _Thread_local struct rcm_tell_list *holds;

int rcm_tell_watch(rcm_tell_fn *fn, const void *watcher)
{
	const void *nobody = NULL;

	if (!watcher) {
		atomic_store(&watched_by, NULL);
		return 0;
	}
	atomic_store(&watch, fn);	/* always the same one: there is one public call */
	return atomic_compare_exchange_strong(&watched_by, &nobody, watcher) ? 0 : -EBUSY;
}

bool rcm_tell_wants(void)
{
	return atomic_load_explicit(&watched_by, memory_order_relaxed) || rcm_log_wants(RCM_LOG_TRACE);
}

static const char *const kinds[] = {
	[RCM_TELL_COURSE] = "", [RCM_TELL_FILES] = "files: ", [RCM_TELL_HOSTS] = "hosts file: ",
	[RCM_TELL_QUESTION] = "question: ", [RCM_TELL_ANSWER] = "answer: ", [RCM_TELL_ORDER] = "order: ",
	[RCM_TELL_KEPT] = "kept: ",
};

static void tell_log(enum rcm_tell_kind kind, unsigned request, const char *text)
{
	if (request)
		rcm_trace("request %u: %s%s", request, kinds[kind], text);
	else
		rcm_trace("%s%s", kinds[kind], text);
}

static void tell_watcher(const struct rcm_tell_step *step)
{
	const void *watcher = atomic_load(&watched_by);

	if (watcher)
		atomic_load(&watch)(watcher, step);
}

static void tell_keep(struct rcm_tell_list *list, const struct rcm_tell_step *step)
{
	const char *server = step->facts.server;
	size_t len = strlen(step->text) + 1;
	struct rcm_tell_held *held = malloc(sizeof(*held) + len + (server ? strlen(server) + 1 : 0));

	if (!held)
		return;
	held->step = *step;
	held->step.text = memcpy(held->texts, step->text, len);
	if (server)
		held->step.facts.server = strcpy(held->texts + len, server);
	STAILQ_INSERT_TAIL(list, held, entry);
}

struct rcm_tell_list *rcm_tell_hold(struct rcm_tell_list *list)
{
	struct rcm_tell_list *outer = holds;

	holds = list;
	return outer;
}

void rcm_tell_list(const struct rcm_tell_list *list)
{
	const struct rcm_tell_held *held;

	STAILQ_FOREACH(held, list, entry)
		tell_watcher(&held->step);
}

void rcm_tell_forget(struct rcm_tell_list *list)
{
	struct rcm_tell_held *held;

	while ((held = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, entry);
		free(held);
	}
}

void rcm_tell_release(struct rcm_tell_list *list, struct rcm_tell_list *outer)
{
	holds = outer;
	if (outer) {
		STAILQ_CONCAT(outer, list);
		return;
	}
	rcm_tell_list(list);
	rcm_tell_forget(list);
}

void rcm_tell_write(enum rcm_tell_kind kind, unsigned request, const struct rcm_tell_facts *facts, const char *format,
		    ...)
{
	static const struct rcm_tell_facts none = { .ttl_s = -1, .kept_s = -1 };
	int saved = errno;
	char text[TEXT_MAX];
	const struct rcm_tell_step step = {
		.at = rcm_clock_now(), .kind = kind, .request = request, .text = text, .facts = facts ? *facts : none,
	};
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names come from programs and from the network. */
	for (char *c = text; *c; c++)
		if (*c == '\x7f' || (unsigned char)*c < ' ')
			*c = '?';
	tell_log(kind, request, text);
	if (!holds)
		tell_watcher(&step);
	else if (atomic_load(&watched_by))
		tell_keep(holds, &step);
	errno = saved;
}
