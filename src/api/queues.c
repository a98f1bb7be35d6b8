/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: queue pairs, shared receive queues, endpoints, devices. */
#include "cm/queues.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/door.h"
#include "cm/endpoint.h"
#include "cm/id.h"
#include "cm/life.h"
#include "verbs/device.h"

/* The extended attributes begin as the plain ones do, and both are brought up to date. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct rcm_door door = rcm_door_enter(id);
	struct ibv_qp_init_attr_ex ex = { .pd = pd };
	int ret = -EINVAL;

	if (!door.id || !qp_init_attr)
		goto out;
	memcpy(&ex, qp_init_attr, sizeof(*qp_init_attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ret = rcm_queues_create_qp(door.id, &ex);
	if (!ret)
		memcpy(qp_init_attr, &ex, sizeof(*qp_init_attr));
out:
	return rcm_door_leave(&door, ret);
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && qp_init_attr ? rcm_queues_create_qp(door.id, qp_init_attr) : -EINVAL);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);

	if (door.id)
		rcm_queues_destroy_qp(door.id);
	rcm_door_leave(&door, 0);
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct rcm_door door = rcm_door_enter(id);
	struct ibv_srq_init_attr_ex ex = { .pd = pd };
	int ret = -EINVAL;

	if (!door.id || !attr)
		goto out;
	ex.srq_context = attr->srq_context;
	ex.attr = attr->attr;
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | (pd ? IBV_SRQ_INIT_ATTR_PD : 0);
	ex.srq_type = door.id->pub.qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
	ret = rcm_queues_create_srq(door.id, &ex);
	if (!ret)
		attr->attr = ex.attr;
out:
	return rcm_door_leave(&door, ret);
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct rcm_door door = rcm_door_enter(id);

	return rcm_door_leave(&door, door.id && attr ? rcm_queues_create_srq(door.id, attr) : -EINVAL);
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter(id);

	if (door.id)
		rcm_queues_destroy_srq(door.id);
	rcm_door_leave(&door, 0);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct rcm_door door = rcm_door_enter(id);
	int ret = -EINVAL;

	if (door.id && qp_attr && qp_attr_mask)
		ret = rcm_queues_init_attr(door.id, qp_attr, qp_attr_mask);
	return rcm_door_leave(&door, ret);
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	int state = rcm_enter(), ret = -EINVAL;
	struct rcm_id *made;

	if (id && res)
		ret = rcm_ep_new(res, pd, qp_init_attr, &made);
	if (!ret)
		*id = &made->pub;
	return rcm_leave(state, ret);
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	struct rcm_door door = rcm_door_enter_to_end(id);
	int state = rcm_enter();

	if (door.id) {
		rcm_queues_destroy_qp(door.id);
		rcm_queues_destroy_srq(door.id);
		rcm_id_destroy(door.id);
	}
	rcm_door_leave(&door, 0);
	rcm_leave(state, 0);
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = NULL;
	int state = rcm_enter(), count = 0, ret;

	ret = rcm_device_list_open(&list, &count);
	if (num_devices)
		*num_devices = count;
	rcm_leave(state, ret);
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
