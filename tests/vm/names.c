/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a name to an established connection, in one thread that never waits outside poll(). Needs the layout "one" and
 * the guest's name server (suite-names.sh).
 */
#include "vm.h"

/* Names of the zone: near.rdma is vm_address(); two.rdma is first an address that no RDMA device reaches. */

static struct rdma_addrinfo *resolved(struct rdma_cm_id *id, const char *name, uint16_t port)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_family = AF_INET};
	struct rdma_addrinfo *info;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
#ifdef VM_RAI
	TRY(rdma_resolve_addrinfo(id, name, service, &hints));
	CHECK_EQ(vm_expect(id->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED), 0);
	TRY(rdma_query_addrinfo(id, &info));
#else
	(void)id;
	TRY(rdma_getaddrinfo(name, service, &hints, &info));
#endif
	CHECK(info->ai_dst_addr);
	return info;
}

/* Serves one connection in a process of its own; the write end of the pipe tells its port. */
static void serve_one(int fd)
{
	struct vm_listener listener = vm_listen("0.0.0.0", RDMA_PS_TCP, 4);
	struct rdma_conn_param param = vm_param(NULL, 0);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	CHECK(write(fd, &listener.port, sizeof(listener.port)) == sizeof(listener.port));
	event = vm_take(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	TRY(rdma_ack_cm_event(event));
	vm_qp(id, IBV_QPT_RC);
	TRY(rdma_accept(id, &param));
	CHECK_EQ(vm_expect(listener.channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(listener.channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	_exit(0);
}

static uint16_t server_start(void)
{
	uint16_t port;
	int fds[2];

	CHECK_EQ(pipe(fds), 0);
	if (fork() == 0)
		serve_one(fds[1]);
	CHECK(read(fds[0], &port, sizeof(port)) == sizeof(port));
	return port;
}

static void connects_by(const char *name)
{
	uint16_t port = server_start();
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct rdma_addrinfo *info = resolved(id, name, port);
	struct rdma_conn_param param = vm_param(NULL, 0);

	CHECK_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	vm_resolve(id, info->ai_dst_addr);
	vm_qp(id, IBV_QPT_RC);
	TRY(rdma_connect(id, &param));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	TRY(rdma_disconnect(id));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	rdma_freeaddrinfo(info);
	rdma_destroy_qp(id);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* F5 */
static void test_name_to_connection_without_waiting(void)
{
	connects_by("near.rdma");
}

#ifdef VM_RAI
/* F11: the name's first address is on a network without RDMA. */
static void test_name_with_unreachable_first_address_connects(void)
{
	connects_by("two.rdma");
}

/* F11 */
static void test_name_addresses_that_a_device_reaches_come_first(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct rdma_addrinfo *info = resolved(id, "two.rdma", 7000);
	struct in_addr first, want;
	int count = 0;

	CHECK(inet_pton(AF_INET, vm_address(), &want) == 1);
	first = ((struct sockaddr_in *)info->ai_dst_addr)->sin_addr;
	for (struct rdma_addrinfo *one = info; one; one = one->ai_next)
		count++;
	CHECK_EQ(count, 2);
	CHECK_EQ(first.s_addr, want.s_addr);
	CHECK(info->ai_src_addr);	/* the source that the route would use */
	CHECK(!info->ai_next->ai_src_addr);
	rdma_freeaddrinfo(info);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void test_unknown_name_is_an_event_and_the_id_serves_again(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	TRY(rdma_resolve_addrinfo(id, "nobody.rdma", "7000", NULL));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ADDRINFO_ERROR), -ENOENT);
	vm_resolve(id, vm_sockaddr(vm_address(), 7000));
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Other ids' kernel events flow while a name is looked up. */
static void test_kernel_events_flow_while_a_name_resolves(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *slow = vm_id(channel, RDMA_PS_TCP), *other = vm_id(channel, RDMA_PS_TCP);

	/* The zone's server has no answer for this one: it is forwarded to where nobody listens. */
	TRY(rdma_resolve_addrinfo(slow, "silent.example", "7000", NULL));
	for (int i = 0; i < 20; i++) {
		vm_resolve(other, vm_sockaddr(vm_address(), 7000));
		TRY(rdma_destroy_id(other));
		other = vm_id(channel, RDMA_PS_TCP);
	}
	TRY(rdma_destroy_id(other));
	TRY(rdma_destroy_id(slow));
	vm_quiet(channel, 100);
	rdma_destroy_event_channel(channel);
}
#endif

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_name_to_connection_without_waiting),
#ifdef VM_RAI
	TEST(test_name_with_unreachable_first_address_connects),
	TEST(test_name_addresses_that_a_device_reaches_come_first),
	TEST(test_unknown_name_is_an_event_and_the_id_serves_again),
	TEST(test_kernel_events_flow_while_a_name_resolves),
#endif
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
