/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Across network namespaces. Needs the namespace "far", with a name server and a resolv.conf of its own that know
 * here.far, and, for the connections, the layout "netns".
 */
#include "vm.h"

#include <sched.h>
#include <sys/mount.h>

#define NEAR "10.5.0.1"
#define FAR "10.5.0.2"
#define BARE "10.6.0.1"	/* an address of "far" without an RDMA device */

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		vm_skip("no second namespace");
	CHECK_EQ(setns(fd, CLONE_NEWNET), 0);
	close(fd);
}

static int here(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* As a container has it: the namespace's own resolv.conf in place of the host's. */
static void enter_far_with_its_files(void)
{
	enter("/run/netns/far");
	CHECK_EQ(unshare(CLONE_NEWNS), 0);
	CHECK_EQ(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CHECK_EQ(mount("/etc/netns/far/resolv.conf", "/etc/resolv.conf", NULL, MS_BIND, NULL), 0);
}

static void connects_across(const char *address, const char *listen_in, const char *connect_in)
{
	struct vm_pair pair = {.server = NULL};

	enter(listen_in);
	pair.listener = vm_listen(address, RDMA_PS_TCP, 4);
	enter(connect_in);
	pair.client_channel = vm_channel();
	pair.client = vm_id(pair.client_channel, RDMA_PS_TCP);
	vm_resolve(pair.client, vm_sockaddr(address, pair.listener.port));
	vm_qp(pair.client, IBV_QPT_RC);
	vm_pair_request(&pair, NULL);
	vm_pair_accept(&pair, NULL, 0);
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK_EQ(vm_expect(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
	CHECK(strcmp(ibv_get_device_name(pair.client->verbs->device),
		     ibv_get_device_name(pair.server->verbs->device)));
	TRY(rdma_disconnect(pair.server));
	CHECK_EQ(vm_expect(pair.client_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	vm_pair_free(&pair);
}

static void test_connection_from_far_to_near(void)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", here());
	connects_across(NEAR, self, "/run/netns/far");
}

static void test_connection_from_near_to_far(void)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", here());
	connects_across(FAR, "/run/netns/far", self);
}

/* F32: "-19" though verbs work. */
static void test_address_without_device_in_namespace_is_told(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	enter("/run/netns/far");
	channel = vm_channel();
	id = vm_id(channel, RDMA_PS_TCP);
	if (rdma_resolve_addr(id, NULL, vm_sockaddr(BARE, 7000), 2000)) {
		CHECK_EQ(errno, ENODEV);
	} else {
		event = vm_take(channel, RDMA_CM_EVENT_ADDR_ERROR);
		CHECK_EQ(event->status, -ENODEV);
#ifdef VM_RAI
		char text[256];

		CHECK(rai_event_text(event, text, sizeof(text)) > 0);
		if (!strstr(text, "address") || !strstr(text, "device"))
			FAIL("the text is '%s'", text);
#endif
		TRY(rdma_ack_cm_event(event));
	}
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

#ifdef VM_RAI
/* F32: the namespace's own resolv.conf is read. */
static void test_name_in_namespace_is_resolved_by_its_own_servers(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	enter_far_with_its_files();
	channel = vm_channel();
	id = vm_id(channel, RDMA_PS_TCP);
	TRY(rdma_resolve_addrinfo(id, "here.far", "7000", NULL));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED), 0);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}
#else
static void test_name_in_namespace_is_resolved_by_its_own_servers(void)
{
	struct rdma_addrinfo *info;

	enter_far_with_its_files();
	TRY(rdma_getaddrinfo("here.far", "7000", NULL, &info));
	rdma_freeaddrinfo(info);
}
#endif

#define TEST(name) {#name, name, 0}
static const struct vm_test tests[] = {
	TEST(test_connection_from_far_to_near),
	TEST(test_connection_from_near_to_far),
	TEST(test_address_without_device_in_namespace_is_told),
	TEST(test_name_in_namespace_is_resolved_by_its_own_servers),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
