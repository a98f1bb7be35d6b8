/* SPDX-License-Identifier: BSD-2-Clause */
/* A module of a program's that has the archive in it. */
#include <errno.h>
#include <rdma/rdma_cma.h>

int plugin_wait(void);

/* Until a signal: 0, or an errno. */
int plugin_wait(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	int ret;

	if (!channel)
		return errno;
	ret = rdma_get_cm_event(channel, &event) && errno == EINTR ? 0 : EPROTO;
	rdma_destroy_event_channel(channel);
	return ret;
}
