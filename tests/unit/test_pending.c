/* SPDX-License-Identifier: BSD-2-Clause */
/* Each exported function, with a cancellation pending: none but those that wait for others ends by it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_dns.h"
#include "resolve/engine.h"
#include "test.h"
#include "world.h"

#include "id_calls.h"

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout);

static struct rdma_event_channel *channel(void)
{
	return &rcm_world_channel->pub;
}

static int no_cancelling(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

/* ---- Calls by the names of their functions; what a call needs beside it is made while nothing is cancelled ---- */

static int pending_rdma_create_event_channel(void)
{
	struct rdma_event_channel *made = rdma_create_event_channel();

	if (made)
		rdma_destroy_event_channel(made);
	return 0;
}

#define pending_rdma_destroy_event_channel pending_rdma_create_event_channel

static int pending_rdma_create_id(void)
{
	struct rdma_cm_id *made;

	return rdma_create_id(channel(), &made, NULL, RDMA_PS_TCP) || rdma_destroy_id(made) ||
	       rdma_create_id(NULL, &made, NULL, RDMA_PS_TCP) || rdma_destroy_id(made);
}

#define pending_rdma_destroy_id pending_rdma_create_id

static int pending_rdma_create_ep(void)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct rdma_addrinfo info = {
		.ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_src_addr = (struct sockaddr *)&peer, .ai_src_len = sizeof(peer),
	};
	struct rdma_cm_id *made;

	if (!rdma_create_ep(&made, &info, NULL, &attr))
		rdma_destroy_ep(made);
	return 0;
}

#define pending_rdma_destroy_ep pending_rdma_create_ep

static int pending_rdma_create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };

	rdma_create_qp(id, NULL, &attr);
	rdma_destroy_qp(id);
	return 0;
}

#define pending_rdma_destroy_qp pending_rdma_create_qp

static int pending_rdma_create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };

	rdma_create_qp_ex(id, &attr);
	rdma_destroy_qp(id);
	return 0;
}

static int pending_rdma_create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	rdma_create_srq(id, NULL, &attr);
	rdma_destroy_srq(id);
	return 0;
}

#define pending_rdma_destroy_srq pending_rdma_create_srq

static int pending_rdma_create_srq_ex(void)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	rdma_create_srq_ex(id, &attr);
	rdma_destroy_srq(id);
	return 0;
}

static int pending_rdma_bind_addr(void)
{
	return rdma_bind_addr(id, (struct sockaddr *)&peer);
}

static int pending_rdma_connect(void)
{
	return rdma_connect(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int pending_rdma_accept(void)
{
	return rdma_accept(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int pending_rdma_leave_multicast(void)
{
	return call_join_multicast() || rdma_leave_multicast(id, (struct sockaddr *)&group);
}

static int pending_rdma_join_multicast_ex(void)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER, .addr = (struct sockaddr *)&group,
	};

	return rdma_join_multicast_ex(id, &attr, NULL);
}

static int pending_rdma_migrate_id(void)
{
	return rdma_migrate_id(id, NULL);
}

static int pending_rdma_write_cm_event(void)
{
	return rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 7);
}

static int pending_rdma_ack_cm_event(void)
{
	struct rdma_cm_event *event;
	int before = no_cancelling();

	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 7) || rdma_get_cm_event(channel(), &event))
		return -1;
	pthread_setcancelstate(before, NULL);
	return rdma_ack_cm_event(event);
}

static int pending_rai_event_text(void)
{
	struct rdma_cm_event *event;
	int before = no_cancelling();
	char text[64];

	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 7) || rdma_get_cm_event(channel(), &event))
		return -1;
	pthread_setcancelstate(before, NULL);
	rai_event_text(event, text, sizeof(text));
	return rdma_ack_cm_event(event);
}

static int pending_rdma_get_devices(void)
{
	rdma_free_devices(rdma_get_devices(NULL));
	return 0;
}

#define pending_rdma_free_devices pending_rdma_get_devices

static int pending_rdma_event_str(void)
{
	return !rdma_event_str(RDMA_CM_EVENT_USER);
}

static int pending_rdma_get_src_port(void)
{
	return rdma_get_src_port(id);
}

static int pending_rdma_get_dst_port(void)
{
	return rdma_get_dst_port(id);
}

static int pending_rdma_getaddrinfo(void)
{
	struct rdma_addrinfo *list = NULL;

	if (!rdma_getaddrinfo("pending.a1.example", "7471", NULL, &list))
		rdma_freeaddrinfo(list);
	return 0;
}

#define pending_rdma_freeaddrinfo pending_rdma_getaddrinfo

static int pending_rdma_resolve_addrinfo(void)
{
	return rdma_resolve_addrinfo(id, "pending.a1.example", "7471", NULL) || rai_cancel(id);
}

#define pending_rai_cancel pending_rdma_resolve_addrinfo

static int pending_rdma_query_addrinfo(void)
{
	struct rdma_addrinfo *list = NULL;

	if (!rdma_query_addrinfo(id, &list))
		rdma_freeaddrinfo(list);
	return 0;
}

