/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: synchronous, so the kernel's events are put before the reader by a thread beside. */
#include "cm/ep.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "addr/sockaddr.h"
#include "asleep.h"
#include "cm/conn.h"
#include "cm/endpoint.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static union rcm_sockaddr src, dst;
static struct rdma_addrinfo info;

static int before(void **state)
{
	src = dst = (union rcm_sockaddr){ .in.sin_family = AF_INET };
	dst.in.sin_addr.s_addr = htonl(0xc0000202);
	info = (struct rdma_addrinfo){
		.ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC,
		.ai_dst_addr = &dst.sa, .ai_dst_len = sizeof(dst.in),
	};
	return rcm_world_before(state);
}

static atomic_bool endpoint_done;

/* A command, and the event that answers it. */
struct answer {
	uint32_t command;
	enum rdma_cm_event_type type;
	int status;
	unsigned count_before;
};

/* One that was just waked may look as if it slept. */
static bool maker_sleeps(void)
{
	if (emulated() || !thread_sleeps_in_poll(getpid()))
		return false;
	nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	return thread_sleeps_in_poll(getpid()) && !endpoint_done;
}

/* Who makes it, before it has given this command or, NULL, when all is answered: it would sleep for ever. */
static void fail_if_asleep(const struct answer *next)
{
	if (!maker_sleeps() || (next && rcm_fake_ucma_count(next->command) != next->count_before))
		return;
	fprintf(stderr, "the endpoint waits for an event that nobody has, before command %d\n",
		next ? (int)next->command : -1);
	_exit(1);
}

/* Answers commands in turn, each once it was given, with an event; not where the endpoint is done without it. */
static void *answer_in_turn(void *arg)
{
	for (struct answer *a = arg; a->command; a++) {
		while (rcm_fake_ucma_count(a->command) == a->count_before) {
			if (endpoint_done)
				return NULL;
			fail_if_asleep(a);
			sched_yield();
		}
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), a->type, a->status);
	}
	while (!endpoint_done) {
		fail_if_asleep(NULL);
		sched_yield();
	}
	return NULL;
}

static int make_endpoint(struct ibv_qp_init_attr *attr, struct answer *answers, struct rcm_id **ret_id)
{
	pthread_t thread;
	int ret;

	endpoint_done = false;
	assert_int_equal(pthread_create(&thread, NULL, answer_in_turn, answers), 0);
	ret = rcm_ep_new(&info, NULL, attr, ret_id);
	endpoint_done = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	return ret;
}

static void test_active_endpoint_is_resolved_and_has_a_queue_pair(void **state)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { .max_send_wr = 1 } };
	struct answer answers[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0 },
		{ RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0 },
		{ 0 },
	};
	struct rcm_id *id;

	(void)state;
	assert_int_equal(make_endpoint(&attr, answers, &id), 0);
	assert_true(rcm_id_is_sync(id));
	assert_non_null(id->pub.qp);
	assert_int_equal(id->pub.qp->qp_type, IBV_QPT_RC);
	assert_int_equal(id->pub.route.num_paths, 1);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static void test_active_endpoint_with_path_records_asks_for_no_route(void **state)
{
	struct ibv_path_data path = { .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY };
	struct answer answers[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0 },
		{ RDMA_USER_CM_CMD_SET_OPTION, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0 },
		{ 0 },
	};
	struct rcm_id *id;

	(void)state;
	info.ai_route = &path;
	info.ai_route_len = sizeof(path);
	assert_int_equal(make_endpoint(NULL, answers, &id), 0);
	assert_null(id->pub.qp);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE), 0);
	rcm_id_destroy(id);
}

static void test_active_endpoint_that_fails_at_any_step_leaves_nothing(void **state)
{
	struct answer no_address[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, 0 },
		{ 0 },
	};
	struct answer no_route[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 1 },
		{ RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, 0 },
		{ 0 },
	};
	struct rcm_id *id = NULL;

	(void)state;
	assert_int_equal(make_endpoint(NULL, no_address, &id), -ENETUNREACH);
	assert_int_equal(make_endpoint(NULL, no_route, &id), -ETIMEDOUT);
	assert_null(id);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* A failure at the first call of the verbs, the second, and so on, until none is reached; the last makes it. */
