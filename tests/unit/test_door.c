/* SPDX-License-Identifier: BSD-2-Clause */
/* The door: an id stays whole while a public call on it runs. */
#include "api/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/channel.h"
#include "cm/id.h"
#include "fake_ucma.h"
#include "id_calls.h"
#include "test.h"
#include "world.h"

static unsigned most_refs;

static void note_refs(uint32_t command)
{
	unsigned refs = atomic_load(&rcm_id_of(id)->entry.refs);

	(void)command;
	if (refs > most_refs)
		most_refs = refs;
}

static int call_bind_addr(void)
{
	return rdma_bind_addr(id, (struct sockaddr *)&peer);
}

static int call_connect(void)
{
	return rdma_connect(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int call_accept(void)
{
	return rdma_accept(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int call_create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	int ret = rdma_create_qp(id, NULL, &attr);

	rdma_destroy_qp(id);
	return ret;
}

static int call_leave_multicast(void)
{
	return call_join_multicast() || rdma_leave_multicast(id, (struct sockaddr *)&group);
}

static int call_migrate(void)
{
	return rdma_migrate_id(id, NULL);
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
#define CALL(what) { #what, call_##what }
	CALL(resolve_addr), CALL(resolve_route), CALL(bind_addr), CALL(listen), CALL(connect), CALL(accept),
	CALL(establish), CALL(reject), CALL(reject_ece), CALL(disconnect), CALL(notify), CALL(set_option),
	CALL(init_qp_attr), CALL(create_qp), CALL(join_multicast), CALL(leave_multicast), CALL(migrate),
#undef CALL
};

/* The application's reference and the call's: whoever gives up the first one in between frees nothing. */
static void test_door_of_each_call_holds_a_reference_while_the_kernel_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int ret;

		id = &rcm_world_id(RDMA_PS_TCP)->pub;
		most_refs = 0;
		rcm_fake_ucma_before(note_refs);
		ret = calls[i].call();
		rcm_fake_ucma_before(NULL);
		if (ret || most_refs < 2)
			fail_msg("%s: returns %d with %u references", calls[i].name, ret, most_refs);
		assert_int_equal(atomic_load(&rcm_id_of(id)->entry.refs), 1);
		assert_int_equal(rdma_destroy_id(id), 0);
	}
}

static void test_door_of_destroy_holds_a_reference_too(void **state)
{
	(void)state;
	id = &rcm_world_id(RDMA_PS_TCP)->pub;
	most_refs = 0;
	rcm_fake_ucma_before(note_refs);
	assert_int_equal(rdma_destroy_id(id), 0);
	rcm_fake_ucma_before(NULL);
	assert_int_equal(most_refs, 2);
}

static void test_door_without_an_id_leads_to_einval(void **state)
{
	struct rcm_door door = rcm_door_enter(NULL);

	(void)state;
	assert_null(door.id);
	assert_int_equal(rcm_door_leave(&door, -EINVAL), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_disconnect(NULL), -1);
	assert_int_equal(errno, EINVAL);
}

/* ---- With a cancellation pending ---- */

static struct rdma_cm_id *make_new(void)
{
	struct rdma_cm_id *made;

	assert_int_equal(rdma_create_id(&rcm_world_channel->pub, &made, NULL, RDMA_PS_TCP), 0);
	return made;
}

static struct rdma_cm_id *make_resolved(void)
{
	return &rcm_world_id(RDMA_PS_TCP)->pub;
}

static struct rdma_cm_id *make_sync(void)
{
	return &rcm_world_sync_id(RDMA_PS_TCP)->pub;
}

static int call_create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return rdma_create_srq(id, NULL, &attr);
}

/* Its QP has CQs and channels of the library's making. */
static struct rdma_cm_id *make_with_queues(void)
{
	id = &rcm_world_id_with_qp(RDMA_PS_TCP)->pub;
	assert_int_equal(call_create_srq(), 0);
	return id;
}

static int call_create_id(void)
{
	struct rdma_cm_id *made;

	return rdma_create_id(&rcm_world_channel->pub, &made, NULL, RDMA_PS_TCP) || rdma_destroy_id(made);
}

static int call_create_sync_id(void)
{
	struct rdma_cm_id *made;

	return rdma_create_id(NULL, &made, NULL, RDMA_PS_TCP) || rdma_destroy_id(made);
}

static int call_create_ep(void)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct rdma_addrinfo info = {
		.ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_src_addr = (struct sockaddr *)&peer, .ai_src_len = sizeof(peer),
	};
	struct rdma_cm_id *made;
	int ret = rdma_create_ep(&made, &info, NULL, &attr);

	if (!ret)
		rdma_destroy_ep(made);
	return ret;
}

static int call_create_event_channel(void)
{
	struct rdma_event_channel *made = rdma_create_event_channel();

	if (made)
		rdma_destroy_event_channel(made);
	return !made;
}

static int call_get_devices(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	rdma_free_devices(list);
	return !list;
}

static int call_destroy_qp(void)
{
	rdma_destroy_qp(id);
	return 0;
}

static int call_destroy_srq(void)
{
	rdma_destroy_srq(id);
	return 0;
}

static int call_destroy_id(void)
{
	return rdma_destroy_id(id);
}

