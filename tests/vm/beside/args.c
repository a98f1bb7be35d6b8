/* SPDX-License-Identifier: BSD-2-Clause */
/* What the names of arguments stand for. */
#include "beside.h"

#include <net/if.h>
#include <sys/un.h>

bool arg_is(const char *arg, const char *name)
{
	return !strcmp(arg, name);
}

/* splitmix64 */
uint64_t arg_random(struct world *w)
{
	uint64_t z = w->seed += 0x9E3779B97F4A7C15;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
	return z ^ (z >> 31);
}

/* ---- Addresses ---- */

static const struct {
	const char *name, *number;
} addresses[] = {
	{"any4", "0.0.0.0"},	      {"any6", "::"},
	{"loop4", "127.0.0.1"},	      {"loop6", "::1"},
	{"local4", "10.2.0.1"},	      {"local6", "fd02::1"},
	{"link6", "fe80::1%v0"},      {"link6_unscoped", "fe80::1"},
	{"link6_other", "fe80::1%v1"},
	{"second", "10.2.1.1"},	      {"foreign", "10.9.9.9"},
	{"silent", "10.2.0.77"},      {"silent6", "fd02::77"},
	{"mcast4", "239.1.1.1"},      {"other4", "239.1.1.2"},
	{"mcast6", "ff0e::1"},	      {"mapped", "::ffff:10.2.0.1"},
};

static struct sockaddr *address_of_ib(const char *arg, uint16_t port)
{
	static struct sockaddr_ib sib;
	uint64_t space = arg_is(arg, "ib_udp") ? RDMA_PS_UDP : arg_is(arg, "ib_own") ? RDMA_PS_IB : RDMA_PS_TCP;

	sib = (struct sockaddr_ib){.sib_family = AF_IB, .sib_sid = htobe64(space << 16 | port), .sib_sid_mask = htobe64(~0ULL),
				   .sib_pkey = htons(0xFFFF)};
	if (!arg_is(arg, "ib_any"))
		inet_pton(AF_INET6, arg_is(arg, "ib_link") ? "fe80::1" : "::ffff:10.2.0.1", &sib.sib_addr);
	if (arg_is(arg, "ib_pkey0"))
		sib.sib_pkey = 0;
	if (arg_is(arg, "ib_mask0"))
		sib.sib_sid_mask = 0;
	if (arg_is(arg, "ib_scope"))
		sib.sib_scope_id = 2;
	return (struct sockaddr *)&sib;
}

struct sockaddr *arg_address(struct world *w, const char *arg, uint16_t port)
{
	static struct sockaddr_storage odd;
	struct sockaddr_in6 *scoped;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		if (arg_is(arg, addresses[i].name))
			return vm_sockaddr(addresses[i].number, port);
	}
	if (arg_is(arg, "local6_scoped")) {
		scoped = (struct sockaddr_in6 *)vm_sockaddr("fd02::1", port);
		scoped->sin6_scope_id = if_nametoindex("v0");
		return (struct sockaddr *)scoped;
	}
	if (arg_is(arg, "null"))
		return NULL;
	if (arg_is(arg, "good"))
		return vm_sockaddr(w->address, port);
	if (arg_is(arg, "taken"))
		return vm_sockaddr(w->address, w->port);
	if (arg_is(arg, "low"))
		return vm_sockaddr(w->address, 7);
	if (!strncmp(arg, "ib", 2))
		return address_of_ib(arg, port);
	memset(&odd, 0, sizeof(odd));
	odd.ss_family = arg_is(arg, "unix") ? AF_UNIX : arg_is(arg, "family_huge") ? 60000 : 0;
	return (struct sockaddr *)&odd;
}

/* ---- Connections ---- */

static const uint8_t data[256] = "0123456789abcdef";

static void param_random(struct world *w, struct rdma_conn_param *param)
{
	uint64_t bits = arg_random(w);

	*param = (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = (uint8_t)(bits % 57),
		.responder_resources = (uint8_t)(bits >> 8),
		.initiator_depth = (uint8_t)(bits >> 16),
		.flow_control = (uint8_t)(bits >> 24),
		.retry_count = (uint8_t)(bits >> 32),
		.rnr_retry_count = (uint8_t)(bits >> 40),
		.srq = (uint8_t)(bits >> 48),
		.qp_num = w->qpn,
	};
	/* Half of them within what a device can do. */
	if (arg_random(w) % 2) {
		param->responder_resources %= 17;
		param->initiator_depth %= 17;
		param->retry_count %= 8;
		param->rnr_retry_count %= 8;
	}
}

