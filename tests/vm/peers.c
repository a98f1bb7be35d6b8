/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers with devices that Soft-RoCE is not: of other vendors, with ECE options or without, iWARP, XRC. The shim plays
 * them (shim.c): each end of a connection is made while RAI_SHIM says what its device is.
 */
#include "vm.h"

#include <rdma/rdma_verbs.h>

#include "shim.h"

/* A device from here on. */
static void device_is(const char *words)
{
	if (!shim_qp_of)
		vm_skip("needs the shim");
	setenv("RAI_SHIM", words, 1);
}

/* ---- Enhanced connection establishment ---- */

/* The QP was given these options of this vendor; vendor 0: none. */
static void given(struct rdma_cm_id *id, uint32_t vendor, uint32_t options)
{
	const struct shim_qp *qp = shim_qp_of(id->qp);

	CHECK_EQ(qp->given.vendor_id, vendor);
	CHECK_EQ(qp->given.options, options);
}

static struct vm_pair connected(const char *client, const char *server)
{
	struct vm_pair pair;

	device_is(client);
	pair = vm_pair_resolved(vm_address());
	vm_pair_request(&pair, NULL);
	device_is(server);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	return pair;
}

static void test_peers_of_one_vendor_use_what_both_have(void)
{
	struct vm_pair pair = connected("ece=15b3:7", "ece=15b3:d");

	given(pair.server, 0x15b3, 7);
	given(pair.client, 0x15b3, 5);
	vm_pair_free(&pair);
}

static void test_peers_of_two_vendors_use_no_options(void)
{
	struct vm_pair pair = connected("ece=15b3:7", "ece=10df:7");

	given(pair.server, 0x10df, 0);
	given(pair.client, 0x15b3, 0);
	CHECK_EQ(shim_qp_of(pair.server->qp)->times, 1);
	CHECK_EQ(shim_qp_of(pair.client->qp)->times, 1);
	vm_pair_free(&pair);
}

static void test_client_without_options_is_answered_without_any(void)
{
	struct vm_pair pair = connected("", "ece=15b3:7");

	CHECK_EQ(shim_qp_of(pair.server->qp)->times, 0);
	vm_pair_free(&pair);
}

static void test_server_without_options_leaves_the_client_none(void)
{
	struct vm_pair pair = connected("ece=15b3:7", "");

	given(pair.client, 0x15b3, 0);
	vm_pair_free(&pair);
}

/* What goes over the wire shows in an id without a queue pair at the other end. */
static void test_request_has_what_the_device_has(void)
{
	struct ibv_ece ece = { 0 };
	struct vm_pair pair;

	device_is("ece=15b3:7");
	pair = vm_pair_resolved(vm_address());
	vm_pair_request(&pair, NULL);
	TRY(rdma_get_remote_ece(pair.server, &ece));
	CHECK_EQ(ece.vendor_id, 0x15b3);
	CHECK_EQ(ece.options, 7);
	TRY(rdma_reject(pair.server, NULL, 0));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_REJECTED), 28);
	vm_pair_free(&pair);
}

/* The kernel takes one number of a device twice for a connection that it still has. */
static uint32_t next_qp_num(void)
{
	static uint32_t last = 1000;

	return ++last;
}

/* A client without a queue pair asks with these options (vendor 0: none) a device of vendor 15b3 with options 7. */
static struct ibv_ece answer_to(struct ibv_ece asked, bool server_has_qp)
{
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct ibv_ece local = { .vendor_id = 0x15b3, .options = 6 }, answer = { 0 };
	struct vm_pair pair = { .listener = vm_listen(vm_address(), RDMA_PS_TCP, 1), .client_channel = vm_channel() };

