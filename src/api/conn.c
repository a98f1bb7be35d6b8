/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: routes and connections. */
#include "cm/conn.h"

#include <errno.h>

#include "api/api.h"
#include "cm/address.h"
#include "cm/ece.h"
#include "cm/id.h"
#include "cm/listen.h"
#include "cm/sync.h"

/* Reject reasons of the CM (IBTA 12.6.7.2). */
enum { CONSUMER_DEFINED = 28, VENDOR_OPTION_NOT_SUPPORTED = 35 };

/* What was started is waited for on a synchronous id. */
static int complete(struct rdma_cm_id *id, int ret, uint32_t types)
{
	struct rcm_id *own;

	if (ret)
		return ret;
	own = rcm_id_ref(rcm_id_of(id));
	ret = rcm_sync_complete(own, types);
	rcm_id_put(own);
	return ret;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id && dst_addr) {
		ret = rcm_address_resolve(rcm_id_of(id), src_addr, dst_addr, timeout_ms);
		ret = complete(id, ret, RCM_SYNC_ADDRESS);
	}
	return rcm_leave(state, ret);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id) {
		ret = rcm_address_resolve_route(rcm_id_of(id), timeout_ms);
		ret = complete(id, ret, RCM_SYNC_ROUTE);
	}
	return rcm_leave(state, ret);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id) {
		ret = rcm_conn_connect(rcm_id_of(id), conn_param);
		ret = complete(id, ret, RCM_SYNC_CONNECT);
	}
	return rcm_leave(state, ret);
}

int rdma_establish(struct rdma_cm_id *id)
{
	int state = rcm_enter();

	return rcm_leave(state, id ? rcm_conn_establish(rcm_id_of(id)) : -EINVAL);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	int state = rcm_enter();

	return rcm_leave(state, id ? rcm_listen(rcm_id_of(id), backlog) : -EINVAL);
}

/* It blocks until something happens, so it may be cancelled. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct rcm_id *listener, *request;
	int ret;

	if (!listen || !id)
		return rcm_result(-EINVAL);
	listener = rcm_id_of(listen);
	ret = rcm_listen_get_request(listener, &request);
	if (!ret)
		*id = &request->pub;
	return rcm_result(ret);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (!id)
		goto out;
	ret = rcm_conn_accept(rcm_id_of(id), conn_param);
	if (!ret && rcm_id_is_ud(rcm_id_of(id)))
		rcm_sync_ack(rcm_id_of(id));
	else
		ret = complete(id, ret, RCM_SYNC_CONNECT);
out:
	return rcm_leave(state, ret);
}

static int reject(struct rdma_cm_id *id, uint8_t reason, const void *data, uint8_t len)
{
	int state = rcm_enter();

	return rcm_leave(state, id ? rcm_conn_reject(rcm_id_of(id), reason, data, len) : -EINVAL);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, CONSUMER_DEFINED, private_data, private_data_len);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, VENDOR_OPTION_NOT_SUPPORTED, private_data, private_data_len);
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	int state = rcm_enter();

	return rcm_leave(state, id ? rcm_conn_notify(rcm_id_of(id), event) : -EINVAL);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id) {
		ret = rcm_conn_disconnect(rcm_id_of(id));
		ret = complete(id, ret, RCM_SYNC_DISCONNECT);
	}
	return rcm_leave(state, ret);
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	return rcm_result(id && ece ? rcm_ece_set_local(rcm_id_of(id), ece) : -EINVAL);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	return rcm_result(id && ece ? rcm_ece_get_remote(rcm_id_of(id), ece) : -EINVAL);
}
