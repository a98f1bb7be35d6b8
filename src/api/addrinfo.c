/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: resolution on an id, its cancelling, its counters. */
#include <endian.h>
#include <errno.h>
#include <rdma/rai.h>
#include <string.h>

#include "addr/build.h"
#include "api/api.h"
#include "api/door.h"
#include "cm/lookup.h"
#include "cm/sync.h"
#include "resolve/resolve.h"

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_lookup_start(door.id, node, service, hints);
	if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_NAMES);
	if (ret == -EINTR || ret == -ECANCELED)
		rcm_lookup_abandon(door.id);
	return rcm_door_leave(&door, ret);
}

int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && info ? rcm_lookup_query(door.id, info) : -EINVAL);
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	rcm_addrinfo_free(res);
}

int rai_addrinfo_service(const struct rdma_addrinfo *ai, struct rai_service_record *record)
{
	const struct rcm_service_rest *rest;
	struct sockaddr_ib dst;

	if (!ai || !record)
		return rcm_result(-EINVAL);
	rest = rcm_addrinfo_service(ai);
	if (!rest)
		return rcm_result(-ENOENT);
	memcpy(&dst, ai->ai_dst_addr, sizeof(dst));
	memset(record, 0, sizeof(*record));
	record->id = be64toh(dst.sib_sid);
	memcpy(record->gid, &dst.sib_addr, sizeof(record->gid));
	record->pkey = rest->pkey;
	record->lease_s = rest->lease;
	memcpy(record->name, rest->name, sizeof(rest->name));
	memcpy(record->data, rest->data, sizeof(record->data));
	return 0;
}

int rai_addrinfo_srv(const struct rdma_addrinfo *ai, struct rai_srv_record *record)
{
	const struct rcm_srv_rest *rest;

	if (!ai || !record)
		return rcm_result(-EINVAL);
	rest = rcm_addrinfo_srv(ai);
	if (!rest)
		return rcm_result(-ENOENT);
	memset(record, 0, sizeof(*record));
	record->priority = rest->priority;
	record->weight = rest->weight;
	record->port = rest->port;
	memcpy(record->target, rest->target, sizeof(rest->target));
	return 0;
}

int rai_cancel(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_lookup_cancel(door.id) : -EINVAL);
}

int rai_get_stats(struct rai_stats *stats, size_t size)
{
	struct rai_stats all;

	if (!stats || !size)
		return rcm_result(-EINVAL);
	memset(&all, 0, sizeof(all));
	rcm_engine_stats(&all);
	memset(stats, 0, size);
	memcpy(stats, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}