	device_is("ece=15b3:7");
	pair.client = vm_id(pair.client_channel, RDMA_PS_TCP);
	vm_resolve(pair.client, vm_sockaddr(vm_address(), pair.listener.port));
	if (asked.vendor_id)
		TRY(rdma_set_local_ece(pair.client, &asked));
	param.qp_num = next_qp_num();
	vm_pair_request(&pair, &param);
	param.qp_num = next_qp_num();
	if (server_has_qp)
		vm_qp(pair.server, IBV_QPT_RC);
	else
		TRY(rdma_set_local_ece(pair.server, &local));
	TRY(rdma_accept(pair.server, &param));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
	TRY(rdma_get_remote_ece(pair.client, &answer));
	TRY(rdma_establish(pair.client));
	CHECK_EQ(vm_expect(pair.listener.channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	vm_pair_free(&pair);
	return answer;
}

static void test_response_has_the_requests_vendor(void)
{
	const struct ibv_ece none = { 0 }, same = { .vendor_id = 0x15b3, .options = 0xd },
			     other = { .vendor_id = 0x10df, .options = 0xd };
	struct ibv_ece answer = answer_to(same, true);

	CHECK_EQ(answer.vendor_id, 0x15b3);
	CHECK_EQ(answer.options, 5);
	answer = answer_to(other, true);
	CHECK_EQ(answer.vendor_id, 0x10df);
	CHECK_EQ(answer.options, 0);
	CHECK_EQ(answer_to(none, true).vendor_id, 0);
	answer = answer_to(other, false);
	CHECK_EQ(answer.vendor_id, 0x10df);
	CHECK_EQ(answer.options, 6);
	CHECK_EQ(answer_to(none, false).vendor_id, 0);
}

static void test_options_without_vendor_or_with_mask_are_refused(void)
{
	struct rdma_cm_id *id = vm_id(NULL, RDMA_PS_TCP);
	struct ibv_ece ece = { .options = 1 };

	REFUSED(rdma_set_local_ece(id, &ece), EINVAL);
	ece.vendor_id = 1;
	TRY(rdma_set_local_ece(id, &ece));
	ece.comp_mask = 1;
	REFUSED(rdma_set_local_ece(id, &ece), EINVAL);
	TRY(rdma_destroy_id(id));
}

/* ---- iWARP ---- */

static bool was_in(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	return shim_qp_of(id->qp)->states & 1U << state;
}

/* Both ends leave; which state their queue pairs go to. */
static void ends_in(const char *device, enum ibv_qp_state wanted, enum ibv_qp_state other)
{
	struct vm_pair pair = connected(device, device);

	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(pair.server));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	CHECK(was_in(pair.client, wanted) && !was_in(pair.client, other));
	CHECK(was_in(pair.server, wanted) && !was_in(pair.server, other));
	vm_pair_free(&pair);
}

static void test_iwarp_connection_is_closed_in_order(void)
{
	ends_in("iwarp", IBV_QPS_SQD, IBV_QPS_ERR);
}

static void test_roce_connection_ends_in_error(void)
{
	ends_in("", IBV_QPS_ERR, IBV_QPS_SQD);
}

/* ---- XRC ---- */

static struct rdma_cm_id *xrc_endpoint(uint16_t port, enum ibv_qp_type type, struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | (type == IBV_QPT_XRC_RECV ? RAI_PASSIVE : 0),
		.ai_port_space = RDMA_PS_IB, .ai_qp_type = type,
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	TRY(rdma_getaddrinfo(vm_address(), service, &hints, &info));
	TRY(rdma_create_ep(&id, info, NULL, attr));
	CHECK_EQ(id->qp_type, type);
	rdma_freeaddrinfo(info);
	return id;
}

static void test_srq_of_xrc_receivers_id_is_an_xrc_one(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct rdma_cm_id *id;

	device_is("xrc");
	id = xrc_endpoint(7471, IBV_QPT_XRC_RECV, NULL);
	TRY(rdma_create_srq(id, NULL, &attr));
	CHECK_EQ(shim_srq_type, IBV_SRQT_XRC);
	CHECK(id->srq && id->recv_cq && id->recv_cq_channel);
	rdma_destroy_srq(id);
	CHECK(!id->srq && !id->recv_cq);
	rdma_destroy_ep(id);
}

static struct ibv_qp_init_attr xrc_attr(void)
{
	return (struct ibv_qp_init_attr){ .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
}

/* Both ends, by endpoints, as rdma_xserver and rdma_xclient do. */
static void test_xrc_connection_is_established(void)
{
	struct ibv_qp_init_attr send = xrc_attr(), recv = xrc_attr();
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct rdma_cm_id *listener, *client, *server;

	device_is("xrc");
	listener = xrc_endpoint(7472, IBV_QPT_XRC_RECV, &recv);
	TRY(rdma_listen(listener, 1));
	client = xrc_endpoint(7472, IBV_QPT_XRC_SEND, &send);
	TRY(rdma_migrate_id(client, channel));
	TRY(rdma_connect(client, &param));
	TRY(rdma_get_request(listener, &server));
	CHECK(server->qp && !server->srq);
	CHECK_EQ(server->qp_type, IBV_QPT_XRC_RECV);
	TRY(rdma_migrate_id(server, channel));
	TRY(rdma_accept(server, &param));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	rdma_destroy_ep(client);
	rdma_destroy_ep(server);
	rdma_destroy_ep(listener);
	rdma_destroy_event_channel(channel);
}

/* ---- What a connection needs without a queue pair ---- */

static void test_connect_without_queue_pair_needs_parameters(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());

	rdma_destroy_qp(pair.client);
	REFUSED(rdma_connect(pair.client, NULL), EINVAL);
	vm_quiet(pair.client_channel, 100);
	vm_pair_free(&pair);
}

/* Of RDMA_PS_IB the kernel takes what fits; what is refused here is a destination where nobody listens. */
static void test_connect_of_port_space_ib_leaves_the_depths_to_the_kernel(void)
{
	struct rdma_conn_param param = { .responder_resources = 254, .initiator_depth = 254, .qp_num = 17 };
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_IB);

	vm_resolve(id, vm_sockaddr(vm_address(), 7999));
	TRY(rdma_connect(id, &param));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_REJECTED), 8);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void test_domain_of_the_application_stays_with_the_id(void)
{
	struct ibv_qp_init_attr attr = xrc_attr();
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct ibv_pd *pd = ibv_alloc_pd(pair.client->verbs);

	CHECK(pd);
	rdma_destroy_qp(pair.client);
	attr.qp_type = IBV_QPT_RC;
	TRY(rdma_create_qp(pair.client, pd, &attr));
	CHECK(pair.client->pd == pd);
	rdma_destroy_qp(pair.client);
	CHECK(pair.client->pd == pd);
	TRY(ibv_dealloc_pd(pd));
	vm_pair_free(&pair);
}

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_peers_of_one_vendor_use_what_both_have),
	TEST(test_peers_of_two_vendors_use_no_options),
	TEST(test_client_without_options_is_answered_without_any),
	TEST(test_server_without_options_leaves_the_client_none),
	TEST(test_request_has_what_the_device_has),
	TEST(test_response_has_the_requests_vendor),
	TEST(test_options_without_vendor_or_with_mask_are_refused),
	TEST(test_iwarp_connection_is_closed_in_order),
	TEST(test_roce_connection_ends_in_error),
	TEST(test_srq_of_xrc_receivers_id_is_an_xrc_one),
	TEST(test_xrc_connection_is_established),
	TEST(test_connect_without_queue_pair_needs_parameters),
	TEST(test_connect_of_port_space_ib_leaves_the_depths_to_the_kernel),
	TEST(test_domain_of_the_application_stays_with_the_id),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
