/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands for an id: given where the id is, also while it moves; none once it is being destroyed. */
#include "cm/kernel.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "addr/sockaddr.h"
#include "cm/address.h"
#include "cm/attach.h"
#include "cm/conn.h"
#include "cm/life.h"
#include "cm/listen.h"
#include "cm/mcast.h"
#include "cm/migrate.h"
#include "cm/option.h"
#include "cm/queues.h"
#include "fake_ucma.h"
#include "test.h"
#include "world.h"

static struct rcm_id *id;
static struct rcm_channel *second;
static uint32_t moved_at;			/* the command before which the id is moved, once */
static pthread_t mover;

static void *move(void *arg)
{
	(void)arg;
	assert_int_equal(rcm_id_migrate(id, second), 0);
	return NULL;
}

/* On a thread of its own: the id has moved when the command gets to the kernel, though the mover still waits for acks. */
static void move_before(uint32_t command)
{
	if (command != moved_at || rcm_world_is_on(id, second))
		return;
	assert_int_equal(pthread_create(&mover, NULL, move, NULL), 0);
	while (!rcm_world_is_on(id, second))
		sched_yield();
}

static union rcm_sockaddr address(const char *text)
{
	union rcm_sockaddr addr;

	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &addr), 1);
	return addr;
}

static int bind_address(struct rcm_id *of)
{
	const union rcm_sockaddr addr = address("192.0.2.1");

	return rcm_id_bind(of, &addr.sa);
}

static int resolve_address(struct rcm_id *of)
{
	const union rcm_sockaddr addr = address("192.0.2.2");

	return rcm_address_resolve(of, NULL, &addr.sa, 2000);
}

static int resolve_route(struct rcm_id *of)
{
	return rcm_address_resolve_route(of, 2000);
}

static int listen_for_one(struct rcm_id *of)
{
	return rcm_listen(of, 1);
}

static int connect_to_peer(struct rcm_id *of)
{
	return rcm_conn_connect(of, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int accept_peer(struct rcm_id *of)
{
	return rcm_conn_accept(of, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int reject_peer(struct rcm_id *of)
{
	return rcm_conn_reject(of, 28, NULL, 0);
}

static int notify(struct rcm_id *of)
{
	return rcm_conn_notify(of, IBV_EVENT_COMM_EST);
}

static int init_qp_attr(struct rcm_id *of)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	return rcm_queues_init_attr(of, &attr, &mask);
}

static int set_tos(struct rcm_id *of)
{
	uint8_t tos = 8;

	return rcm_option_set(of, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
}

static int join_group(struct rcm_id *of)
{
	const union rcm_sockaddr addr = address("239.0.0.1");

	return rcm_mcast_join(of, &addr.sa, 0, NULL);
}

static int leave_group(struct rcm_id *of)
{
	const union rcm_sockaddr addr = address("239.0.0.1");
	int ret = join_group(of);

	return ret ? ret : rcm_mcast_leave(of, &addr.sa);
}

static const struct {
	const char *name;
	uint32_t command;
	int (*give)(struct rcm_id *of);
} commands[] = {
	{ "BIND", RDMA_USER_CM_CMD_BIND, bind_address },
	{ "QUERY after BIND", RDMA_USER_CM_CMD_QUERY, bind_address },
	{ "RESOLVE_ADDR", RDMA_USER_CM_CMD_RESOLVE_ADDR, resolve_address },
	{ "RESOLVE_ROUTE", RDMA_USER_CM_CMD_RESOLVE_ROUTE, resolve_route },
	{ "QUERY of addresses", RDMA_USER_CM_CMD_QUERY, rcm_attach },
	{ "QUERY of paths", RDMA_USER_CM_CMD_QUERY, rcm_attach_paths },
	{ "LISTEN", RDMA_USER_CM_CMD_LISTEN, listen_for_one },
	{ "CONNECT", RDMA_USER_CM_CMD_CONNECT, connect_to_peer },
	{ "ACCEPT", RDMA_USER_CM_CMD_ACCEPT, accept_peer },
	{ "ACCEPT to establish", RDMA_USER_CM_CMD_ACCEPT, rcm_conn_establish },
	{ "REJECT", RDMA_USER_CM_CMD_REJECT, reject_peer },
	{ "DISCONNECT", RDMA_USER_CM_CMD_DISCONNECT, rcm_conn_disconnect },
	{ "NOTIFY", RDMA_USER_CM_CMD_NOTIFY, notify },
	{ "INIT_QP_ATTR", RDMA_USER_CM_CMD_INIT_QP_ATTR, init_qp_attr },
	{ "SET_OPTION", RDMA_USER_CM_CMD_SET_OPTION, set_tos },
	{ "JOIN_MCAST", RDMA_USER_CM_CMD_JOIN_MCAST, join_group },
	{ "LEAVE_MCAST", RDMA_USER_CM_CMD_LEAVE_MCAST, leave_group },
};

static void make_second(uint32_t command)
{
	assert_int_equal(rcm_channel_new(&second), 0);
	moved_at = command;
	rcm_fake_ucma_before(move_before);
}

static void end_second(void)
{
	rcm_fake_ucma_before(NULL);
	rcm_queues_destroy_qp(id);
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
}

static void test_kernel_command_of_an_id_that_moves_is_given_where_it_went(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		int ret;

		id = rcm_world_id(RDMA_PS_TCP);
		make_second(commands[i].command);
		ret = commands[i].give(id);
		if (ret || !rcm_world_is_on(id, second))
			fail_msg("%s: %d", commands[i].name, ret);
		pthread_join(mover, NULL);
		end_second();
	}
}

/* The peer's answer is delivered to the end, not turned into a refusal of the peer. */
static void test_kernel_response_of_an_id_that_moves_is_an_established_connection(void **state)
{
	static const uint32_t steps[] = { RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_ACCEPT };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct rdma_cm_event *event;

		id = rcm_world_id_with_qp(RDMA_PS_TCP);
		make_second(steps[i]);
		event = rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_ESTABLISHED);
		assert_true(rcm_world_is_on(id, second));
		rcm_world_ack(event);
		pthread_join(mover, NULL);
		end_second();
	}
}

static void test_kernel_command_without_a_kernel_side_says_no_device(void **state)
{
	struct rcm_channel *none;
	struct rcm_id *plain;

	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	assert_int_equal(rcm_channel_new(&none), 0);
	assert_int_equal(rcm_id_new(none, NULL, RDMA_PS_TCP, IBV_QPT_RC, &plain), 0);
	assert_false(rcm_kernel_has(plain));
	assert_int_equal(rcm_listen(plain, 1), -ENODEV);
	rcm_id_destroy(plain);
	rcm_channel_close(none);
	rcm_fake_ucma_open_result(0);
}

static void test_kernel_command_of_a_destroyed_id_is_not_given(void **state)
{
	unsigned before;

	(void)state;
	id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
	assert_int_equal(rcm_id_destroy(id), 0);
	before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_LISTEN);
	assert_int_equal(rcm_listen(id, 1), -EINVAL);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_LISTEN), before);
	rcm_id_put(id);
}

