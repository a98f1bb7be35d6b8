/* SPDX-License-Identifier: BSD-2-Clause */
/* How an id gets into each state that it can have. */
#include "beside.h"

#include <infiniband/verbs.h>

static const char mcast_group[] = "239.1.1.1";

bool space_is_datagrams(enum rdma_port_space space)
{
	return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB;
}

void world_qp(struct rdma_cm_id *id)
{
	vm_qp(id, space_is_datagrams(id->ps) ? IBV_QPT_UD : IBV_QPT_RC);
}

static void world_expect(struct world *w, enum rdma_cm_event_type type)
{
	if (!w->synchronous)
		CHECK_EQ(vm_expect(w->channel, type), 0);
}

static void world_id(struct world *w)
{
	TRY(rdma_create_id(w->channel, &w->id, &w->context, w->space));
}

void world_listen(struct world *w)
{
	if (w->space == RDMA_PS_IPOIB)
		return;
	w->listener = vm_id(w->peer_channel, w->space);
	TRY(rdma_bind_addr(w->listener, vm_sockaddr(w->address, 0)));
	TRY(rdma_listen(w->listener, 8));
	w->port = ntohs(rdma_get_src_port(w->listener));
}

/* ---- One id ---- */

static void make_new(struct world *w)
{
	world_listen(w);
	world_id(w);
}

static void make_bound(struct world *w)
{
	make_new(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr(w->address, 0)));
}

static void make_bound_any(struct world *w)
{
	make_new(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr("0.0.0.0", 0)));
}

static void make_bound_qp(struct world *w)
{
	make_bound(w);
	world_qp(w->id);
}

/* To an address that nobody has: it stays so for seconds. */
static void make_resolving(struct world *w)
{
	make_new(w);
	TRY(rdma_resolve_addr(w->id, NULL, vm_sockaddr("10.2.0.77", 7), VM_STEP_MS));
}

static void world_due(struct world *w)
{
	struct pollfd due = {.fd = w->id->channel->fd, .events = POLLIN};

	CHECK_EQ(poll(&due, 1, VM_STEP_MS), 1);
}

static void make_address_due(struct world *w)
{
	make_new(w);
	TRY(rdma_resolve_addr(w->id, NULL, vm_sockaddr(w->address, w->port), VM_STEP_MS));
	world_due(w);
}

