/* SPDX-License-Identifier: BSD-2-Clause */
/* F12: link-local addresses, whose link is all that tells two devices apart. Needs the layout "links". */
#include "vm.h"

#include <net/if.h>

#define LOCAL "fe80::5"	/* address of both a0, under rxea, and b0, under rxeb */

static void check_device(struct rdma_cm_id *id, const char *device)
{
	CHECK(id->verbs);
	if (strcmp(ibv_get_device_name(id->verbs->device), device))
		FAIL("on %s, not %s", ibv_get_device_name(id->verbs->device), device);
}

static void resolves_on(const char *address, const char *device)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct sockaddr_in6 *peer;

	vm_resolve(id, vm_sockaddr(address, 7000));
	check_device(id, device);
	peer = (struct sockaddr_in6 *)rdma_get_peer_addr(id);
	CHECK_EQ(peer->sin6_family, AF_INET6);
	CHECK_EQ(peer->sin6_scope_id, ((struct sockaddr_in6 *)vm_sockaddr(address, 0))->sin6_scope_id);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void test_link_local_by_name_of_link_is_on_its_device(void)
{
	resolves_on(LOCAL "%a0", "rxea");
	resolves_on(LOCAL "%b0", "rxeb");
}

static void test_link_local_by_index_of_link_is_on_its_device(void)
{
	char address[64];

	snprintf(address, sizeof(address), LOCAL "%%%u", if_nametoindex("a0"));
	resolves_on(address, "rxea");
	snprintf(address, sizeof(address), LOCAL "%%%u", if_nametoindex("b0"));
	resolves_on(address, "rxeb");
}

static void test_link_local_bind_is_on_its_device(void)
{
	struct rdma_cm_id *a = vm_id(NULL, RDMA_PS_TCP), *b = vm_id(NULL, RDMA_PS_TCP);

	TRY(rdma_bind_addr(a, vm_sockaddr(LOCAL "%a0", 0)));
	TRY(rdma_bind_addr(b, vm_sockaddr(LOCAL "%b0", 0)));
	check_device(a, "rxea");
	check_device(b, "rxeb");
	TRY(rdma_destroy_id(a));
	TRY(rdma_destroy_id(b));
}

static void test_link_local_connects(void)
{
	struct vm_pair pair = vm_pair_connected(LOCAL "%b0");

	check_device(pair.client, "rxeb");
	check_device(pair.server, "rxeb");
	TRY(rdma_disconnect(pair.client));
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

/* Refused at once or by an event; either way soon, and with an errno. */
static void fails_soon(const char *address, uint32_t scope)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct sockaddr_in6 *to = (struct sockaddr_in6 *)vm_sockaddr(address, 7000);
	uint64_t began = vm_now_us();

	to->sin6_scope_id = scope;
	errno = 0;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 1000))
		CHECK(errno > 0);
	else
		CHECK(vm_expect(channel, RDMA_CM_EVENT_ADDR_ERROR) < 0);
	CHECK(vm_now_us() - began < 5000000);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* For an address of this host the kernel chooses a link by itself; nobody has this one. */
static void test_link_local_without_scope_is_an_error(void)
{
	fails_soon("fe80::77", 0);
}

static void test_link_local_with_wrong_scope_is_an_error(void)
{
	fails_soon(LOCAL, 9999);
	fails_soon(LOCAL, if_nametoindex("lo"));
}

#ifdef VM_RAI
static void name_keeps_scope(const char *text, const char *link)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct rdma_addrinfo *info;

	TRY(rdma_resolve_addrinfo(id, text, "7000", NULL));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED), 0);
	TRY(rdma_query_addrinfo(id, &info));
	CHECK_EQ(((struct sockaddr_in6 *)info->ai_dst_addr)->sin6_scope_id, if_nametoindex(link));
	vm_resolve(id, info->ai_dst_addr);
	check_device(id, link[0] == 'a' ? "rxea" : "rxeb");
	rdma_freeaddrinfo(info);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void test_link_local_scope_is_kept_from_text_to_route(void)
{
	name_keeps_scope(LOCAL "%a0", "a0");
	name_keeps_scope(LOCAL "%b0", "b0");
}
#endif

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_link_local_by_name_of_link_is_on_its_device),
	TEST(test_link_local_by_index_of_link_is_on_its_device),
	TEST(test_link_local_bind_is_on_its_device),
	TEST(test_link_local_connects),
	TEST(test_link_local_without_scope_is_an_error),
	TEST(test_link_local_with_wrong_scope_is_an_error),
#ifdef VM_RAI
	TEST(test_link_local_scope_is_kept_from_text_to_route),
#endif
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
