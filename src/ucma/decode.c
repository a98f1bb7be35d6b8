/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's bytes to plain structures. */
#include "ucma/decode.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "uapi/ucma_abi.h"

_Static_assert(RCM_UCMA_EVENT_SIZE == sizeof(struct rdma_ucm_event_resp), "size of an event");

enum { EVENT_SIZE_MIN = offsetof(struct rdma_ucm_event_resp, reserved) };

int rcm_ucma_event_decode(const void *bytes, size_t len, struct rcm_ucma_event *ret_event)
{
	struct rdma_ucm_event_resp raw = { 0 };

	if (len < EVENT_SIZE_MIN)
		return -EIO;
	memcpy(&raw, bytes, len < sizeof(raw) ? len : sizeof(raw));
	ret_event->uid = raw.uid;
	ret_event->handle = raw.id;
	ret_event->type = raw.event;
	ret_event->status = (int)raw.status;
	ret_event->ece.vendor_id = raw.ece.vendor_id;
	ret_event->ece.attr_mod = raw.ece.attr_mod;
	_Static_assert(sizeof(ret_event->param) == sizeof(raw.param), "parameters of an event");
	memcpy(ret_event->param, &raw.param, sizeof(raw.param));
	return 0;
}

void rcm_ucma_event_conn(const struct rcm_ucma_event *event, struct rdma_conn_param *ret_conn)
{
	struct rdma_ucm_conn_param raw;

	memcpy(&raw, event->param, sizeof(raw));
	*ret_conn = (struct rdma_conn_param){
		.private_data = raw.private_data_len ?
			event->param + offsetof(struct rdma_ucm_conn_param, private_data) : NULL,
		.private_data_len = raw.private_data_len,
		.responder_resources = raw.responder_resources,
		.initiator_depth = raw.initiator_depth,
		.flow_control = raw.flow_control,
		.retry_count = raw.retry_count,
		.rnr_retry_count = raw.rnr_retry_count,
		.srq = raw.srq,
		.qp_num = raw.qp_num,
	};
}

static void ah_decode(const struct ib_uverbs_ah_attr *from, struct ibv_ah_attr *to)
{
	memcpy(to->grh.dgid.raw, from->grh.dgid, sizeof(to->grh.dgid.raw));
	to->grh.flow_label = from->grh.flow_label;
	to->grh.sgid_index = from->grh.sgid_index;
	to->grh.hop_limit = from->grh.hop_limit;
	to->grh.traffic_class = from->grh.traffic_class;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->is_global = from->is_global;
	to->port_num = from->port_num;
}

void rcm_ucma_event_ud(const struct rcm_ucma_event *event, struct rdma_ud_param *ret_ud)
{
	struct rdma_ucm_ud_param raw;

	memcpy(&raw, event->param, sizeof(raw));
	*ret_ud = (struct rdma_ud_param){
		.private_data = raw.private_data_len ?
			event->param + offsetof(struct rdma_ucm_ud_param, private_data) : NULL,
		.private_data_len = raw.private_data_len,
		.qp_num = raw.qp_num,
		.qkey = raw.qkey,
	};
	ah_decode(&raw.ah_attr, &ret_ud->ah_attr);
}

void rcm_ucma_qp_attr_decode(const struct ib_uverbs_qp_attr *from, struct ibv_qp_attr *ret_attr, int *ret_mask)
{
	*ret_attr = (struct ibv_qp_attr){
		.qp_state = from->qp_state,
		.cur_qp_state = from->cur_qp_state,
		.path_mtu = from->path_mtu,
		.path_mig_state = from->path_mig_state,
		.qkey = from->qkey,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.dest_qp_num = from->dest_qp_num,
		.qp_access_flags = from->qp_access_flags,
		.cap = {
			.max_send_wr = from->max_send_wr,
			.max_recv_wr = from->max_recv_wr,
			.max_send_sge = from->max_send_sge,
			.max_recv_sge = from->max_recv_sge,
			.max_inline_data = from->max_inline_data,
		},
		.pkey_index = from->pkey_index,
		.alt_pkey_index = from->alt_pkey_index,
		.en_sqd_async_notify = from->en_sqd_async_notify,
		.sq_draining = from->sq_draining,
		.max_rd_atomic = from->max_rd_atomic,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.min_rnr_timer = from->min_rnr_timer,
		.port_num = from->port_num,
		.timeout = from->timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
		.alt_port_num = from->alt_port_num,
		.alt_timeout = from->alt_timeout,
	};
	ah_decode(&from->ah_attr, &ret_attr->ah_attr);
	ah_decode(&from->alt_ah_attr, &ret_attr->alt_ah_attr);
	*ret_mask = (int)from->qp_attr_mask;
}

/* A selector of path records. */
enum { PATH_EXACTLY = 2 };

void rcm_ucma_path_decode(const struct ibv_path_data *data, struct ibv_sa_path_rec *ret_path)
{
	const struct ibv_path_record *from = &data->path;
	uint32_t flow = be32toh(from->flowlabel_hoplimit);
	uint16_t qos_sl = be16toh(from->qosclass_sl);

	/* IBTA 15.2.5.16: the high two bits of these are a selector. What a path has is exact, whatever they are. */
	*ret_path = (struct ibv_sa_path_rec){
		.dgid = from->dgid,
		.sgid = from->sgid,
		.dlid = from->dlid,
		.slid = from->slid,
		.flow_label = htobe32(flow >> 8 & 0xfffff),
		.hop_limit = (uint8_t)flow,
		.traffic_class = from->tclass,
		.reversible = from->reversible_numpath >> 7,
		.numb_path = 1,
		.pkey = from->pkey,
		.sl = qos_sl & 0xf,
		.mtu_selector = PATH_EXACTLY,
		.mtu = from->mtu & 0x3f,
		.rate_selector = PATH_EXACTLY,
		.rate = from->rate & 0x3f,
		.packet_life_time_selector = PATH_EXACTLY,
		.packet_life_time = from->packetlifetime & 0x3f,
		.preference = (uint8_t)data->flags,
	};
}