static void test_active_endpoint_that_verbs_fail_leaves_the_attributes(void **state)
{
	const struct ibv_qp_init_attr before = { .qp_type = IBV_QPT_UD, .cap = { .max_send_wr = 1 } };
	struct ibv_qp_init_attr attr = before;
	struct answer answers[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0 },
		{ RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0 },
		{ 0 },
	};
	struct rcm_id *first = rcm_world_id(RDMA_PS_TCP), *id = NULL;
	unsigned calls = 0, objects = rcm_fake_verbs_objects();

	(void)state;
	answers[0].count_before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ADDR);
	for (;;) {
		rcm_fake_verbs_fail_nth(++calls, ENOMEM);
		if (!make_endpoint(&attr, answers, &id))
			break;
		assert_true(rcm_fake_verbs_has_failed());
		assert_memory_equal(&attr, &before, sizeof(attr));
		assert_null(id);
		assert_int_equal(rcm_fake_verbs_objects(), objects);
		assert_int_equal(rcm_fake_ucma_ids(), 1);
		answers[0].count_before++;
		answers[1].count_before++;
	}
	assert_false(rcm_fake_verbs_has_failed());
	assert_uint_in_range(calls, 6, 20);
	/* The same attributes served in the end. */
	assert_ptr_equal(attr.send_cq, id->pub.send_cq);
	assert_int_equal(attr.qp_type, IBV_QPT_RC);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
	rcm_id_destroy(first);
}

/* The nth of a command fails; answered: how many of address and route the kernel still answers. */
static int fail_at_command(struct ibv_qp_init_attr *attr, uint32_t command, unsigned nth, unsigned answered,
			   struct rcm_id **ret_id)
{
	struct answer answers[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, 0,
		  rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ADDR) },
		{ RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, 0,
		  rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE) },
		{ 0 },
	};

	for (unsigned i = 1; i < nth; i++)
		rcm_fake_ucma_expect(command);
	rcm_fake_step_error(rcm_fake_ucma_expect(command), EPERM);
	answers[answered].command = 0;
	return make_endpoint(attr, answers, ret_id);
}

static void test_active_endpoint_that_kernel_fails_leaves_the_attributes(void **state)
{
	static const struct { uint32_t command; unsigned times, answered; } steps[] = {
		{ RDMA_USER_CM_CMD_CREATE_ID, 1, 0 }, { RDMA_USER_CM_CMD_RESOLVE_ADDR, 1, 0 },
		{ RDMA_USER_CM_CMD_QUERY, 3, 2 }, { RDMA_USER_CM_CMD_RESOLVE_ROUTE, 1, 1 },
		{ RDMA_USER_CM_CMD_INIT_QP_ATTR, 1, 2 },
	};
	const struct ibv_qp_init_attr before = { .qp_type = IBV_QPT_UD, .cap = { .max_send_wr = 1 } };
	struct ibv_qp_init_attr attr = before;
	struct rcm_id *first = rcm_world_id(RDMA_PS_TCP), *id = NULL;
	unsigned objects = rcm_fake_verbs_objects();

	(void)state;
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		for (unsigned nth = 1; nth <= steps[i].times; nth++) {
			assert_true(fail_at_command(&attr, steps[i].command, nth, steps[i].answered, &id) < 0);
			assert_null(id);
			assert_memory_equal(&attr, &before, sizeof(attr));
			assert_int_equal(rcm_fake_verbs_objects(), objects);
			assert_int_equal(rcm_fake_ucma_ids(), 1);
		}
	}
	rcm_id_destroy(first);
}

static void test_passive_endpoint_that_kernel_fails_leaves_nothing(void **state)
{
	static const uint32_t commands[] = {
		RDMA_USER_CM_CMD_CREATE_ID, RDMA_USER_CM_CMD_BIND, RDMA_USER_CM_CMD_QUERY,
	};
	const struct ibv_qp_init_attr before = { .cap = { .max_send_wr = 1 } };
	struct ibv_qp_init_attr attr = before;
	struct rcm_id *id = NULL;

	(void)state;
	info.ai_flags = RAI_PASSIVE;
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(src.in);
	for (unsigned i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		rcm_fake_step_error(rcm_fake_ucma_expect(commands[i]), EPERM);
		assert_int_equal(rcm_ep_new(&info, NULL, &attr, &id), -EPERM);
		assert_null(id);
		assert_memory_equal(&attr, &before, sizeof(attr));
		assert_int_equal(rcm_fake_ucma_ids(), 0);
	}
}

/* Bound to a device or not: what the application gave is what it finds. */
static void test_passive_endpoint_shows_the_domain_that_it_was_given(void **state)
{
	struct rcm_id *bound = rcm_world_id(RDMA_PS_TCP), *id;
	struct ibv_pd *pd = ibv_alloc_pd(bound->pub.verbs);

	(void)state;
	info.ai_flags = RAI_PASSIVE;
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(src.in);
	assert_int_equal(rcm_ep_new(&info, pd, NULL, &id), 0);
	assert_ptr_equal(id->pub.pd, pd);
	rcm_id_destroy(id);
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), 0);
	assert_ptr_equal(id->pub.pd, bound->pub.pd);
	rcm_id_destroy(id);
	ibv_dealloc_pd(pd);
	rcm_id_destroy(bound);
}

static void test_passive_endpoint_is_bound(void **state)
{
	struct rcm_id *id = NULL;

	(void)state;
	info.ai_flags = RAI_PASSIVE;
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), -EINVAL);
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(src.in);
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), 0);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_BIND), 1);
	rcm_id_destroy(id);
}

