/* SPDX-License-Identifier: BSD-2-Clause */
/* Who handles which event of the kernel's. */
#pragma once

#include "cm/event.h"

/* Which ops an event of the kernel gets; never NULL: those that nobody handles are dropped. */
const struct rcm_event_ops *rcm_event_kernel_ops(enum rdma_cm_event_type type);
