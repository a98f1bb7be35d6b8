/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: request, accept, reject and their private data, disconnect, backlog, establish without a queue pair. */
#include "vm.h"

static uint8_t pattern[256];

static void pattern_fill(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + 3);
}

/* The transport pads private data to the length of its message, so more may come than was sent. */
static void check_data(const struct rdma_conn_param *param, size_t len)
{
	if (param->private_data_len < len)
		FAIL("%u bytes of private data, sent %zu", param->private_data_len, len);
	if (len && memcmp(param->private_data, pattern, len))
		FAIL("private data of %zu bytes came changed", len);
}

/* One more connection through pair's listener, with this much private data each way. */
static void connect_with_data(struct vm_pair *pair, uint8_t request_len, uint8_t reply_len)
{
	struct rdma_conn_param param = vm_param(pattern, request_len);
	struct rdma_cm_event *event;

	TRY(rdma_connect(pair->client, &param));
	event = vm_take(pair->listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	check_data(&event->param.conn, request_len);
	pair->server = event->id;
	TRY(rdma_ack_cm_event(event));
	vm_qp(pair->server, IBV_QPT_RC);
	param = vm_param(pattern, reply_len);
	TRY(rdma_accept(pair->server, &param));
	event = vm_take(pair->client_channel, RDMA_CM_EVENT_ESTABLISHED);
	check_data(&event->param.conn, reply_len);
	TRY(rdma_ack_cm_event(event));
	CHECK_EQ(vm_expect(pair->listener.channel, RDMA_CM_EVENT_ESTABLISHED), 0);
}

static void client_again(struct vm_pair *pair, const char *address)
{
	if (pair->client) {
		rdma_destroy_qp(pair->client);
		TRY(rdma_destroy_id(pair->client));
	}
	pair->client = vm_id(pair->client_channel, RDMA_PS_TCP);
	vm_resolve(pair->client, vm_sockaddr(address, pair->listener.port));
	vm_qp(pair->client, IBV_QPT_RC);
}

static void server_gone(struct vm_pair *pair)
{
	if (pair->server->qp)
		rdma_destroy_qp(pair->server);
	TRY(rdma_destroy_id(pair->server));
	pair->server = NULL;
}

static void every_length_arrives(const char *address)
{
	struct vm_pair pair = vm_pair_resolved(address);

	pattern_fill();
	for (int len = 0; len <= VM_ACCEPT_DATA_MAX; len++) {
		int request = len % (VM_CONNECT_DATA_MAX + 1);

		connect_with_data(&pair, (uint8_t)request, (uint8_t)len);
		server_gone(&pair);
		client_again(&pair, address);
	}
	vm_pair_free(&pair);
}

static void test_connect_private_data_of_every_length_arrives(void)
{
	every_length_arrives(vm_address());
}

static void test_connect_v6_private_data_of_some_lengths_arrives(void)
{
	static const uint8_t lens[] = {0, 1, 55, VM_CONNECT_DATA_MAX};
	struct vm_pair pair = vm_pair_resolved(vm_address6());

	pattern_fill();
	for (size_t i = 0; i < sizeof(lens); i++) {
		connect_with_data(&pair, lens[i], lens[i]);
		server_gone(&pair);
		client_again(&pair, vm_address6());
	}
	vm_pair_free(&pair);
}

static void test_connect_private_data_too_long_is_refused(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_conn_param param = vm_param(pattern, VM_CONNECT_DATA_MAX + 1);

	REFUSED(rdma_connect(pair.client, &param), EINVAL);
	vm_pair_free(&pair);
}

static void reject_with(struct vm_pair *pair, uint8_t len)
{
	struct rdma_cm_event *event;

	vm_pair_request(pair, NULL);
	TRY(rdma_reject(pair->server, pattern, len));
	event = vm_take(pair->client_channel, RDMA_CM_EVENT_REJECTED);
	CHECK_EQ(event->status, 28);	/* IBTA 12.6.7.2: consumer reject */
	check_data(&event->param.conn, len);
	TRY(rdma_ack_cm_event(event));
}

static void test_reject_private_data_of_every_length_arrives(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());

	pattern_fill();
	for (int len = 0; len <= VM_REJECT_DATA_MAX; len++) {
		reject_with(&pair, (uint8_t)len);
		server_gone(&pair);
		client_again(&pair, vm_address());
	}
	vm_pair_free(&pair);
}

static void test_connect_without_listener_is_rejected(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_conn_param param = vm_param(NULL, 0);

	rdma_destroy_qp(pair.client);
	TRY(rdma_destroy_id(pair.client));
	pair.client = vm_id(pair.client_channel, RDMA_PS_TCP);
	vm_resolve(pair.client, vm_sockaddr(vm_address(), 1));
	vm_qp(pair.client, IBV_QPT_RC);
	TRY(rdma_connect(pair.client, &param));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_REJECTED), 8);	/* invalid service id */
	vm_pair_free(&pair);
}

static enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void test_queue_pair_follows_the_connection(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());

	CHECK_EQ(qp_state(pair.client->qp), IBV_QPS_INIT);
	vm_pair_request(&pair, NULL);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(qp_state(pair.client->qp), IBV_QPS_RTS);
	CHECK_EQ(qp_state(pair.server->qp), IBV_QPS_RTS);
	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(qp_state(pair.client->qp), IBV_QPS_ERR);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

static void test_disconnect_by_client_reaches_both(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());

	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(pair.server));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

