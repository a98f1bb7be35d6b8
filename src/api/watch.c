/* SPDX-License-Identifier: BSD-2-Clause */
/* Public call: who is told of the steps of resolutions. */
#include <assert.h>
#include <errno.h>
#include <rdma/rai.h>

#include "api/api.h"
#include "base/tell.h"

static_assert((int)RAI_STEP_COURSE == (int)RCM_TELL_COURSE && (int)RAI_STEP_KEPT == (int)RCM_TELL_KEPT,
	      "what is public is what is told");

static void watch_told(const void *by, uint64_t at, enum rcm_tell_kind kind, unsigned request, const char *text)
{
	const struct rai_watcher *watcher = by;
	const struct rai_step step = { .time_ns = at, .kind = kind, .request = request, .text = text };

	watcher->step(watcher->arg, &step);
}

int rai_watch_steps(const struct rai_watcher *watcher)
{
	if (watcher && (!watcher->step || watcher->reserved[0] || watcher->reserved[1]))
		return rcm_result(-EINVAL);
	return rcm_result(rcm_tell_watch(watch_told, watcher));
}