static void test_endpoint_without_address_is_refused(void **state)
{
	struct rcm_id *id = NULL;

	(void)state;
	info.ai_dst_addr = NULL;
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), -EINVAL);
	assert_null(id);
}

static void test_endpoint_whose_address_is_of_another_length_is_refused(void **state)
{
	static const socklen_t lens[] = { 0, 1, sizeof(struct sockaddr_in) - 1, sizeof(struct sockaddr_in6), INT32_MAX };
	struct rcm_id *id = NULL;

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(lens) / sizeof(*lens); i++) {
		info.ai_flags = i % 2 ? RAI_PASSIVE : 0;
		info.ai_src_addr = i % 2 ? &src.sa : NULL;
		info.ai_src_len = i % 2 ? lens[i / 2] : 0;
		info.ai_dst_len = lens[i / 2];
		assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), -EINVAL);
	}
	info.ai_flags = 0;
	info.ai_dst_len = sizeof(dst.in);
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(struct sockaddr_in6);
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), -EINVAL);
	assert_null(id);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* As one of rdma_getaddrinfo()'s is that has none. */
static void test_active_endpoint_whose_source_has_no_length_is_resolved_without_it(void **state)
{
	struct answer answers[] = {
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, 0 },
		{ 0 },
	};
	struct rcm_id *id = NULL;

	(void)state;
	info.ai_src_addr = &src.sa;
	rcm_fake_step_field(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID), rdma_ucm_create_id, ps, RDMA_PS_TCP);
	rcm_fake_step_field(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), rdma_ucm_resolve_addr, src_size, 0);
	assert_int_equal(make_endpoint(NULL, answers, &id), -ENETUNREACH);
	assert_null(id);
}

static void test_connection_data_of_endpoint_comes_before_the_callers(void **state)
{
	struct rdma_conn_param param = { .private_data = "caller", .private_data_len = 6 };
	struct rdma_ucm_connect sent;
	struct rcm_id *id;
	uint8_t long_data[250] = { 0 };

	(void)state;
	info.ai_flags = RAI_PASSIVE;
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(src.in);
	info.ai_connect = "first";
	info.ai_connect_len = 5;
	assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), 0);
	assert_int_equal(rcm_conn_connect(id, &param), 0);
	sent = rcm_world_last(rdma_ucm_connect);
	assert_int_equal(sent.conn_param.private_data_len, 11);
	assert_memory_equal(sent.conn_param.private_data, "firstcaller", 11);
	param.private_data = long_data;
	param.private_data_len = 251;
	assert_int_equal(rcm_conn_connect(id, &param), -EINVAL);
	rcm_id_destroy(id);
}

static void test_connection_data_of_endpoint_is_as_much_as_a_request_has(void **state)
{
	static const uint8_t data[256] = { 1, [254] = 2 };
	static const struct { const void *data; size_t len; unsigned sent; } cases[] = {
		{ data, 255, 255 }, { data, 256, 0 }, { NULL, 5, 0 }, { data, 0, 0 },
	};
	const struct rdma_conn_param param = { .qp_num = 1 };

	(void)state;
	info.ai_flags = RAI_PASSIVE;
	info.ai_src_addr = &src.sa;
	info.ai_src_len = sizeof(src.in);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rdma_ucm_connect sent;
		struct rcm_id *id;

		info.ai_connect = (void *)(uintptr_t)cases[i].data;
		info.ai_connect_len = cases[i].len;
		assert_int_equal(rcm_ep_new(&info, NULL, NULL, &id), 0);
		assert_int_equal(rcm_conn_connect(id, &param), 0);
		sent = rcm_world_last(rdma_ucm_connect);
		assert_int_equal(sent.conn_param.private_data_len, cases[i].sent);
		assert_memory_equal(sent.conn_param.private_data, data, cases[i].sent);
		rcm_id_destroy(id);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_active_endpoint_is_resolved_and_has_a_queue_pair),
		T(test_active_endpoint_with_path_records_asks_for_no_route),
		T(test_active_endpoint_that_fails_at_any_step_leaves_nothing),
		T(test_active_endpoint_that_verbs_fail_leaves_the_attributes),
		T(test_active_endpoint_that_kernel_fails_leaves_the_attributes),
		T(test_passive_endpoint_that_kernel_fails_leaves_nothing),
		T(test_passive_endpoint_shows_the_domain_that_it_was_given),
		T(test_passive_endpoint_is_bound),
		T(test_endpoint_without_address_is_refused),
		T(test_endpoint_whose_address_is_of_another_length_is_refused),
		T(test_active_endpoint_whose_source_has_no_length_is_resolved_without_it),
		T(test_connection_data_of_endpoint_comes_before_the_callers),
		T(test_connection_data_of_endpoint_is_as_much_as_a_request_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
