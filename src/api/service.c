/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: services that an id publishes. */
#include "cm/service.h"

#include <errno.h>

#include "api/door.h"
#include "cm/listing.h"
#include "cm/lookup.h"
#include "cm/sync.h"

int rai_service_register(struct rdma_cm_id *id, const struct rai_service *service, uint64_t *registration)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id && service && registration)
		ret = rcm_service_register(door.id, service, registration);
	return rcm_door_leave(&door, ret);
}

int rai_service_list(struct rdma_cm_id *id, const struct rai_service_filter *filter)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_listing_start(door.id, filter);
	if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_NAMES);
	if (ret == -EINTR || ret == -ECANCELED)
		rcm_lookup_abandon(door.id);
	return rcm_door_leave(&door, ret);
}

int rai_service_remove(struct rdma_cm_id *id, const struct rai_service_record *record)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id && record)
		ret = rcm_listing_remove(door.id, record);
	return rcm_door_leave(&door, ret);
}

int rai_service_unregister(struct rdma_cm_id *id, uint64_t registration)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_service_unregister(door.id, registration) : -EINVAL);
}
