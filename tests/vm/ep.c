/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints made from rdma_getaddrinfo(), both ends, synchronous; messages and reads over them; listeners' requests. */
#include "vm.h"

#include <pthread.h>
#include <rdma/rdma_verbs.h>

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

static struct rdma_addrinfo *info_of(const char *address, uint16_t port, int flags)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC};
	struct rdma_addrinfo *info;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	TRY(rdma_getaddrinfo(address, service, &hints, &info));
	return info;
}

static struct rdma_cm_id *endpoint(const char *address, uint16_t port, int flags)
{
	struct rdma_addrinfo *info = info_of(address, port, flags);
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_cm_id *id;

	TRY(rdma_create_ep(&id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	CHECK(id->ps == RDMA_PS_TCP);
	return id;
}

/*
 * Neither end goes before both have all their completions. On Soft-RoCE what an end sent is never completed where the
 * other's queue pair is gone before it has acknowledged, and that comes after it has delivered.
 */
static pthread_barrier_t both_have_all;

static void wait_both(void)
{
	pthread_barrier_wait(&both_have_all);
}

/* What the server's thread does with each request. */
struct server {
	pthread_t thread;
	struct rdma_cm_id *listener;
	void (*serve)(struct rdma_cm_id *id);
};

static void *server_run(void *arg)
{
	struct server *server = arg;
	struct rdma_cm_id *id;

	TRY(rdma_get_request(server->listener, &id));
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	server->serve(id);
	return NULL;
}

static void server_start(struct server *server, const char *address, void (*serve)(struct rdma_cm_id *id))
{
	CHECK_EQ(pthread_barrier_init(&both_have_all, NULL, 2), 0);
	server->serve = serve;
	server->listener = endpoint(address, 0, RAI_PASSIVE);
	TRY(rdma_listen(server->listener, 4));
	CHECK_EQ(pthread_create(&server->thread, NULL, server_run, server), 0);
}

static uint16_t server_port(const struct server *server)
{
	return ntohs(rdma_get_src_port(server->listener));
}

static void server_join(struct server *server)
{
	CHECK_EQ(pthread_join(server->thread, NULL), 0);
	pthread_barrier_destroy(&both_have_all);
	rdma_destroy_ep(server->listener);
}

static void wait_completion(int got, const struct ibv_wc *wc, enum ibv_wc_opcode opcode)
{
	CHECK_EQ(got, 1);
	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK_EQ(wc->opcode, opcode);
}

static void serve_echo(struct rdma_cm_id *id)
{
	char buffer[16];
	struct ibv_mr *mr = rdma_reg_msgs(id, buffer, sizeof(buffer));
	struct ibv_wc wc;

	CHECK(mr);
	TRY(rdma_post_recv(id, NULL, buffer, sizeof(buffer), mr));
	TRY(rdma_accept(id, NULL));
	wait_completion(rdma_get_recv_comp(id, &wc), &wc, IBV_WC_RECV);
	TRY(rdma_post_send(id, NULL, buffer, sizeof(buffer), mr, 0));
	wait_completion(rdma_get_send_comp(id, &wc), &wc, IBV_WC_SEND);
	wait_both();
	rdma_disconnect(id);
	TRY(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
}

static void echo_over(const char *address)
{
	char out[16] = "over and back", in[16] = "";
	struct rdma_cm_id *id;
	struct server server;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	server_start(&server, address, serve_echo);
	id = endpoint(address, server_port(&server), 0);
	CHECK(id->verbs && id->qp && id->pd);
	CHECK((mr = rdma_reg_msgs(id, in, sizeof(in))));
	TRY(rdma_post_recv(id, NULL, in, sizeof(in), mr));
	TRY(rdma_connect(id, NULL));
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_ESTABLISHED);
	TRY(rdma_post_send(id, NULL, out, sizeof(out), NULL, IBV_SEND_INLINE));
	wait_completion(rdma_get_send_comp(id, &wc), &wc, IBV_WC_SEND);
	wait_completion(rdma_get_recv_comp(id, &wc), &wc, IBV_WC_RECV);
	CHECK(!strcmp(in, out));
	wait_both();
	rdma_disconnect(id);
	TRY(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
	server_join(&server);
}

static void test_create_ep_both_ways_echoes_a_message(void)
{
	echo_over(vm_address());
}

static void test_create_ep_both_ways_v6_echoes_a_message(void)
{
	echo_over(vm_address6());
}

static void serve_reject(struct rdma_cm_id *id)
{
	TRY(rdma_reject(id, "busy", 4));
	rdma_destroy_ep(id);
}

static void test_connect_rejected_says_why_synchronously(void)
{
	struct rdma_cm_id *id;
	struct server server;

	server_start(&server, vm_address(), serve_reject);
	id = endpoint(vm_address(), server_port(&server), 0);
	REFUSED(rdma_connect(id, NULL), ECONNREFUSED);
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_REJECTED);
	CHECK(id->event->param.conn.private_data_len >= 4);
	CHECK(!memcmp(id->event->param.conn.private_data, "busy", 4));
	rdma_destroy_ep(id);
	server_join(&server);
}

/* An endpoint without queue pair attributes has no queue pair; passive ones give theirs to each request. */
static void test_create_ep_without_attributes_has_no_queue_pair(void)
{
	struct rdma_addrinfo *info = info_of(vm_address(), 7000, 0);
	struct rdma_cm_id *id;

	TRY(rdma_create_ep(&id, info, NULL, NULL));
	CHECK(id->verbs && !id->qp);
	rdma_freeaddrinfo(info);
	rdma_destroy_ep(id);
}

static void test_create_ep_then_migrate_connects_asynchronously(void)
{
	struct vm_listener listener = vm_listen(vm_address(), RDMA_PS_TCP, 1);
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id = endpoint(vm_address(), listener.port, 0);

	TRY(rdma_migrate_id(id, channel));
	TRY(rdma_connect(id, &param));
	event = vm_take(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_id *server = event->id;

	TRY(rdma_ack_cm_event(event));
	vm_qp(server, IBV_QPT_RC);
	TRY(rdma_accept(server, &param));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(listener.channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	rdma_destroy_ep(server);
	rdma_destroy_ep(id);
	rdma_destroy_event_channel(channel);
	vm_unlisten(&listener);
}

/* F15: a synchronous id acks its events itself: each error, then the id goes at once. */
static void test_error_branch_without_ack_does_not_block_destroy(void)
{
	struct rdma_cm_id *id = vm_id(NULL, RDMA_PS_TCP);
	struct rdma_conn_param param = vm_param(NULL, 0);
	uint64_t began;

	CHECK_EQ(rdma_resolve_addr(id, NULL, vm_sockaddr("198.51.100.1", 7000), 500), -1);
	began = vm_now_us();
	TRY(rdma_destroy_id(id));
	id = vm_id(NULL, RDMA_PS_TCP);
	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 1), VM_STEP_MS));
	TRY(rdma_resolve_route(id, VM_STEP_MS));
	vm_qp(id, IBV_QPT_RC);
	REFUSED(rdma_connect(id, &param), ECONNREFUSED);
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_REJECTED);
	rdma_destroy_qp(id);
	TRY(rdma_destroy_id(id));
	CHECK(vm_now_us() - began < 5000000);
}

