/* SPDX-License-Identifier: BSD-2-Clause */
/* Public call: who is told of the steps of resolutions. */
#include <assert.h>
#include <errno.h>
#include <rdma/rai.h>

#include "api/api.h"
#include "base/tell.h"

static_assert((int)RAI_STEP_COURSE == (int)RCM_TELL_COURSE && (int)RAI_STEP_KEPT == (int)RCM_TELL_KEPT,
	      "what is public is what is told");

static void watch_told(const void *by, const struct rcm_tell_step *told)
{
	const struct rai_watcher *watcher = by;
	const struct rai_step step = {
		.time_ns = told->at, .kind = told->kind, .request = told->request, .text = told->text,
		.server = told->facts.server, .status = told->facts.status, .ttl_s = told->facts.ttl_s,
		.kept_s = told->facts.kept_s,
	};

	watcher->step(watcher->arg, &step);
}

int rai_watch_steps(const struct rai_watcher *watcher)
{
	if (watcher && (!watcher->step || watcher->reserved[0] || watcher->reserved[1]))
		return rcm_result(-EINVAL);
	return rcm_result(rcm_tell_watch(watch_told, watcher));
}
