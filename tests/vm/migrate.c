/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving an id to another channel in every state of its life: its events follow, those of others stay. */
#include "vm.h"

/* Moves id to a new channel, which is returned. */
static struct rdma_event_channel *moved(struct rdma_cm_id *id)
{
	struct rdma_event_channel *channel = vm_channel();

	TRY(rdma_migrate_id(id, channel));
	CHECK(id->channel == channel);
	return channel;
}

static void done(struct rdma_cm_id *id, struct rdma_event_channel *first, struct rdma_event_channel *second)
{
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
}

static void test_migrate_idle_id_resolves_on_the_new_channel(void)
{
	struct rdma_event_channel *first = vm_channel(), *second;
	struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP);

	second = moved(id);
	vm_resolve(id, vm_sockaddr(vm_address(), 7000));
	vm_quiet(first, 50);
	done(id, first, second);
}

static void test_migrate_bound_id_resolves_on_the_new_channel(void)
{
	struct rdma_event_channel *first = vm_channel(), *second;
	struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP);

	TRY(rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)));
	second = moved(id);
	vm_resolve(id, vm_sockaddr(vm_address(), 7000));
	done(id, first, second);
}

static void test_migrate_with_address_event_not_taken_brings_it_along(void)
{
	struct rdma_event_channel *first = vm_channel(), *second;
	struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP);
	struct pollfd due = {.fd = first->fd, .events = POLLIN};

	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	CHECK_EQ(poll(&due, 1, VM_STEP_MS), 1);
	second = moved(id);
	CHECK_EQ(vm_expect(second, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	vm_quiet(first, 50);
	done(id, first, second);
}

static void test_migrate_during_address_resolution_delivers_once(void)
{
	struct rdma_event_channel *first = vm_channel(), *second = vm_channel();

	for (int i = 0; i < 50; i++) {
		struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP);

		TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
		TRY(rdma_migrate_id(id, second));
		CHECK_EQ(vm_expect(second, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
		TRY(rdma_resolve_route(id, VM_STEP_MS));
		TRY(rdma_migrate_id(id, first));
		CHECK_EQ(vm_expect(first, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
		TRY(rdma_destroy_id(id));
	}
	vm_quiet(first, 50);
	vm_quiet(second, 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
}

static void test_migrate_leaves_events_of_other_ids(void)
{
	struct rdma_event_channel *first = vm_channel(), *second;
	struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP), *other = vm_id(first, RDMA_PS_TCP);
	struct rdma_cm_event *event;

	TRY(rdma_resolve_addr(other, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	second = moved(id);
	event = vm_take(first, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(event->id == other);
	TRY(rdma_ack_cm_event(event));
	event = vm_take(second, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(event->id == id);
	TRY(rdma_ack_cm_event(event));
	TRY(rdma_destroy_id(other));
	done(id, first, second);
}

static void test_migrate_listener_gets_requests_on_the_new_channel(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_event_channel *first = pair.listener.channel;

	pair.listener.channel = moved(pair.listener.id);
	vm_pair_request(&pair, NULL);
	CHECK(pair.server->channel == pair.listener.channel);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	vm_quiet(first, 50);
	rdma_destroy_event_channel(first);
	vm_pair_free(&pair);
}

static void test_migrate_listener_with_request_not_taken_brings_it_along(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_event_channel *first = pair.listener.channel;
	struct pollfd due = {.fd = first->fd, .events = POLLIN};
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct rdma_cm_event *event;

	TRY(rdma_connect(pair.client, &param));
	CHECK_EQ(poll(&due, 1, VM_STEP_MS), 1);
	pair.listener.channel = moved(pair.listener.id);
	event = vm_take(pair.listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	pair.server = event->id;
	TRY(rdma_ack_cm_event(event));
	CHECK(pair.server->channel == pair.listener.channel);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	rdma_destroy_event_channel(first);
	vm_pair_free(&pair);
}

static void test_migrate_client_while_connecting(void)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());
	struct rdma_event_channel *first = pair.client_channel;

	vm_pair_request(&pair, NULL);
	pair.client_channel = moved(pair.client);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	vm_quiet(first, 50);
	rdma_destroy_event_channel(first);
	vm_pair_free(&pair);
}

static void test_migrate_both_ends_while_connected(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());
	struct rdma_event_channel *client = pair.client_channel, *server = pair.server_channel;

	pair.client_channel = moved(pair.client);
	pair.server_channel = moved(pair.server);
	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(pair.server));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	rdma_destroy_event_channel(client);
	rdma_destroy_event_channel(server);
	vm_pair_free(&pair);
}

static void test_migrate_with_disconnect_not_taken_brings_it_along(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());
	struct rdma_event_channel *first = pair.server_channel;
	struct pollfd due = {.fd = first->fd, .events = POLLIN};

	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(poll(&due, 1, VM_STEP_MS), 1);
	pair.server_channel = moved(pair.server);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	rdma_destroy_event_channel(first);
	vm_pair_free(&pair);
}

/* To no channel: the id becomes synchronous; and back. */
static void test_migrate_to_null_makes_calls_wait(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	TRY(rdma_migrate_id(id, NULL));
	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	CHECK(id->verbs);
	TRY(rdma_migrate_id(id, channel));
	TRY(rdma_resolve_route(id, VM_STEP_MS));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

#ifdef VM_RAI
static void test_migrate_during_name_resolution_delivers_on_the_new_channel(void)
{
	struct rdma_event_channel *first = vm_channel(), *second = vm_channel();

	for (int i = 0; i < 100; i++) {
		struct rdma_cm_id *id = vm_id(first, RDMA_PS_TCP);

		TRY(rdma_resolve_addrinfo(id, "localhost", "7000", NULL));
		TRY(rdma_migrate_id(id, second));
		CHECK_EQ(vm_expect(second, RDMA_CM_EVENT_ADDRINFO_RESOLVED), 0);
		TRY(rdma_destroy_id(id));
	}
	vm_quiet(first, 50);
	vm_quiet(second, 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
}
#endif

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_migrate_idle_id_resolves_on_the_new_channel),
	TEST(test_migrate_bound_id_resolves_on_the_new_channel),
	TEST(test_migrate_with_address_event_not_taken_brings_it_along),
	TEST(test_migrate_during_address_resolution_delivers_once),
	TEST(test_migrate_leaves_events_of_other_ids),
	TEST(test_migrate_listener_gets_requests_on_the_new_channel),
	TEST(test_migrate_listener_with_request_not_taken_brings_it_along),
	TEST(test_migrate_client_while_connecting),
	TEST(test_migrate_both_ends_while_connected),
	TEST(test_migrate_with_disconnect_not_taken_brings_it_along),
	TEST(test_migrate_to_null_makes_calls_wait),
#ifdef VM_RAI
	TEST(test_migrate_during_name_resolution_delivers_on_the_new_channel),
#endif
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