static void test_resolve_addr_to_nowhere_fails_with_errno(void)
{
	struct rdma_cm_id *id = vm_id(NULL, RDMA_PS_TCP);

	errno = 0;
	CHECK_EQ(rdma_resolve_addr(id, NULL, vm_sockaddr("198.51.100.1", 7000), 500), -1);
	CHECK(errno > 0);
	TRY(rdma_destroy_id(id));
}

static struct ibv_mr *region;
static char region_data[32];

static void serve_read(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = vm_param(NULL, 0);
	char done[1];
	struct ibv_mr *mr = rdma_reg_msgs(id, done, sizeof(done));
	struct ibv_wc wc;

	CHECK(mr);
	TRY(rdma_post_recv(id, NULL, done, sizeof(done), mr));
	CHECK((region = rdma_reg_read(id, region_data, sizeof(region_data))));
	TRY(rdma_accept(id, &param));
	wait_completion(rdma_get_recv_comp(id, &wc), &wc, IBV_WC_RECV);
	wait_both();
	TRY(rdma_dereg_mr(region));
	TRY(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
}

static void test_rdma_read_brings_the_peers_memory(void)
{
	struct rdma_conn_param param = vm_param(NULL, 0);
	char in[sizeof(region_data)] = "";
	struct rdma_cm_id *id;
	struct server server;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	strcpy(region_data, "far memory");
	server_start(&server, vm_address(), serve_read);
	id = endpoint(vm_address(), server_port(&server), 0);
	CHECK((mr = rdma_reg_msgs(id, in, sizeof(in))));
	TRY(rdma_connect(id, &param));
	TRY(rdma_post_read(id, NULL, in, sizeof(in), mr, 0, (uintptr_t)region_data, region->rkey));
	wait_completion(rdma_get_send_comp(id, &wc), &wc, IBV_WC_RDMA_READ);
	CHECK(!strcmp(in, "far memory"));
	TRY(rdma_post_send(id, NULL, in, 1, mr, 0));
	wait_completion(rdma_get_send_comp(id, &wc), &wc, IBV_WC_SEND);
	wait_both();
	TRY(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
	server_join(&server);
}

static void test_srq_of_the_id_receives_for_its_queue_pair(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr attr = qp_attr();

	rdma_destroy_qp(pair.client);
	TRY(rdma_create_srq(pair.client, NULL, &srq_attr));
	CHECK(pair.client->srq);
	attr.srq = pair.client->srq;
	TRY(rdma_create_qp(pair.client, NULL, &attr));
	rdma_destroy_qp(pair.client);
	rdma_destroy_srq(pair.client);
	CHECK(!pair.client->srq);
	vm_pair_free(&pair);
}

static void test_get_devices_lists_each_context_once(void)
{
	int count = 0, again = 0;
	struct ibv_context **list = rdma_get_devices(&count), **second = rdma_get_devices(&again);
	struct rdma_cm_id *id = vm_id(NULL, RDMA_PS_TCP);

	CHECK(list && second);
	CHECK(count >= 1);
	CHECK_EQ(count, again);
	CHECK(!list[count]);
	CHECK(list[0] == second[0]);
	TRY(rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)));
	CHECK(id->verbs == list[0]);
	TRY(rdma_destroy_id(id));
	rdma_free_devices(second);
	rdma_free_devices(list);
}

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_create_ep_both_ways_echoes_a_message),
	TEST(test_create_ep_both_ways_v6_echoes_a_message),
	TEST(test_connect_rejected_says_why_synchronously),
	TEST(test_create_ep_without_attributes_has_no_queue_pair),
	TEST(test_create_ep_then_migrate_connects_asynchronously),
	TEST(test_error_branch_without_ack_does_not_block_destroy),
	TEST(test_resolve_addr_to_nowhere_fails_with_errno),
	TEST(test_rdma_read_brings_the_peers_memory),
	TEST(test_srq_of_the_id_receives_for_its_queue_pair),
	TEST(test_get_devices_lists_each_context_once),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
