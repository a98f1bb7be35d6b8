/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams: service id resolution, its refusal and private data, and multicast groups. */
#include "vm.h"

enum { REQUEST_DATA_MAX = 180, REPLY_DATA_MAX = 136 };	/* UD over IP addresses: 216 - 36 bytes, and the reply's 136 */

struct ud_pair {
	struct vm_listener listener;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *client;
	struct rdma_cm_id *server;
};

static struct ud_pair ud_pair_resolved(const char *address)
{
	struct ud_pair pair = {.listener = vm_listen(address, RDMA_PS_UDP, 8), .channel = vm_channel()};

	pair.client = vm_id(pair.channel, RDMA_PS_UDP);
	vm_resolve(pair.client, vm_sockaddr(address, pair.listener.port));
	vm_qp(pair.client, IBV_QPT_UD);
	return pair;
}

static void ud_pair_free(struct ud_pair *pair)
{
	if (pair->server) {
		if (pair->server->qp)
			rdma_destroy_qp(pair->server);
		TRY(rdma_destroy_id(pair->server));
	}
	rdma_destroy_qp(pair->client);
	TRY(rdma_destroy_id(pair->client));
	rdma_destroy_event_channel(pair->channel);
	vm_unlisten(&pair->listener);
}

static void ud_request(struct ud_pair *pair, const char *data, uint8_t len)
{
	struct rdma_conn_param param = vm_param(data, len);
	struct rdma_cm_event *event;

	TRY(rdma_connect(pair->client, &param));
	event = vm_take(pair->listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (event->param.ud.private_data_len < len || memcmp(event->param.ud.private_data, data, len))
		FAIL("request's private data came changed, %u bytes", event->param.ud.private_data_len);
	pair->server = event->id;
	TRY(rdma_ack_cm_event(event));
}

static void accepted_knows_the_peer(const char *address)
{
	struct ud_pair pair = ud_pair_resolved(address);
	struct rdma_conn_param param = vm_param("reply", 5);
	struct rdma_cm_event *event;

	ud_request(&pair, "request", 7);
	vm_qp(pair.server, IBV_QPT_UD);
	TRY(rdma_accept(pair.server, &param));
	event = vm_take(pair.channel, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_EQ(event->status, 0);
	CHECK_EQ(event->param.ud.qp_num, pair.server->qp->qp_num);
	CHECK_EQ(event->param.ud.qkey, RDMA_UDP_QKEY);
	CHECK(event->param.ud.private_data_len >= 5 && !memcmp(event->param.ud.private_data, "reply", 5));

	struct ibv_ah *ah = ibv_create_ah(pair.client->pd, &event->param.ud.ah_attr);

	CHECK(ah);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	TRY(rdma_ack_cm_event(event));
	ud_pair_free(&pair);
}

static void test_ud_connect_tells_the_peers_queue_pair(void)
{
	accepted_knows_the_peer(vm_address());
}

static void test_ud_connect_v6_tells_the_peers_queue_pair(void)
{
	accepted_knows_the_peer(vm_address6());
}

static void test_ud_reject_is_unreachable_or_rejected(void)
{
	struct ud_pair pair = ud_pair_resolved(vm_address());
	struct rdma_cm_event *event;

	ud_request(&pair, NULL, 0);
	TRY(rdma_reject(pair.server, "no", 2));
	event = vm_next(pair.channel);
	/* A SIDR reply that says no comes as UNREACHABLE with the SIDR status (IBTA 12.11.2). */
	if (event->event != RDMA_CM_EVENT_UNREACHABLE && event->event != RDMA_CM_EVENT_REJECTED)
		FAIL("event %s, status %d", rdma_event_str(event->event), event->status);
	CHECK(event->status != 0);
	TRY(rdma_ack_cm_event(event));
	ud_pair_free(&pair);
}

static void test_ud_request_data_longest_arrives(void)
{
	struct ud_pair pair = ud_pair_resolved(vm_address());
	char data[REQUEST_DATA_MAX];

	memset(data, 'x', sizeof(data));
	ud_request(&pair, data, sizeof(data));
	ud_pair_free(&pair);
}

static void test_ud_request_data_too_long_is_refused(void)
{
	struct ud_pair pair = ud_pair_resolved(vm_address());
	char data[REQUEST_DATA_MAX + 1] = "";
	struct rdma_conn_param param = vm_param(data, sizeof(data));

	REFUSED(rdma_connect(pair.client, &param), EINVAL);
	ud_pair_free(&pair);
}

static struct rdma_cm_id *bound(struct rdma_event_channel *channel, const char *address)
{
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_UDP);

	TRY(rdma_bind_addr(id, vm_sockaddr(address, 0)));
	CHECK(id->verbs);
	vm_qp(id, IBV_QPT_UD);
	return id;
}

static void unbind(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	TRY(rdma_destroy_id(id));
}

static void join(struct rdma_cm_id *id, const char *group, void *context)
{
	struct rdma_cm_event *event;

	TRY(rdma_join_multicast(id, vm_sockaddr(group, 0), context));
	event = vm_take(id->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	CHECK_EQ(event->status, 0);
	CHECK(event->id == id);
	CHECK(event->param.ud.private_data == context);
	CHECK_EQ(event->param.ud.qp_num, 0xffffff);
	CHECK(event->param.ud.ah_attr.is_global);
	TRY(rdma_ack_cm_event(event));
}

static void test_multicast_join_and_leave(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = bound(channel, vm_address());
	int first, second;

	join(id, "239.1.2.3", &first);
	join(id, "239.1.2.4", &second);
	TRY(rdma_leave_multicast(id, vm_sockaddr("239.1.2.3", 0)));
	join(id, "239.1.2.3", &first);
	TRY(rdma_leave_multicast(id, vm_sockaddr("239.1.2.4", 0)));
	TRY(rdma_leave_multicast(id, vm_sockaddr("239.1.2.3", 0)));
	REFUSED(rdma_leave_multicast(id, vm_sockaddr("239.1.2.3", 0)), EADDRNOTAVAIL);
	unbind(id);
	rdma_destroy_event_channel(channel);
}

static void test_multicast_join_ex_send_only(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = bound(channel, vm_address());
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = vm_sockaddr("239.1.2.5", 0),
	};

	TRY(rdma_join_multicast_ex(id, &attr, id));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN), 0);
	TRY(rdma_leave_multicast(id, vm_sockaddr("239.1.2.5", 0)));
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	REFUSED(rdma_join_multicast_ex(id, &attr, id), EINVAL);
	attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_RESERVED;
	REFUSED(rdma_join_multicast_ex(id, &attr, id), ENOTSUP);
	unbind(id);
	rdma_destroy_event_channel(channel);
}

static void test_multicast_destroy_while_member_leaves(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = bound(channel, vm_address());

	join(id, "239.1.2.6", id);
	join(id, "239.1.2.7", NULL);
	unbind(id);
	rdma_destroy_event_channel(channel);
}

/* The join's event is not yet taken when its id goes. */
static void test_multicast_destroy_before_the_event_drops_it(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = bound(channel, vm_address());

	TRY(rdma_join_multicast(id, vm_sockaddr("239.1.2.8", 0), NULL));
	unbind(id);
	vm_quiet(channel, 200);
	rdma_destroy_event_channel(channel);
}

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_ud_connect_tells_the_peers_queue_pair),
	TEST(test_ud_connect_v6_tells_the_peers_queue_pair),
	TEST(test_ud_reject_is_unreachable_or_rejected),
	TEST(test_ud_request_data_longest_arrives),
	TEST(test_ud_request_data_too_long_is_refused),
	TEST(test_multicast_join_and_leave),
	TEST(test_multicast_join_ex_send_only),
	TEST(test_multicast_destroy_while_member_leaves),
	TEST(test_multicast_destroy_before_the_event_drops_it),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
