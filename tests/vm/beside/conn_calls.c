/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls on an id that are about addresses, connections and groups. */
#include "beside.h"

#include <limits.h>

static void call_nothing(struct world *w, const char *arg)
{
	(void)arg;
	text_add(&w->result, "ports=%d", w->port != 0);
	if (w->id)
		show_id(&w->result, "", w, w->id);
}

static int time_of(const char *arg)
{
	if (arg_is(arg, "time0"))
		return 0;
	if (arg_is(arg, "time1"))
		return 1;
	if (arg_is(arg, "time_negative"))
		return -1;
	return arg_is(arg, "time_huge") ? INT_MAX : 2000;
}

static void call_bind(struct world *w, const char *arg)
{
	DO(w, rdma_bind_addr(w->id, arg_address(w, arg, 0)));
}

static void call_resolve(struct world *w, const char *arg)
{
	uint16_t port = w->port ? w->port : 7;
	struct sockaddr *to = arg_address(w, strncmp(arg, "time", 4) ? arg : "good", port);

	DO(w, rdma_resolve_addr(w->id, NULL, to, time_of(arg)));
}

/* From an address that arg names. */
static void call_resolve_from(struct world *w, const char *arg)
{
	uint16_t port = w->port ? w->port : 7;

	DO(w, rdma_resolve_addr(w->id, arg_address(w, arg, 0), vm_sockaddr(w->address, port), 2000));
}

/* To an IPv6 destination, from an address that arg names. */
static void call_resolve6(struct world *w, const char *arg)
{
	uint16_t port = w->port ? w->port : 7;

	DO(w, rdma_resolve_addr(w->id, arg_address(w, arg, 0), vm_sockaddr(vm_address6(), port), 2000));
}

static void call_route(struct world *w, const char *arg)
{
	DO(w, rdma_resolve_route(w->id, time_of(arg)));
}

static void call_listen(struct world *w, const char *arg)
{
	DO(w, rdma_listen(w->id, atoi(arg)));
}

static void call_connect(struct world *w, const char *arg)
{
	struct rdma_conn_param param;

	DO(w, rdma_connect(w->id, arg_param(w, arg, &param)));
}

static void call_accept(struct world *w, const char *arg)
{
	struct rdma_conn_param param;

	DO(w, rdma_accept(w->id, arg_param(w, arg, &param)));
}

static void call_reject(struct world *w, const char *arg)
{
	struct rdma_conn_param param, *with = arg_param(w, arg, &param);

	DO(w, rdma_reject(w->id, with ? with->private_data : NULL, with ? with->private_data_len : 0));
}

static void call_reject_ece(struct world *w, const char *arg)
{
	struct rdma_conn_param param, *with = arg_param(w, arg, &param);

	DO(w, rdma_reject_ece(w->id, with ? with->private_data : NULL, with ? with->private_data_len : 0));
}

static void call_establish(struct world *w, const char *arg)
{
	(void)arg;
	DO(w, rdma_establish(w->id));
}

static void call_notify(struct world *w, const char *arg)
{
	DO(w, rdma_notify(w->id, (enum ibv_event_type)(arg_is(arg, "established") ? IBV_EVENT_COMM_EST : atoi(arg))));
}

static void call_disconnect(struct world *w, const char *arg)
{
	(void)arg;
	DO(w, rdma_disconnect(w->id));
}

static void call_get_request(struct world *w, const char *arg)
{
	struct rdma_cm_id *request = NULL;

	DO(w, rdma_get_request(w->id, arg_is(arg, "null") ? NULL : &request));
	if (!request)
		return;
	w->fresh = request;
	show_id(&w->result, "request.", w, request);
	show_event(&w->result, "request.event", w, request->event);
}

static void call_join(struct world *w, const char *arg)
{
	DO(w, rdma_join_multicast(w->id, arg_address(w, arg, 0), &w->mcast_context));
}

static void call_join_ex(struct world *w, const char *arg)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = arg_address(w, "mcast4", 0),
	};

	if (arg_is(arg, "no_mask"))
		attr.comp_mask = 0;
	if (arg_is(arg, "flags_alone"))
		attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
	if (arg_is(arg, "address_alone"))
		attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
	if (arg_is(arg, "reserved"))
		attr.comp_mask |= RDMA_CM_JOIN_MC_ATTR_RESERVED;
	if (arg_is(arg, "mask_huge"))
		attr.comp_mask = ~0U;
	if (arg_is(arg, "null_address"))
		attr.addr = NULL;
	if (arg_is(arg, "sendonly"))
		attr.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	if (arg_is(arg, "flag2"))
		attr.join_flags = 2;
	if (arg_is(arg, "flag_huge"))
		attr.join_flags = ~0U;
	if (arg_is(arg, "mcast6") || arg_is(arg, "ib") || arg_is(arg, "any4"))
		attr.addr = arg_address(w, arg, 0);
	sscanf(arg, "m%uf%u", &attr.comp_mask, &attr.join_flags);
	DO(w, rdma_join_multicast_ex(w->id, arg_is(arg, "null") ? NULL : &attr, &w->mcast_context));
}

