/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: queue pairs, shared receive queues, endpoints, devices. */
#include "cm/queues.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "cm/attach.h"
#include "cm/endpoint.h"
#include "cm/id.h"
#include "cm/life.h"

/* The extended attributes begin as the plain ones do, and both are brought up to date. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	int state = rcm_enter(), ret = -EINVAL;
	struct ibv_qp_init_attr_ex ex = { .pd = pd };

	if (!id || !qp_init_attr)
		goto out;
	memcpy(&ex, qp_init_attr, sizeof(*qp_init_attr));
	ex.comp_mask = pd ? IBV_QP_INIT_ATTR_PD : 0;
	ret = rcm_queues_create_qp(rcm_id_of(id), &ex);
	if (!ret)
		memcpy(qp_init_attr, &ex, sizeof(*qp_init_attr));
out:
	return rcm_leave(state, ret);
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	int state = rcm_enter();

	return rcm_leave(state, id && qp_init_attr ? rcm_queues_create_qp(rcm_id_of(id), qp_init_attr) : -EINVAL);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	int state = rcm_enter();

	if (id)
		rcm_queues_destroy_qp(rcm_id_of(id));
	rcm_leave(state, 0);
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	int state = rcm_enter(), ret = -EINVAL;
	struct ibv_srq_init_attr_ex ex = { .pd = pd };

	if (!id || !attr)
		goto out;
	ex.srq_context = attr->srq_context;
	ex.attr = attr->attr;
	ex.comp_mask = pd ? IBV_SRQ_INIT_ATTR_PD : 0;
	ret = rcm_queues_create_srq(rcm_id_of(id), &ex);
	if (!ret)
		attr->attr = ex.attr;
out:
	return rcm_leave(state, ret);
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	int state = rcm_enter();

	return rcm_leave(state, id && attr ? rcm_queues_create_srq(rcm_id_of(id), attr) : -EINVAL);
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	int state = rcm_enter();

	if (id)
		rcm_queues_destroy_srq(rcm_id_of(id));
	rcm_leave(state, 0);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	int state = rcm_enter(), ret = -EINVAL;

	if (id && qp_attr && qp_attr_mask)
		ret = rcm_queues_init_attr(rcm_id_of(id), qp_attr, qp_attr_mask);
	return rcm_leave(state, ret);
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
	int state = rcm_enter();

	if (id) {
		rcm_queues_destroy_qp(rcm_id_of(id));
		rcm_queues_destroy_srq(rcm_id_of(id));
		rcm_id_destroy(rcm_id_of(id));
	}
	rcm_leave(state, 0);
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = NULL;
	int state = rcm_enter(), count = 0, ret;

	ret = rcm_attach_devices(&list, &count);
	if (num_devices)
		*num_devices = count;
	rcm_leave(state, ret);
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