static atomic_bool ended;
static unsigned destroys;			/* so far */
static pthread_t destroyer;

static void *destroy(void *arg)
{
	assert_int_equal(rcm_id_destroy(arg), 0);
	atomic_store(&ended, true);
	return NULL;
}

/* Were the handle given back first, the command could be for another id that has it by now. */
static void destroy_before(uint32_t command)
{
	if (command != RDMA_USER_CM_CMD_LISTEN)
		return;
	assert_int_equal(pthread_create(&destroyer, NULL, destroy, id), 0);
	while (!rcm_id_is_dead(id))
		sched_yield();
	for (int i = 0; i < 100; i++)
		sched_yield();
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DESTROY_ID), destroys);
	assert_false(atomic_load(&ended));
}

/* In its first stay on a channel, and in the next, which are counted apart. */
static void test_kernel_command_under_way_ends_before_the_kernels_id(void **state)
{
	struct rcm_channel *other;

	(void)state;
	assert_int_equal(rcm_channel_new(&other), 0);
	for (unsigned stay = 0; stay < 2; stay++) {
		id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
		if (stay)
			assert_int_equal(rcm_id_migrate(id, other), 0);
		assert_int_equal(id->stay, stay);
		atomic_store(&ended, false);
		destroys = rcm_fake_ucma_count(RDMA_USER_CM_CMD_DESTROY_ID);
		rcm_fake_ucma_before(destroy_before);
		/* LISTEN is done; what the library asks after it isn't any more. */
		assert_int_equal(rcm_listen(id, 1), -EINVAL);
		pthread_join(destroyer, NULL);
		rcm_fake_ucma_before(NULL);
		assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DESTROY_ID), destroys + 1);
		rcm_id_put(id);
	}
	rcm_channel_close(other);
}

/* Whoever gives the replaced handle back still needs the channel, which goes when these are over. */
static void *(*let_go)(void *arg);

static void *move_away(void *arg)
{
	assert_int_equal(rcm_id_migrate(arg, second), 0);
	atomic_store(&ended, true);
	return NULL;
}

static void let_go_before(uint32_t command)
{
	if (command != RDMA_USER_CM_CMD_DESTROY_ID || !let_go)
		return;
	assert_int_equal(pthread_create(&destroyer, NULL, let_go, id), 0);
	let_go = NULL;
	while (!atomic_load(&ended) && !atomic_load(&id->awaiting))
		sched_yield();
	assert_false(atomic_load(&ended));
}

static void test_kernel_handle_that_is_replaced_ends_before_its_channel_is_let_go(void **state)
{
	static void *(*const ways[])(void *arg) = { destroy, move_away };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		assert_int_equal(rcm_channel_new(&second), 0);
		id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
		atomic_store(&ended, false);
		let_go = ways[i];
		rcm_fake_ucma_before(let_go_before);
		assert_int_equal(rcm_kernel_renew(id), 0);
		pthread_join(destroyer, NULL);
		rcm_fake_ucma_before(NULL);
		if (!rcm_id_is_dead(id))
			assert_int_equal(rcm_id_destroy(id), 0);
		rcm_id_put(id);
		rcm_channel_close(second);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kernel_command_of_an_id_that_moves_is_given_where_it_went),
		TEST(test_kernel_response_of_an_id_that_moves_is_an_established_connection),
		TEST(test_kernel_command_without_a_kernel_side_says_no_device),
		TEST(test_kernel_command_of_a_destroyed_id_is_not_given),
		TEST(test_kernel_command_under_way_ends_before_the_kernels_id),
		TEST(test_kernel_handle_that_is_replaced_ends_before_its_channel_is_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