static int call_destroy_ep(void)
{
	rdma_destroy_ep(id);
	return 0;
}

struct held_call {
	const char *name;
	struct rdma_cm_id *(*make)(void);
	int (*call)(void);
	bool ends;				/* the id */
};

static const struct held_call held_calls[] = {
#define CALL(what, make, ends) { #what " of " #make, make, call_##what, ends }
	CALL(create_id, make_new, false), CALL(create_sync_id, make_new, false), CALL(create_ep, make_new, false),
	CALL(create_event_channel, make_new, false), CALL(create_srq, make_resolved, false),
	CALL(migrate, make_sync, false), CALL(destroy_qp, make_with_queues, false),
	CALL(destroy_srq, make_with_queues, false), CALL(destroy_id, make_new, true),
	CALL(destroy_id, make_resolved, true), CALL(destroy_id, make_sync, true),
	CALL(destroy_ep, make_new, true), CALL(destroy_ep, make_sync, true), CALL(destroy_ep, make_with_queues, true),
#undef CALL
};

static void visit_held_calls(void (*visit)(const struct held_call *call))
{
	for (size_t i = 0; i < sizeof(held_calls) / sizeof(held_calls[0]); i++)
		visit(&held_calls[i]);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		visit(&(struct held_call){ calls[i].name, make_resolved, calls[i].call, false });
}

static void *call_cancelled(void *arg)
{
	int (**call)(void) = arg;

	pthread_cancel(pthread_self());
	(*call)();
	*call = NULL;
	return NULL;
}

static void expect_return_in_thread(const struct held_call *held)
{
	int (*call)(void) = held->call;
	pthread_t thread;

	id = held->make();
	assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &call), 0);
	pthread_join(thread, NULL);
	if (call)
		fail_msg("%s: cancelled within", held->name);
	if (!held->ends)
		rdma_destroy_ep(id);
}

static void test_door_of_a_call_that_is_not_to_wait_lets_no_cancellation_in(void **state)
{
	(void)state;
	visit_held_calls(expect_return_in_thread);
}

enum { RETURNED = 3 };				/* a process whose only thread is cancelled says 0 */

static void expect_return_in_child(const struct held_call *held)
{
	int status;
	pid_t pid;

	id = held->make();
	pid = fork();
	if (!pid) {
		alarm(60);
		pthread_cancel(pthread_self());
		held->call();
		_exit(RETURNED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != RETURNED)
		fail_msg("%s: cancelled within, status %#x", held->name, (unsigned)status);
	rdma_destroy_ep(id);
}

static void test_door_in_the_child_of_a_fork_lets_no_cancellation_in(void **state)
{
	(void)state;
	visit_held_calls(expect_return_in_child);
	/* The devices stay open in the process that asks for them. */
	expect_return_in_child(&(struct held_call){ "get_devices", make_resolved, call_get_devices, false });
}

/* A command by that number would be written to the program's file. */
static void expect_no_descriptor(uint32_t command)
{
	(void)command;
	if (atomic_load(&rcm_world_channel->ucma.fd) >= 0)
		_exit(2);
}

static int close_all_and_destroy(int (*destroy)(void))
{
	int number = atomic_load(&rcm_world_channel->ucma.fd), own;

	closefrom(STDERR_FILENO + 1);
	do
		own = memfd_create("own", MFD_CLOEXEC);
	while (own >= 0 && own < number);
	if (own != number)
		return 1;
	rcm_fake_ucma_before(expect_no_descriptor);
	return destroy() ? 3 : 0;
}

static void test_door_of_destroy_in_a_daemon_that_closed_all_asks_none_of_its_files(void **state)
{
	int (*const destroy[])(void) = { call_destroy_id, call_destroy_ep }, status;

	(void)state;
	id = &rcm_world_id(RDMA_PS_TCP)->pub;
	for (unsigned i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(close_all_and_destroy(destroy[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	rdma_destroy_ep(id);
}

/* Of a synchronous id; a node as the device's, but another's. */
static int close_all_and_destroy_sync(void)
{
	int number = id->channel->fd, own;

	rcm_world_channel = rcm_channel_of(id->channel);
	closefrom(STDERR_FILENO + 1);
	do
		own = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (own >= 0 && own < number);
	if (own != number)
		return 1;
	rcm_fake_ucma_before(expect_no_descriptor);
	rdma_destroy_id(id);
	return fcntl(own, F_GETFD) < 0;
}

static void test_door_of_destroy_in_a_daemon_leaves_its_own_device_in_the_place_of_ours_alone(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	id = make_sync();
	pid = fork();
	if (!pid)
		_exit(close_all_and_destroy_sync());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rdma_destroy_ep(id);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_door_of_each_call_holds_a_reference_while_the_kernel_is_asked),
		TEST(test_door_of_destroy_holds_a_reference_too),
		TEST(test_door_without_an_id_leads_to_einval),
		TEST(test_door_of_a_call_that_is_not_to_wait_lets_no_cancellation_in),
		TEST(test_door_in_the_child_of_a_fork_lets_no_cancellation_in),
		TEST(test_door_of_destroy_in_a_daemon_that_closed_all_asks_none_of_its_files),
		TEST(test_door_of_destroy_in_a_daemon_leaves_its_own_device_in_the_place_of_ours_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
