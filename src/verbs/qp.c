/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs and what belongs to them, with one way of reporting errors. */
#include "verbs/qp.h"

#include <errno.h>
#include <limits.h>

#include "base/err.h"

/* The provider's answer: an errno, or -1 with errno set, or (a few) a negative errno. */
static int verbs_result(int answer)
{
	if (answer == -1)
		return rcm_errno();
	return answer > 0 ? -answer : answer;
}

int rcm_cq_new(struct ibv_context *verbs, uint32_t entries, void *context,
	       struct ibv_comp_channel **ret_channel, struct ibv_cq **ret_cq)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	int ret;

	if (entries > INT_MAX)
		return -EINVAL;
	channel = ibv_create_comp_channel(verbs);
	if (!channel)
		return rcm_errno();
	cq = ibv_create_cq(verbs, (int)entries, context, channel, 0);
	if (!cq) {
		ret = rcm_errno();
		ibv_destroy_comp_channel(channel);
		return ret;
	}
	*ret_channel = channel;
	*ret_cq = cq;
	return 0;
}

void rcm_cq_free(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	if (cq)
		ibv_destroy_cq(cq);
	if (channel)
		ibv_destroy_comp_channel(channel);
}

int rcm_qp_new(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr, struct ibv_qp **ret_qp)
{
	struct ibv_qp *qp = ibv_create_qp_ex(verbs, attr);

	if (!qp)
		return rcm_errno();
	*ret_qp = qp;
	return 0;
}

int rcm_srq_new(struct ibv_context *verbs, struct ibv_srq_init_attr_ex *attr, struct ibv_srq **ret_srq)
{
	struct ibv_srq *srq = ibv_create_srq_ex(verbs, attr);

	if (!srq)
		return rcm_errno();
	*ret_srq = srq;
	return 0;
}

int rcm_srq_max_wr(struct ibv_srq *srq, uint32_t *ret_max)
{
	struct ibv_srq_attr attr;
	int ret = verbs_result(ibv_query_srq(srq, &attr));

	if (!ret)
		*ret_max = attr.max_wr;
	return ret;
}

void rcm_qp_free(struct ibv_qp *qp)
{
	if (qp)
		ibv_destroy_qp(qp);
}

void rcm_srq_free(struct ibv_srq *srq)
{
	if (srq)
		ibv_destroy_srq(srq);
}

int rcm_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return verbs_result(ibv_modify_qp(qp, attr, mask));
}

int rcm_qp_set_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return rcm_qp_modify(qp, &attr, IBV_QP_STATE);
}

int rcm_qp_close(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	/* From RTS to ERR an iWARP connection is reset; by way of SQD it ends as a stream does, with what was sent. */
	if (qp->context->device->transport_type != IBV_TRANSPORT_IWARP)
		return rcm_qp_set_error(qp);
	return rcm_qp_modify(qp, &attr, IBV_QP_STATE);
}

int rcm_qp_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return verbs_result(ibv_attach_mcast(qp, gid, lid));
}

int rcm_qp_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return verbs_result(ibv_detach_mcast(qp, gid, lid));
}

int rcm_qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ret_ece)
{
	struct ibv_ece ece = { 0 };
	int ret = verbs_result(ibv_query_ece(qp, &ece));

	if (ret && ret != -EOPNOTSUPP && ret != -ENOSYS)
		return ret;
	*ret_ece = ret ? (struct ibv_ece){ 0 } : ece;
	return 0;
}

int rcm_qp_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int ret = verbs_result(ibv_set_ece(qp, ece));

	return ret == -EOPNOTSUPP || ret == -ENOSYS ? 0 : ret;
}
