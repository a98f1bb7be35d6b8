/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, in words. */
#include "base/tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

enum { TEXT_MAX = 1400 };	/* a name of DNS has 1024 bytes where each of its own is escaped */

static _Atomic(const void *) watched_by;
static _Atomic(rcm_tell_fn *) watch;

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

void rcm_tell_write(enum rcm_tell_kind kind, unsigned request, const struct rcm_tell_facts *facts, const char *format,
		    ...)
{
	static const struct rcm_tell_facts none = { .ttl_s = -1, .kept_s = -1 };
	const void *watcher = atomic_load(&watched_by);
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
	if (watcher)
		atomic_load(&watch)(watcher, &step);
	errno = saved;
}