struct rdma_conn_param *arg_param(struct world *w, const char *arg, struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param){.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
					  .rnr_retry_count = 7, .qp_num = w->qpn};
	if (arg_is(arg, "null"))
		return NULL;
	if (arg_is(arg, "zero"))
		memset(param, 0, sizeof(*param));
	if (!strncmp(arg, "data", 4)) {
		param->private_data = data;
		param->private_data_len = (uint8_t)atoi(arg + 4);
	}
	if (arg_is(arg, "len_alone"))
		param->private_data_len = 8;
	if (arg_is(arg, "resp255"))
		param->responder_resources = 255;
	if (arg_is(arg, "init255"))
		param->initiator_depth = 255;
	if (arg_is(arg, "depth16"))
		param->responder_resources = param->initiator_depth = 16;
	if (arg_is(arg, "retry255"))
		param->retry_count = param->rnr_retry_count = 255;
	if (arg_is(arg, "flow"))
		param->flow_control = 1;
	if (arg_is(arg, "srq"))
		param->srq = 1;
	if (arg_is(arg, "qpn_huge"))
		param->qp_num = 0xFFFFFFFF;
	if (!strncmp(arg, "random", 6))
		param_random(w, param);
	return param;
}

/* ---- Queue pairs ---- */

static struct ibv_context *world_foreign(struct world *w)
{
	struct ibv_device **list;

	if (w->foreign)
		return w->foreign;
	list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	w->foreign = ibv_open_device(list[0]);
	CHECK(w->foreign);
	return w->foreign;
}

static struct ibv_context *world_device(struct world *w)
{
	return w->id && w->id->verbs ? w->id->verbs : world_foreign(w);
}

struct ibv_pd *arg_pd(struct world *w, const char *arg)
{
	if (strncmp(arg, "pd_", 3))
		return NULL;
	w->given_pd = ibv_alloc_pd(arg_is(arg, "pd_foreign") ? world_foreign(w) : world_device(w));
	CHECK(w->given_pd);
	return w->given_pd;
}

static void qp_random(struct world *w, struct ibv_qp_init_attr *attr)
{
	static const uint32_t sizes[] = {0, 1, 2, 16, 17, 100, 1000, 20000, 1000000, 0xFFFFFFFF};
	uint64_t bits = arg_random(w);

	attr->cap.max_send_wr = sizes[bits % 10];
	attr->cap.max_recv_wr = sizes[(bits >> 8) % 10];
	attr->cap.max_send_sge = sizes[(bits >> 16) % 6];
	attr->cap.max_recv_sge = sizes[(bits >> 24) % 6];
	attr->cap.max_inline_data = sizes[(bits >> 32) % 8];
	attr->sq_sig_all = (int)(bits >> 40) % 2;
	attr->qp_type = (bits >> 48) % 4 ? space_is_datagrams(w->space) ? IBV_QPT_UD : IBV_QPT_RC
					: (enum ibv_qp_type)((bits >> 52) % 12);
}

static enum ibv_qp_type qp_type_of(struct world *w, const char *arg)
{
	if (arg_is(arg, "rc"))
		return IBV_QPT_RC;
	if (arg_is(arg, "ud"))
		return IBV_QPT_UD;
	if (arg_is(arg, "uc"))
		return IBV_QPT_UC;
	if (arg_is(arg, "raw"))
		return IBV_QPT_RAW_PACKET;
	if (arg_is(arg, "xrc_send"))
		return IBV_QPT_XRC_SEND;
	if (arg_is(arg, "xrc_recv"))
		return IBV_QPT_XRC_RECV;
	if (arg_is(arg, "type0"))
		return (enum ibv_qp_type)0;
	return space_is_datagrams(w->space) ? IBV_QPT_UD : IBV_QPT_RC;
}

struct ibv_qp_init_attr *arg_qp(struct world *w, const char *arg, struct ibv_qp_init_attr *attr)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 8, .max_sge = 1}};

	*attr = (struct ibv_qp_init_attr){
		.cap = {.max_send_wr = 4, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 2},
		.qp_type = qp_type_of(w, arg),
	};
	if (arg_is(arg, "null"))
		return NULL;
	if (arg_is(arg, "nocap"))
		memset(&attr->cap, 0, sizeof(attr->cap));
	if (arg_is(arg, "huge"))
		memset(&attr->cap, 255, sizeof(attr->cap));
	if (arg_is(arg, "big"))
		attr->cap.max_send_wr = attr->cap.max_recv_wr = 100000;
	if (arg_is(arg, "inline"))
		attr->cap.max_inline_data = 64;
	if (arg_is(arg, "context"))
		attr->qp_context = &w->mcast_context;
	if (arg_is(arg, "cq_send") || arg_is(arg, "cq_recv") || arg_is(arg, "cq_both")) {
		w->given_cq = ibv_create_cq(world_device(w), 16, NULL, NULL, 0);
		CHECK(w->given_cq);
		attr->send_cq = arg_is(arg, "cq_recv") ? NULL : w->given_cq;
		attr->recv_cq = arg_is(arg, "cq_send") ? NULL : w->given_cq;
	}
	if (arg_is(arg, "srq") && w->id && w->id->pd) {
		w->given_srq = ibv_create_srq(w->id->pd, &srq);
		CHECK(w->given_srq);
		attr->srq = w->given_srq;
	}
	if (!strncmp(arg, "random", 6))
		qp_random(w, attr);
	return attr;
}