static void test_disconnect_by_server_reaches_both(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());

	TRY(rdma_disconnect(pair.server));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

static void test_destroy_while_connected_disconnects_the_peer(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());

	server_gone(&pair);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

/* Requests beyond the backlog are not queued for the application; those within it are all delivered. */
static void test_listen_backlog_delivers_what_fits(void)
{
	enum { BACKLOG = 4, CLIENTS = 8 };
	struct vm_listener listener = vm_listen(vm_address(), RDMA_PS_TCP, BACKLOG);
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct rdma_cm_id *clients[CLIENTS];
	struct rdma_cm_event *event;
	struct pollfd due = {.fd = listener.channel->fd, .events = POLLIN};
	int came = 0;

	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = vm_id(channel, RDMA_PS_TCP);
		vm_resolve(clients[i], vm_sockaddr(vm_address(), listener.port));
		vm_qp(clients[i], IBV_QPT_RC);
	}
	for (int i = 0; i < CLIENTS; i++)
		TRY(rdma_connect(clients[i], &param));
	/* The kernel takes the rest again when the client repeats its request, later than this. */
	while (came < CLIENTS && poll(&due, 1, 1500) == 1) {
		TRY(rdma_get_cm_event(listener.channel, &event));
		CHECK_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
		struct rdma_cm_id *server = event->id;

		TRY(rdma_ack_cm_event(event));
		TRY(rdma_destroy_id(server));
		came++;
	}
	if (came < BACKLOG)
		FAIL("%d requests came, the backlog is %d", came, BACKLOG);
	for (int i = 0; i < CLIENTS; i++) {
		rdma_destroy_qp(clients[i]);
		TRY(rdma_destroy_id(clients[i]));
	}
	rdma_destroy_event_channel(channel);
	vm_unlisten(&listener);
}

static struct ibv_qp *own_qp(struct rdma_cm_id *id, struct ibv_cq *cq, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		FAIL("ibv_create_qp on %s: %s", ibv_get_device_name(id->verbs->device), strerror(errno));
	return qp;
}

static void own_qp_to(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	TRY(rdma_init_qp_attr(id, &attr, &mask));
	CHECK_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

/* An id without a queue pair gets CONNECT_RESPONSE, moves its own queue pair, and establishes. */
static void test_establish_without_queue_pair_connects(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	rdma_destroy_qp(pair.client);
	CHECK(!pair.client->qp);
	CHECK((pd = ibv_alloc_pd(pair.client->verbs)));
	CHECK((cq = ibv_create_cq(pair.client->verbs, 4, NULL, NULL, 0)));
	qp = own_qp(pair.client, cq, pd);
	own_qp_to(pair.client, qp, IBV_QPS_INIT);
	param.qp_num = qp->qp_num;
	vm_pair_request(&pair, &param);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
	own_qp_to(pair.client, qp, IBV_QPS_RTR);
	own_qp_to(pair.client, qp, IBV_QPS_RTS);
	TRY(rdma_establish(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	vm_pair_free(&pair);
}

static void test_connect_twice_is_refused(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());
	struct rdma_conn_param param = vm_param(NULL, 0);

	REFUSED(rdma_connect(pair.client, &param), EINVAL);
	vm_pair_free(&pair);
}

static void test_addresses_and_ports_are_known_at_both_ends(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());
	struct sockaddr_in *peer = (struct sockaddr_in *)rdma_get_peer_addr(pair.server);

	CHECK_EQ(ntohs(rdma_get_dst_port(pair.client)), pair.listener.port);
	CHECK_EQ(ntohs(rdma_get_src_port(pair.server)), pair.listener.port);
	CHECK_EQ(peer->sin_family, AF_INET);
	CHECK_EQ(peer->sin_port, rdma_get_src_port(pair.client));
	CHECK_EQ(pair.client->port_num, 1);
	CHECK_EQ(pair.server->port_num, 1);
	CHECK(pair.client->pd && pair.client->pd == pair.server->pd);
	vm_pair_free(&pair);
}

static const struct vm_test tests[] = {
	{"test_connect_private_data_of_every_length_arrives", test_connect_private_data_of_every_length_arrives, 60},
	{"test_connect_v6_private_data_of_some_lengths_arrives", test_connect_v6_private_data_of_some_lengths_arrives, 0},
	{"test_connect_private_data_too_long_is_refused", test_connect_private_data_too_long_is_refused, 0},
	{"test_reject_private_data_of_every_length_arrives", test_reject_private_data_of_every_length_arrives, 60},
	{"test_connect_without_listener_is_rejected", test_connect_without_listener_is_rejected, 0},
	{"test_queue_pair_follows_the_connection", test_queue_pair_follows_the_connection, 0},
	{"test_disconnect_by_client_reaches_both", test_disconnect_by_client_reaches_both, 0},
	{"test_disconnect_by_server_reaches_both", test_disconnect_by_server_reaches_both, 0},
	{"test_destroy_while_connected_disconnects_the_peer", test_destroy_while_connected_disconnects_the_peer, 0},
	{"test_listen_backlog_delivers_what_fits", test_listen_backlog_delivers_what_fits, 0},
	{"test_establish_without_queue_pair_connects", test_establish_without_queue_pair_connects, 0},
	{"test_connect_twice_is_refused", test_connect_twice_is_refused, 0},
	{"test_addresses_and_ports_are_known_at_both_ends", test_addresses_and_ports_are_known_at_both_ends, 0},
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
