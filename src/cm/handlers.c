/* SPDX-License-Identifier: BSD-2-Clause */
/* Who handles which event of the kernel's. */
#include <errno.h>

#include "cm/event.h"

static int deliver_to_nobody(struct rcm_event *event)
{
	(void)event;
	return -ENOSYS;
}

static const struct rcm_event_ops unhandled_ops = {
	.name = "unhandled",
	.deliver = deliver_to_nobody,
	.drop = rcm_event_drop,
	.text = rcm_event_no_text,
	.free = rcm_kernel_event_free,
};

/* A line for each event of the kernel's that reaches the application. */
static const struct rcm_event_ops *const handlers[RCM_EVENT_TYPES] = {
	NULL,
};

const struct rcm_event_ops *rcm_event_kernel_ops(enum rdma_cm_event_type type)
{
	if ((unsigned)type < RCM_EVENT_TYPES && handlers[type])
		return handlers[type];
	return &unhandled_ops;
}
