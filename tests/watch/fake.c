/* SPDX-License-Identifier: BSD-2-Clause */
/* On a kernel that plays a script: its events too, and those that are for nobody. */
#include <stdlib.h>

#include "cm/id.h"
#include "fake_ucma.h"
#include "watch.h"

static struct rdma_cm_id *kernel_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		abort();
	rcm_fake_ucma_event_of(rcm_id_of(id)->handle, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	return id;
}

/* Of an id that is gone. */
static void stale_event(struct rdma_event_channel *channel)
{
	static const struct rdma_ucm_event_resp stale = { .uid = 1ULL << 40, .event = RDMA_CM_EVENT_ESTABLISHED };

	rcm_fake_ucma_event(rcm_channel_of(channel)->ucma.fd, &stale);
}

int main(int argc, char **argv)
{
	static const struct watch_world world = { .kernel = kernel_event, .swallowed = stale_event };
	int status;

	setenv("RAI_DEVICELESS", "1", 1);
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	status = watch_main(&world, argc, argv);
	rcm_fake_ucma_done();
	return status;
}