static void call_leave(struct world *w, const char *arg)
{
	DO(w, rdma_leave_multicast(w->id, arg_address(w, arg, 0)));
}

/* ---- What the other end does ---- */

static void call_peer(struct world *w, const char *arg)
{
	struct rdma_conn_param param = vm_param("peer", 4);
	struct ibv_qp_init_attr attr;

	if (!w->peer)
		text_add(&w->result, "none=1");
	else if (arg_is(arg, "disconnects"))
		DO(w, rdma_disconnect(w->peer));
	else if (arg_is(arg, "rejects"))
		DO(w, rdma_reject(w->peer, "away", 4));
	else if (arg_is(arg, "accepts") && !w->peer->qp)
		DO(w, rdma_create_qp(w->peer, NULL, arg_qp(w, "good", &attr)) || rdma_accept(w->peer, &param) ? -1 : 0);
	else if (arg_is(arg, "goes")) {
		if (w->peer->qp)
			rdma_destroy_qp(w->peer);
		DO(w, rdma_destroy_id(w->peer));
		w->peer = NULL;
	}
}

/* Somebody asks the listener. */
static void call_asked(struct world *w, const char *arg)
{
	struct rdma_conn_param param;

	if (w->listener != w->id || w->peer)
		return text_add(&w->result, "none=1");
	w->peer = vm_id(w->peer_channel, w->space);
	vm_resolve(w->peer, vm_sockaddr(w->address, w->port));
	world_qp(w->peer);
	DO(w, rdma_connect(w->peer, arg_param(w, arg, &param)));
}

#define PARAMS \
	"good null data8 zero data55 data56 data57 data92 data180 data181 data196 data197 data255 len_alone resp255 " \
	"init255 depth16 retry255 flow srq qpn_huge random1 random2 random3 random4"
#define ADDRESSES \
	"any6 loop4 loop6 local6 local6_scoped link6 link6_unscoped link6_other second foreign mcast6 mapped ib ib_any " \
	"ib_udp ib_own ib_link ib_pkey0 ib_mask0 ib_scope unix family0 family_huge"

const struct call conn_calls[] = {
	{"nothing", call_nothing, "-"},
	{"bind", call_bind, "good taken null mcast4 any4 low local4 silent " ADDRESSES,
	 "new sync_new bound ud_new ib_new ipoib_new bound6"},
	{"resolve", call_resolve, "good silent null mcast4 silent6 any4 time0 time1 time_negative time_huge " ADDRESSES,
	 "new bound bound_any bound6 link_bound sync_new ud_new ib_new ib_bound ipoib_new"},
	{"resolve_from", call_resolve_from, "good taken null mcast4 silent any4 " ADDRESSES,
	 "new bound sync_new ud_new"},
	{"resolve6", call_resolve6, "null good any4 local6 local6_scoped any6 link6 loop6 silent ib",
	 "new bound6 bound sync_new ud_new ib_new ipoib_new"},
	{"route", call_route, "good time0 time1 time_negative time_huge",
	 "resolved sync_resolved ud_resolved routed"},
	{"listen", call_listen, "0 1 -1 1024 2147483647",
	 "new bound bound_any bound6 link_bound ud_new ud_bound ib_bound sync_bound ep_passive"},
	{"connect", call_connect, PARAMS,
	 "routed_qp routed ud_routed_qp sync_routed_qp ep routed6_qp ib_routed"},
	{"accept", call_accept, PARAMS,
	 "request request_qp ud_request ud_request_qp sync_request_qp request6_qp ib_request"},
	{"reject", call_reject, "null data8 data147 data148 data149 data255 len_alone",
	 "request ud_request sync_request"},
	{"reject_ece", call_reject_ece, "null data8 data255",
	 "request ud_request"},
	{"establish", call_establish, "-"},
	{"notify", call_notify, "established 0 1 2 3 5 6 7 19 1000 -1",
	 "accepted connected taken"},
	{"disconnect", call_disconnect, "-"},
	{"get_request", call_get_request, "good null"},
	{"join", call_join, "mcast4 good other4 any4 " ADDRESSES,
	 "bound_qp ud_bound_qp ud_bound ud_new ud_joined ipoib_new ib_bound sync_ud_new"},
	{"join_ex", call_join_ex,
	 "good address_alone null no_mask flags_alone reserved mask_huge null_address sendonly flag2 flag_huge mcast6 ib any4 "
	 "m0f1 m1f0 m1f1 m1f2 m1f3 m2f1 m2f2 m3f0 m3f1 m3f2 m3f3 m3f4 m4f1 m5f0 m6f1 m7f1 m8f1",
	 "bound_qp ud_bound_qp ud_bound ud_joined sync_ud_joined new ib_bound"},
	{"leave", call_leave, "null mcast4 other4 mcast6 unix",
	 "ud_joined ud_joined_bare sync_ud_joined ud_new"},
	{"peer", call_peer, "disconnects rejects accepts goes"},
	{"asked", call_asked, "good data56 depth16",
	 "listening ud_listening listening_any sync_listening ib_listening listening6"},
};

const size_t conn_calls_count = sizeof(conn_calls) / sizeof(conn_calls[0]);
