/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps from an address to a connection, for the guest's programs. */
#include "vm.h"

#include <net/if.h>
#include <netdb.h>

const char *vm_address(void)
{
	const char *text = getenv("VM_ADDR");

	return text ? text : "10.2.0.1";
}

const char *vm_address6(void)
{
	const char *text = getenv("VM_ADDR6");

	return text ? text : "fd02::1";
}

struct sockaddr *vm_sockaddr(const char *text, uint16_t port)
{
	static struct sockaddr_storage ring[8];
	static unsigned int next;
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct sockaddr_storage *address = &ring[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 8];
	struct addrinfo *info;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(text, service, &hints, &info))
		FAIL("%s is no address", text);
	memcpy(address, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	return (struct sockaddr *)address;
}

struct rdma_event_channel *vm_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		FAIL("rdma_create_event_channel: %s", strerror(errno));
	return channel;
}

struct rdma_cm_id *vm_id(struct rdma_event_channel *channel, enum rdma_port_space space)
{
	struct rdma_cm_id *id;

	TRY(rdma_create_id(channel, &id, NULL, space));
	return id;
}

struct rdma_cm_event *vm_next(struct rdma_event_channel *channel)
{
	struct pollfd due = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&due, 1, VM_STEP_MS) != 1)
		FAIL("no event within %d ms", VM_STEP_MS);
	TRY(rdma_get_cm_event(channel, &event));
	return event;
}

struct rdma_cm_event *vm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct pollfd due = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&due, 1, VM_STEP_MS) != 1)
		FAIL("no event within %d ms, wanted %s", VM_STEP_MS, rdma_event_str(type));
	TRY(rdma_get_cm_event(channel, &event));
	if (event->event != type)
		FAIL("event %s, status %d, wanted %s", rdma_event_str(event->event), event->status,
		     rdma_event_str(type));
	return event;
}

int vm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = vm_take(channel, type);
	int status = event->status;

	TRY(rdma_ack_cm_event(event));
	return status;
}

void vm_quiet(struct rdma_event_channel *channel, int ms)
{
	struct pollfd due = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&due, 1, ms) == 0)
		return;
	TRY(rdma_get_cm_event(channel, &event));
	FAIL("event %s, status %d, wanted none", rdma_event_str(event->event), event->status);
}

void vm_resolve(struct rdma_cm_id *id, struct sockaddr *destination)
{
	TRY(rdma_resolve_addr(id, NULL, destination, VM_STEP_MS));
	CHECK_EQ(vm_expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	CHECK(id->verbs);
	TRY(rdma_resolve_route(id, VM_STEP_MS));
	CHECK_EQ(vm_expect(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
}

void vm_qp(struct rdma_cm_id *id, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.sq_sig_all = 1,
	};

	TRY(rdma_create_qp(id, NULL, &attr));
	CHECK(id->qp && id->send_cq && id->recv_cq);
}

struct rdma_conn_param vm_param(const void *data, uint8_t len)
{
	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

struct vm_listener vm_listen(const char *address, enum rdma_port_space space, int backlog)
{
	struct vm_listener listener = {.channel = vm_channel()};

	listener.id = vm_id(listener.channel, space);
	TRY(rdma_bind_addr(listener.id, vm_sockaddr(address, 0)));
	TRY(rdma_listen(listener.id, backlog));
	listener.port = ntohs(rdma_get_src_port(listener.id));
	CHECK(listener.port);
	return listener;
}

void vm_unlisten(struct vm_listener *listener)
{
	TRY(rdma_destroy_id(listener->id));
	rdma_destroy_event_channel(listener->channel);
}

struct vm_pair vm_pair_resolved(const char *address)
{
	struct vm_pair pair = {.listener = vm_listen(address, RDMA_PS_TCP, 8)};

	pair.client_channel = vm_channel();
	pair.client = vm_id(pair.client_channel, RDMA_PS_TCP);
	vm_resolve(pair.client, vm_sockaddr(address, pair.listener.port));
	vm_qp(pair.client, IBV_QPT_RC);
	return pair;
}

void vm_pair_request(struct vm_pair *pair, const struct rdma_conn_param *param)
{
	struct rdma_conn_param plain = vm_param(NULL, 0);
	struct rdma_cm_event *event;

	TRY(rdma_connect(pair->client, param ? (struct rdma_conn_param *)param : &plain));
	event = vm_take(pair->listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(event->id && event->id != pair->listener.id);
	CHECK(event->listen_id == pair->listener.id);
	CHECK(event->id->verbs);
	pair->server = event->id;
	TRY(rdma_ack_cm_event(event));
}

void vm_pair_accept(struct vm_pair *pair, const void *data, uint8_t len)
{
	struct rdma_conn_param param = vm_param(data, len);

	pair->server_channel = vm_channel();
	TRY(rdma_migrate_id(pair->server, pair->server_channel));
	vm_qp(pair->server, IBV_QPT_RC);
	TRY(rdma_accept(pair->server, &param));
}

struct vm_pair vm_pair_connected(const char *address)
{
	struct vm_pair pair = vm_pair_resolved(address);

	vm_pair_request(&pair, NULL);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	return pair;
}

static void end_free(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	if (id && id->qp)
		rdma_destroy_qp(id);
	if (id)
		TRY(rdma_destroy_id(id));
	if (channel)
		rdma_destroy_event_channel(channel);
}

void vm_pair_free(struct vm_pair *pair)
{
	end_free(pair->client, pair->client_channel);
	end_free(pair->server, pair->server_channel);
	vm_unlisten(&pair->listener);
}
