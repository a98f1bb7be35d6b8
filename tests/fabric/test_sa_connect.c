/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a name to a connection: a host publishes, this one finds it at the fabric's SA, and connects on a kernel that the
 * test plays, since the simulated ports have none.
 */
#include <errno.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdio.h>

#include "cm/id.h"
#include "cm/wait.h"
#include "fabric.h"
#include "fake_ucma.h"
#include "test.h"
#include "world.h"

static pid_t publisher;
static int publisher_world;

/* In the default partition, until it is killed. */
static int publisher_begin(void **state)
{
	char path[300];
	FILE *file = NULL;

	(void)state;
	publisher_world = rcm_fabric_start("on hca3 \"$RAI_FABRIC_BUILD/tests/fabric/publish\" 3 target 6 target.pid");
	snprintf(path, sizeof(path), "%s/target.pid", getenv("RAI_FABRIC_DIR"));
	for (unsigned i = 0; i < 2000 && !file; i++) {
		file = fopen(path, "r");
		poll(NULL, 0, file ? 0 : 10);
	}
	if (!file || fscanf(file, "%d", &publisher) != 1)
		return -1;
	return fclose(file);
}

static int publisher_end(void **state)
{
	(void)state;
	kill(publisher, SIGTERM);
	rcm_fabric_wait(publisher_world);
	return 0;
}

static struct rdma_cm_id *bound_id(void)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id;

	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(&rcm_world_channel->pub, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	return id;
}

/* The outcome of a search for the name, which is to come within 20 s: its status. */
static int find(struct rdma_cm_id *id)
{
	struct pollfd p = { .fd = rcm_world_channel->pub.fd, .events = POLLIN };
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct rdma_cm_event *event;
	int status;

	assert_int_equal(rdma_resolve_addrinfo(id, NULL, "target", &hints), 0);
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(rdma_get_cm_event(&rcm_world_channel->pub, &event), 0);
	status = event->status;
	assert_int_equal(event->event, status ? RDMA_CM_EVENT_ADDRINFO_ERROR : RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return status;
}

static void kernel_says(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	rcm_world_ack(rcm_world_event(rcm_id_of(id), type, 0, type));
}

/* Right from what was found: address, route, queue pair, connection, all to the publisher's port in its partition. */
static void connect_to_it(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_ucm_resolve_addr command;
	struct sockaddr_ib there = { .sib_family = AF_IB };
	uint32_t handle;

	rcm_fabric_gid(3, there.sib_addr.sib_raw);
	assert_int_equal(rdma_resolve_route(id, 2000), 0);
	command = rcm_world_last(rdma_ucm_resolve_addr);
	assert_memory_equal(&((struct sockaddr_ib *)&command.dst_addr)->sib_addr, &there.sib_addr, 16);
	handle = rcm_id_of(id)->handle;
	assert_int_equal(rcm_fake_ucma_pkey(handle), 0xffff);
	rcm_fake_ucma_event_of(handle, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	rcm_world_expect_quiet();
	kernel_says(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(rdma_create_qp(id, NULL, &attr), 0);
	assert_int_equal(rdma_connect(id, &param), 0);
	rcm_world_ack(rcm_world_event(rcm_id_of(id), RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_ESTABLISHED));
	rdma_destroy_qp(id);
}

static void test_connect_to_what_another_host_publishes(void **state)
{
	struct rdma_cm_id *id = bound_id();

	(void)state;
	assert_int_equal(find(id), 0);
	connect_to_it(id);
	assert_int_equal(rdma_destroy_id(id), 0);
}

/* The new SM knows nothing; the publisher finds out, and so do those who look for it. */
static void test_connect_to_what_is_found_again_after_the_sm_died(void **state)
{
	struct rdma_cm_id *id = bound_id();
	int status;

	(void)state;
	assert_int_equal(rcm_fabric("sm kill"), 0);
	assert_int_equal(rcm_fabric("sm start"), 0);
	for (unsigned i = 0; (status = find(id)) == -ENOENT && i < 200; i++)
		poll(NULL, 0, 100);
	assert_int_equal(status, 0);
	connect_to_it(id);
	assert_int_equal(rdma_destroy_id(id), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_connect_to_what_another_host_publishes),
		TEST(test_connect_to_what_is_found_again_after_the_sm_died),
	};

	return cmocka_run_group_tests(tests, publisher_begin, publisher_end);
}