static int pending_rdma_get_remote_ece(void)
{
	struct ibv_ece ece;

	return rdma_get_remote_ece(id, &ece);
}

static int pending_rdma_set_local_ece(void)
{
	return rdma_set_local_ece(id, &(struct ibv_ece){ .vendor_id = 1 });
}

static int pending_rai_addrinfo_service(void)
{
	struct rai_service_record record;

	return rai_addrinfo_service(&(struct rdma_addrinfo){ .ai_family = AF_INET }, &record);
}

static int pending_rai_addrinfo_srv(void)
{
	struct rai_srv_record srv;

	return rai_addrinfo_srv(&(struct rdma_addrinfo){ .ai_family = AF_INET }, &srv);
}

static int pending_rai_get_stats(void)
{
	struct rai_stats stats;

	return rai_get_stats(&stats, sizeof(stats));
}

static int pending_rai_service_register(void)
{
	uint64_t registration;

	if (!rai_service_register(id, &(struct rai_service){ .name = "storage", .id = 7 }, &registration))
		rai_service_unregister(id, registration);
	return 0;
}

static int pending_rai_service_unregister(void)
{
	return rai_service_unregister(id, 1);
}

static int pending_rai_service_list(void)
{
	return rai_service_list(id, NULL) || rai_cancel(id);
}

static int pending_rai_service_remove(void)
{
	return rai_service_remove(id, &(struct rai_service_record){ .id = 7 }) || rai_cancel(id);
}

static int pending_rai_version(void)
{
	return !rai_version();
}

static int pending_rai_watch_steps(void)
{
	return rai_watch_steps(NULL);
}

static int waits_rdma_get_cm_event(void)
{
	struct rdma_cm_event *event;

	return rdma_get_cm_event(channel(), &event);
}

static int waits_rdma_get_request(void)
{
	struct rdma_cm_id *request;

	return rdma_get_request(id, &request);
}

static int waits_rpoll(void)
{
	return rpoll(&(struct pollfd){ .fd = channel()->fd, .events = POLLIN }, 1, -1);
}

#define pending_rdma_resolve_addr call_resolve_addr
#define pending_rdma_resolve_route call_resolve_route
#define pending_rdma_listen call_listen
#define pending_rdma_establish call_establish
#define pending_rdma_reject call_reject
#define pending_rdma_reject_ece call_reject_ece
#define pending_rdma_disconnect call_disconnect
#define pending_rdma_notify call_notify
#define pending_rdma_set_option call_set_option
#define pending_rdma_init_qp_attr call_init_qp_attr
#define pending_rdma_join_multicast call_join_multicast
#define pending_rdma_get_cm_event waits_rdma_get_cm_event
#define pending_rdma_get_request waits_rdma_get_request
#define pending_rpoll waits_rpoll

/* Made from the library's map: a function that has no call above fails to compile here. */
static const struct exported {
	const char *name;
	int (*call)(void);
} exported[] = {
#define EXPORTED(function) { #function, pending_##function },
#include "exported.h"
#undef EXPORTED
};

enum { EXPORTED = sizeof(exported) / sizeof(*exported) };
static_assert(EXPORTED > 50, "the map was read");

static bool waits_for_others(const struct exported *of)
{
	return of->call == waits_rdma_get_cm_event || of->call == waits_rpoll || of->call == waits_rdma_get_request;
}

/* ---- */

static void *call_cancelled(void *arg)
{
	int (**call)(void) = arg;

	pthread_cancel(pthread_self());
	(*call)();
	*call = NULL;
	return NULL;
}

static void expect_return(const struct exported *of)
{
	int (*call)(void) = of->call;
	pthread_t thread;

	id = &rcm_world_id(RDMA_PS_TCP)->pub;
	assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &call), 0);
	pthread_join(thread, NULL);
	if (call)
		fail_msg("%s: cancelled within", of->name);
	rdma_destroy_ep(id);
}

static void test_exported_functions_but_those_that_wait_for_others_let_no_cancellation_in(void **state)
{
	(void)state;
	/* The devices stay open in the process that asks for them: that is for a child. */
	for (unsigned i = 0; i < EXPORTED; i++)
		if (!waits_for_others(&exported[i]) && exported[i].call != pending_rdma_get_devices)
			expect_return(&exported[i]);
}

enum { RETURNED = 3 };			/* a process whose only thread is cancelled says 0 */

static void test_exported_functions_in_the_child_of_a_fork_let_no_cancellation_in(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	for (unsigned i = 0; i < EXPORTED; i++) {
		if (waits_for_others(&exported[i]))
			continue;
		id = &rcm_world_id(RDMA_PS_TCP)->pub;
		fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			alarm(60);
			pthread_cancel(pthread_self());
			exported[i].call();
			_exit(RETURNED);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != RETURNED)
			fail_msg("%s: cancelled within, status %#x", exported[i].name, (unsigned)status);
		rdma_destroy_ep(id);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_exported_functions_but_those_that_wait_for_others_let_no_cancellation_in),
		TEST(test_exported_functions_in_the_child_of_a_fork_let_no_cancellation_in),
	};

	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
