/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: services that an id publishes. */
#include "cm/service.h"

#include <errno.h>

#include "api/door.h"

int rai_service_register(struct rdma_cm_id *id, const struct rai_service *service, uint64_t *registration)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id && service && registration)
		ret = rcm_service_register(door.id, service, registration);
	return rcm_door_leave(&door, ret);
}

int rai_service_unregister(struct rdma_cm_id *id, uint64_t registration)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_service_unregister(door.id, registration) : -EINVAL);
}
