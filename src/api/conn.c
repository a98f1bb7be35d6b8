/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: routes and connections. */
#include "cm/conn.h"

#include <errno.h>
#include <pthread.h>

#include "api/door.h"
#include "cm/address.h"
#include "cm/ece.h"
#include "cm/id.h"
#include "cm/listen.h"
#include "cm/sync.h"

/* Reject reasons of the CM (IBTA 12.6.7.2). */
enum { CONSUMER_DEFINED = 28, VENDOR_OPTION_NOT_SUPPORTED = 35 };

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id && dst_addr)
		ret = rcm_address_resolve(door.id, src_addr, dst_addr, timeout_ms);
	if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_ADDRESS);
	return rcm_door_leave(&door, ret);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_address_resolve_route(door.id, timeout_ms);
	if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_ROUTE);
	return rcm_door_leave(&door, ret);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_conn_connect(door.id, conn_param);
	if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_CONNECT);
	return rcm_door_leave(&door, ret);
}

int rdma_establish(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_conn_establish(door.id) : -EINVAL);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_listen(door.id, backlog) : -EINVAL);
}

/* It blocks until something happens, so its wait may be cancelled. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct rcm_door door = rcm_door_enter(listen);
	struct rcm_id *request = NULL;
	int ret = -EINVAL;

	pthread_cleanup_push(rcm_door_abandon, &door);
	if (door.id && id)
		ret = rcm_listen_get_request(door.id, door.cancel_state, &request);
	pthread_cleanup_pop(0);
	if (!ret)
		*id = &request->pub;
	return rcm_door_leave(&door, ret);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_conn_accept(door.id, conn_param);
	if (!ret && rcm_id_is_ud(door.id))
		rcm_sync_ack(door.id);
	else if (!ret && waits)
		ret = rcm_sync_complete(door.id, RCM_SYNC_CONNECT);
	return rcm_door_leave(&door, ret);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_conn_reject(door.id, CONSUMER_DEFINED, private_data, private_data_len);
	return rcm_door_leave(&door, ret);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_conn_reject(door.id, VENDOR_OPTION_NOT_SUPPORTED, private_data, private_data_len);
	return rcm_door_leave(&door, ret);
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id ? rcm_conn_notify(door.id, event) : -EINVAL);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);
	bool waits = rcm_door_waits(&door);
	int ret = -EINVAL;

	if (door.id)
		ret = rcm_conn_disconnect(door.id);
	if (!ret && waits)
		ret = rcm_conn_complete_disconnect(door.id);
	return rcm_door_leave(&door, ret);
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && ece ? rcm_ece_set_local(door.id, ece) : -EINVAL);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && ece ? rcm_ece_get_remote(door.id, ece) : -EINVAL);
}