static void make_resolved(struct world *w)
{
	make_new(w);
	TRY(rdma_resolve_addr(w->id, NULL, vm_sockaddr(w->address, w->port), VM_STEP_MS));
	world_expect(w, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void make_route_due(struct world *w)
{
	make_resolved(w);
	TRY(rdma_resolve_route(w->id, VM_STEP_MS));
	world_due(w);
}

static void make_routed(struct world *w)
{
	make_resolved(w);
	TRY(rdma_resolve_route(w->id, VM_STEP_MS));
	world_expect(w, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void make_routed_qp(struct world *w)
{
	make_routed(w);
	world_qp(w->id);
}

static void make_listening(struct world *w)
{
	world_id(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr(w->address, 0)));
	TRY(rdma_listen(w->id, 8));
	w->listener = w->id;
	w->port = ntohs(rdma_get_src_port(w->id));
}

static void make_listening_any(struct world *w)
{
	world_id(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr("0.0.0.0", 0)));
	TRY(rdma_listen(w->id, 8));
	w->listener = w->id;
	w->port = ntohs(rdma_get_src_port(w->id));
}

static void make_joined(struct world *w)
{
	make_bound_qp(w);
	TRY(rdma_join_multicast(w->id, vm_sockaddr(mcast_group, 0), &w->mcast_context));
	world_expect(w, RDMA_CM_EVENT_MULTICAST_JOIN);
}

static void make_joined_bare(struct world *w)
{
	make_bound(w);
	TRY(rdma_join_multicast(w->id, vm_sockaddr(mcast_group, 0), &w->mcast_context));
	world_expect(w, RDMA_CM_EVENT_MULTICAST_JOIN);
}

/* ---- The side that asks ---- */

static void world_connect(struct world *w, struct rdma_cm_id *id, bool with_qp)
{
	struct rdma_conn_param param = vm_param("asked", 5);

	if (!with_qp)
		param.qp_num = w->qpn;
	TRY(rdma_connect(id, &param));
}

/* The other end has the request and does nothing about it. */
static void make_connecting(struct world *w)
{
	struct rdma_cm_event *event;

	make_routed_qp(w);
	world_connect(w, w->id, true);
	event = vm_take(w->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	w->peer = event->id;
	TRY(rdma_ack_cm_event(event));
}

static void peer_accept(struct world *w)
{
	struct rdma_conn_param param = vm_param("accepted", 8);

	world_qp(w->peer);
	TRY(rdma_accept(w->peer, &param));
}

static void make_responded(struct world *w)
{
	struct rdma_cm_event *event;

	make_routed(w);
	world_connect(w, w->id, false);
	event = vm_take(w->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	w->peer = event->id;
	TRY(rdma_ack_cm_event(event));
	peer_accept(w);
	CHECK_EQ(vm_expect(w->channel, space_is_datagrams(w->space) ? RDMA_CM_EVENT_ESTABLISHED
							       : RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
}

static void make_rejected(struct world *w)
{
	make_connecting(w);
	TRY(rdma_reject(w->peer, "no", 2));
	vm_expect(w->channel, space_is_datagrams(w->space) ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED);
}

/* The answer of the other end is there and not taken. */
static void make_response_due(struct world *w)
{
	make_connecting(w);
	peer_accept(w);
	world_due(w);
}

/* The thread of the other end has taken what tells it that it is connected. */
static void peer_expect_established(struct world *w)
{
	for (int i = 0; !space_is_datagrams(w->space) && !atomic_load(&w->peer_established) && i < VM_STEP_MS; i++)
		usleep(1000);
}

static void make_connected(struct world *w)
{
	w->peer_accepts = true;
	if (w->synchronous) {
		make_routed_qp(w);
		world_connect(w, w->id, true);
		peer_expect_established(w);
		return;
	}
	make_connecting(w);
	peer_accept(w);
	world_expect(w, RDMA_CM_EVENT_ESTABLISHED);
	if (!space_is_datagrams(w->space))
		CHECK_EQ(vm_expect(w->peer_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
}

static void make_disconnected(struct world *w)
{
	make_connected(w);
	TRY(rdma_disconnect(w->id));
	if (w->synchronous)
		return;
	/* Whoever is disconnected has to answer, or the other waits. */
	CHECK_EQ(vm_expect(w->peer_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(w->peer));
	CHECK_EQ(vm_expect(w->channel, RDMA_CM_EVENT_DISCONNECTED), 0);
}

/* ---- The side that is asked ---- */

static void peer_asks(struct world *w)
{
	w->peer = vm_id(w->peer_channel, w->space);
	w->peer->context = &w->peer_context;
	vm_resolve(w->peer, vm_sockaddr(w->address, w->port));
	world_qp(w->peer);
	world_connect(w, w->peer, true);
}

static void make_request_due(struct world *w)
{
	make_listening(w);
	peer_asks(w);
	world_due(w);
}

static void make_request(struct world *w)
{
	struct rdma_cm_event *event;

	make_listening(w);
	peer_asks(w);
	if (w->synchronous) {
		TRY(rdma_get_request(w->listener, &w->id));
		events_serve_peer(w);
		return;
	}
	event = vm_take(w->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	w->id = event->id;
	TRY(rdma_ack_cm_event(event));
}

static void make_request_qp(struct world *w)
{
	make_request(w);
	world_qp(w->id);
}

static void make_accepted(struct world *w)
{
	struct rdma_conn_param param = vm_param("taken", 5);

	make_request_qp(w);
	TRY(rdma_accept(w->id, &param));
}

static void make_taken(struct world *w)
{
	make_accepted(w);
	if (w->synchronous) {
		peer_expect_established(w);
		return;
	}
	CHECK_EQ(vm_expect(w->peer_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	if (!space_is_datagrams(w->space))
		CHECK_EQ(vm_expect(w->channel, RDMA_CM_EVENT_ESTABLISHED), 0);
}

static void make_left(struct world *w)
{
	make_taken(w);
	TRY(rdma_disconnect(w->peer));
	CHECK_EQ(vm_expect(w->channel, RDMA_CM_EVENT_DISCONNECTED), 0);
}

static void make_turned_away(struct world *w)
{
	make_request(w);
	TRY(rdma_reject(w->id, "no", 2));
}

/* ---- Endpoints ---- */

static void world_endpoint(struct world *w, int flags, bool with_qp)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC}, *info;
	char port[8];

	snprintf(port, sizeof(port), "%u", flags & RAI_PASSIVE ? 0 : w->port);
	TRY(rdma_getaddrinfo(w->address, port, &hints, &info));
	TRY(rdma_create_ep(&w->id, info, NULL, with_qp ? &attr : NULL));
	rdma_freeaddrinfo(info);
}

static void make_ep(struct world *w)
{
	world_listen(w);
	world_endpoint(w, 0, true);
}

static void make_ep_bare(struct world *w)
{
	world_listen(w);
	world_endpoint(w, 0, false);
}

static void make_ep_passive(struct world *w)
{
	world_listen(w);
	world_endpoint(w, RAI_PASSIVE, true);
}

static void make_null(struct world *w)
{
	world_listen(w);
}

/* ---- The device goes ---- */

static void make_removal_due(struct world *w)
{
	world_listen(w);
	device_own(w);
	world_id(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr(w->address, 0)));
	device_remove(w);
	world_due(w);
	device_left(w->id);
}

static void make_removed_qp(struct world *w)
{
	world_listen(w);
	device_own(w);
	world_id(w);
	TRY(rdma_bind_addr(w->id, vm_sockaddr(w->address, 0)));
	world_qp(w->id);
	device_remove(w);
	removals_take(w->channel, 1);
	device_left(w->id);
}

static void make_removed_connected(struct world *w)
{
	device_own(w);
	make_connected(w);
	device_remove(w);
	removals_take(w->channel, 1);
	device_left(w->id);
	/* The other end and its listener. */
	removals_take(w->peer_channel, 2);
	device_left(w->peer);
	device_left(w->listener);
}

/* ---- All ---- */

const struct state states[] = {
	{"null", RDMA_PS_TCP, false, make_null, false},
	{"new", RDMA_PS_TCP, false, make_new, false},
	{"bound", RDMA_PS_TCP, false, make_bound, false},
	{"bound_any", RDMA_PS_TCP, false, make_bound_any, false},
	{"bound_qp", RDMA_PS_TCP, false, make_bound_qp, false},
	{"resolving", RDMA_PS_TCP, false, make_resolving, false},
	{"address_due", RDMA_PS_TCP, false, make_address_due, false},
	{"resolved", RDMA_PS_TCP, false, make_resolved, false},
	{"route_due", RDMA_PS_TCP, false, make_route_due, false},
	{"routed", RDMA_PS_TCP, false, make_routed, false},
	{"routed_qp", RDMA_PS_TCP, false, make_routed_qp, false},
	{"listening", RDMA_PS_TCP, false, make_listening, false},
	{"listening_any", RDMA_PS_TCP, false, make_listening_any, false},
	{"connecting", RDMA_PS_TCP, false, make_connecting, false},
	{"response_due", RDMA_PS_TCP, false, make_response_due, false},
	{"responded", RDMA_PS_TCP, false, make_responded, false},
	{"rejected", RDMA_PS_TCP, false, make_rejected, false},
	{"connected", RDMA_PS_TCP, false, make_connected, false},
	{"disconnected", RDMA_PS_TCP, false, make_disconnected, false},
	{"request_due", RDMA_PS_TCP, false, make_request_due, false},
	{"request", RDMA_PS_TCP, false, make_request, false},
	{"request_qp", RDMA_PS_TCP, false, make_request_qp, false},
	{"accepted", RDMA_PS_TCP, false, make_accepted, false},
	{"taken", RDMA_PS_TCP, false, make_taken, false},
	{"left", RDMA_PS_TCP, false, make_left, false},
	{"turned_away", RDMA_PS_TCP, false, make_turned_away, false},
	{"bound6", RDMA_PS_TCP, false, make_bound, false, "fd02::1"},
	{"resolved6", RDMA_PS_TCP, false, make_resolved, false, "fd02::1"},
	{"routed6_qp", RDMA_PS_TCP, false, make_routed_qp, false, "fd02::1"},
	{"listening6", RDMA_PS_TCP, false, make_listening, false, "fd02::1"},
	{"connected6", RDMA_PS_TCP, false, make_connected, false, "fd02::1"},
	{"request6_qp", RDMA_PS_TCP, false, make_request_qp, false, "fd02::1"},
	{"link_bound", RDMA_PS_TCP, false, make_bound, false, "fe80::1%v0"},
	{"link_routed_qp", RDMA_PS_TCP, false, make_routed_qp, false, "fe80::1%v0"},
	{"link_connected", RDMA_PS_TCP, false, make_connected, false, "fe80::1%v0"},
	{"link_request", RDMA_PS_TCP, false, make_request, false, "fe80::1%v0"},
	{"ud_new", RDMA_PS_UDP, false, make_new, false},
	{"ud_bound", RDMA_PS_UDP, false, make_bound, false},
	{"ud_resolving", RDMA_PS_UDP, false, make_resolving, false},
	{"ud_address_due", RDMA_PS_UDP, false, make_address_due, false},
	{"ud_route_due", RDMA_PS_UDP, false, make_route_due, false},
	{"ud_response_due", RDMA_PS_UDP, false, make_response_due, false},
	{"ud_request_due", RDMA_PS_UDP, false, make_request_due, false},
	{"ud_turned_away", RDMA_PS_UDP, false, make_turned_away, false},
	{"ud6_connected", RDMA_PS_UDP, false, make_connected, false, "fd02::1"},
	{"ud6_request", RDMA_PS_UDP, false, make_request, false, "fd02::1"},
	{"ud_bound_qp", RDMA_PS_UDP, false, make_bound_qp, false},
	{"ud_resolved", RDMA_PS_UDP, false, make_resolved, false},
	{"ud_routed_qp", RDMA_PS_UDP, false, make_routed_qp, false},
	{"ud_listening", RDMA_PS_UDP, false, make_listening, false},
	{"ud_connecting", RDMA_PS_UDP, false, make_connecting, false},
	{"ud_responded", RDMA_PS_UDP, false, make_responded, false},
	{"ud_rejected", RDMA_PS_UDP, false, make_rejected, false},
	{"ud_connected", RDMA_PS_UDP, false, make_connected, false},
	{"ud_request", RDMA_PS_UDP, false, make_request, false},
	{"ud_request_qp", RDMA_PS_UDP, false, make_request_qp, false},
	{"ud_taken", RDMA_PS_UDP, false, make_taken, false},
	{"ud_joined", RDMA_PS_UDP, false, make_joined, false},
	{"ud_joined_bare", RDMA_PS_UDP, false, make_joined_bare, false},
	{"ipoib_new", RDMA_PS_IPOIB, false, make_new, false},
	{"ib_new", RDMA_PS_IB, false, make_new, false},
	{"ib_bound", RDMA_PS_IB, false, make_bound, false},
	{"ib_routed", RDMA_PS_IB, false, make_routed, false},
	{"ib_listening", RDMA_PS_IB, false, make_listening, false},
	{"ib_connected", RDMA_PS_IB, false, make_connected, false},
	{"ib_request", RDMA_PS_IB, false, make_request, false},
	{"ib_taken", RDMA_PS_IB, false, make_taken, false},
	{"sync_new", RDMA_PS_TCP, true, make_new, false},
	{"sync_bound", RDMA_PS_TCP, true, make_bound, false},
	{"sync_resolved", RDMA_PS_TCP, true, make_resolved, false},
	{"sync_routed", RDMA_PS_TCP, true, make_routed, false},
	{"sync_routed_qp", RDMA_PS_TCP, true, make_routed_qp, false},
	{"sync_listening", RDMA_PS_TCP, true, make_listening, false},
	{"sync_request_due", RDMA_PS_TCP, true, make_request_due, false},
	{"sync_request", RDMA_PS_TCP, true, make_request, false},
	{"sync_request_qp", RDMA_PS_TCP, true, make_request_qp, false},
	{"sync_connected", RDMA_PS_TCP, true, make_connected, false},
	{"sync_disconnected", RDMA_PS_TCP, true, make_disconnected, false},
	{"sync_taken", RDMA_PS_TCP, true, make_taken, false},
	{"sync_ud_new", RDMA_PS_UDP, true, make_new, false},
	{"sync_ud_routed_qp", RDMA_PS_UDP, true, make_routed_qp, false},
	{"sync_ud_connected", RDMA_PS_UDP, true, make_connected, false},
	{"sync_ud_request_qp", RDMA_PS_UDP, true, make_request_qp, false},
	{"sync_ud_joined", RDMA_PS_UDP, true, make_joined, false},
	{"ep", RDMA_PS_TCP, true, make_ep, false},
	{"ep_bare", RDMA_PS_TCP, true, make_ep_bare, false},
	{"ep_passive", RDMA_PS_TCP, true, make_ep_passive, false},
	{"removal_due", RDMA_PS_TCP, false, make_removal_due, true},
	{"removed_qp", RDMA_PS_TCP, false, make_removed_qp, true},
	{"removed_connected", RDMA_PS_TCP, false, make_removed_connected, true},
	{"sync_removal_due", RDMA_PS_TCP, true, make_removal_due, true},
};

const size_t states_count = sizeof(states) / sizeof(states[0]);

void state_make(struct world *w, const struct state *state)
{
	bool asked = state->make == make_listening || state->make == make_request_due || state->make == make_request ||
		     state->make == make_request_qp || state->make == make_taken;

	w->space = state->space;
	if (state->address)
		w->address = state->address;
	w->synchronous = state->synchronous;
	w->peer_channel = vm_channel();
	if (!w->synchronous)
		w->channel = vm_channel();
	/* The thread of the other end starts before the calls that wait for it. */
	if (w->synchronous && !asked)
		events_serve_peer(w);
	state->make(w);
	if (!w->has_thread)
		w->peer_accepts = state->make == make_routed_qp || state->make == make_routed;
	else
		w->peer_accepts = true;
	w->own.len = w->theirs.len = 0;
	w->own_events = w->their_events = 0;
}

static int id_end(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	return rdma_destroy_id(id) ? errno : 0;
}

/* What the case gave to the library itself. */
static void given_end(struct world *w)
{
	if (w->given_srq)
		ibv_destroy_srq(w->given_srq);
	if (w->given_cq)
		ibv_destroy_cq(w->given_cq);
	if (w->given_pd)
		ibv_dealloc_pd(w->given_pd);
	if (w->foreign)
		ibv_close_device(w->foreign);
}

void state_end(struct world *w)
{
	events_stop_peer(w);
	if (w->fresh && w->fresh != w->id)
		text_add(&w->result, "end.fresh=%s", show_errno(id_end(w->fresh)));
	if (w->id)
		text_add(&w->result, "end=%s", show_errno(id_end(w->id)));
	if (w->listener && w->listener != w->id)
		id_end(w->listener);
	if (w->peer)
		id_end(w->peer);
	given_end(w);
	if (w->channel)
		rdma_destroy_event_channel(w->channel);
	if (w->other_channel)
		rdma_destroy_event_channel(w->other_channel);
	rdma_destroy_event_channel(w->peer_channel);
	device_end(w);
}
