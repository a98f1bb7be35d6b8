/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every pair of public calls on one id, one of which destroys it, moves it or disconnects it, from two threads at once:
 * both return, nothing is touched that is gone, and nothing is left over. A third thread takes the events and acks them.
 *
 * test_pairs [-l] [-r ROUNDS] [PAIR]: rounds a pair, 25 as a rule, 10,000 with -l; PAIR: of those alone whose name has
 * this in it. In turn the caller, the other one or nobody has the lowest priority (SCHED_IDLE), and all share one
 * processor or not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "api/door.h"
#include "asleep.h"
#include "cm/id.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "id_calls.h"
#include "test.h"
#include "verbs/qp.h"
#include "world.h"

enum { ROUNDS = 25, ROUNDS_EMULATED = 3, ROUNDS_LONG = 10000, SECONDS_A_PAIR = 600 };

static unsigned rounds = ROUNDS;
static const char *only = "";

/* ---- The id of a round ---- */

static uint32_t handle;
static struct rcm_channel *second;
static atomic_bool gone;			/* destroyed by one of the two */
static _Thread_local bool on_id;		/* this thread is in a call on it */
static struct ibv_qp *made_qp;			/* by a call of the round */
static struct ibv_srq *made_srq;

static struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { 0x010200c0 } };

static void make_id(bool sync)
{
	assert_int_equal(rdma_create_id(sync ? NULL : &rcm_world_channel->pub, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	handle = rcm_fake_ucma_last_handle();
	made_qp = NULL;
	made_srq = NULL;
	atomic_store(&gone, false);
}

/* ---- The calls ---- */

static void rest(unsigned turn)
{
	const struct timespec some = { .tv_nsec = 20000 };

	/* Who has the lowest priority needs the processor. */
	if (turn % 64 == 63)
		nanosleep(&some, NULL);
	else
		sched_yield();
}

static void prepare_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };

	assert_int_equal(rdma_create_qp(id, NULL, &attr), 0);
	made_qp = rcm_fake_verbs_made_qp;
}

static void prepare_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1 } };

	assert_int_equal(rdma_create_srq(id, NULL, &attr), 0);
	made_srq = rcm_fake_verbs_made_srq;
}

static void prepare_group(void)
{
	assert_int_equal(rdma_join_multicast(id, (struct sockaddr *)&group, NULL), 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
}

static void prepare_request(void)
{
	rcm_fake_ucma_connect_request(handle, NULL);
}

static int call_destroy(void)
{
	int ret = rdma_destroy_id(id);

	if (!ret)
		atomic_store(&gone, true);
	return ret;
}

static int call_migrate(void)
{
	return rdma_migrate_id(id, &second->pub);
}

static int call_migrate_to_none(void)
{
	return rdma_migrate_id(id, NULL);
}

static int call_bind_addr(void)
{
	return rdma_bind_addr(id, (struct sockaddr *)&own);
}

static int call_connect(void)
{
	struct rdma_conn_param param = { .qp_num = 7 };

	return rdma_connect(id, &param);
}

static int call_accept(void)
{
	struct rdma_conn_param param = { .qp_num = 7 };

	return rdma_accept(id, &param);
}

static int call_create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	int ret = rdma_create_qp(id, NULL, &attr);

	if (!ret)
		made_qp = rcm_fake_verbs_made_qp;
	return ret;
}

static int call_create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	int ret = rdma_create_qp_ex(id, &attr);

	if (!ret)
		made_qp = rcm_fake_verbs_made_qp;
	return ret;
}

static int call_destroy_qp(void)
{
	rdma_destroy_qp(id);
	made_qp = NULL;
	return 0;
}

static int call_create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1 } };
	int ret = rdma_create_srq(id, NULL, &attr);

	if (!ret)
		made_srq = rcm_fake_verbs_made_srq;
	return ret;
}

static int call_create_srq_ex(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 1 }, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .srq_type = IBV_SRQT_BASIC,
	};
	int ret = rdma_create_srq_ex(id, &attr);

	if (!ret)
		made_srq = rcm_fake_verbs_made_srq;
	return ret;
}

static int call_destroy_srq(void)
{
	rdma_destroy_srq(id);
	made_srq = NULL;
	return 0;
}

static int call_destroy_ep(void)
{
	/* It says nothing: who finds it destroyed already has done nothing. */
	rdma_destroy_ep(id);
	atomic_store(&gone, true);
	made_qp = NULL;
	return 0;
}

static int call_join_multicast_ex(void)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS, .addr = (struct sockaddr *)&group,
	};

	return rdma_join_multicast_ex(id, &attr, NULL);
}

static int call_leave_multicast(void)
{
	return rdma_leave_multicast(id, (struct sockaddr *)&group);
}

/* What another thread joins meanwhile, whose outcome comes, or doesn't. */
static int call_leave_joining(void)
{
	static unsigned times;
	uint32_t membership;

	for (unsigned turn = 0; (membership = rcm_fake_ucma_last_handle()) == handle; turn++)
		rest(turn);
	if (times++ % 2)
		rcm_fake_ucma_event_of(membership, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	for (unsigned turn = 0; call_leave_multicast() && errno == EADDRNOTAVAIL; turn++)
		rest(turn);
	return 0;
}

static int call_set_local_ece(void)
{
	struct ibv_ece ece = { .vendor_id = 1 };

	return rdma_set_local_ece(id, &ece);
}

static int call_get_remote_ece(void)
{
	struct ibv_ece ece;

	return rdma_get_remote_ece(id, &ece);
}

static int call_resolve_addrinfo(void)
{
	return rdma_resolve_addrinfo(id, "192.0.2.7", "7471", NULL);
}

static int call_query_addrinfo(void)
{
	struct rdma_addrinfo *list;
	int ret = rdma_query_addrinfo(id, &list);

	if (!ret)
		rdma_freeaddrinfo(list);
	return ret;
}

static int call_cancel(void)
{
	return rai_cancel(id);
}

static int call_service_register(void)
{
	const struct rai_service service = { .name = "storage", .id = 1 };
	uint64_t registration;

	return rai_service_register(id, &service, &registration);
}

static int call_service_unregister(void)
{
	return rai_service_unregister(id, 1);
}

static int call_service_list(void)
{
	return rai_service_list(id, NULL);
}

static int call_service_remove(void)
{
	return rai_service_remove(id, &(struct rai_service_record){ .id = 1, .gid = { 0xfe, 0x80, [15] = 1 } });
}

static int call_write_cm_event(void)
{
	return rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0);
}

static int call_get_src_port(void)
{
	return rdma_get_src_port(id) == 1;
}

static int call_get_dst_port(void)
{
	return rdma_get_dst_port(id) == 1;
}

static int call_get_request(void)
{
	struct rdma_cm_id *request;
	int ret = rdma_get_request(id, &request);

	on_id = false;
	if (!ret)
		rdma_destroy_id(request);
	return ret;
}

struct call {
	const char *name;
	int (*call)(void);
	void (*prepare)(void);
	bool endless;				/* nothing here ends its wait but the other call */
};

#define CALL(what) { #what, call_##what, NULL, false }
#define WITH(what, of) { #what " with " #of, call_##what, prepare_##of, false }
#define ENDLESS(what) { #what, call_##what, NULL, true }

/* For a new call a line here: docs/testing.md shows the table. */
static const struct call calls[] = {
	CALL(destroy), CALL(migrate), CALL(migrate_to_none), CALL(disconnect), WITH(disconnect, qp), CALL(bind_addr),
	CALL(resolve_addr), CALL(resolve_route), CALL(listen), CALL(connect), WITH(connect, qp), CALL(accept),
	WITH(accept, qp), CALL(establish), CALL(reject), CALL(reject_ece), CALL(notify), CALL(set_option),
	CALL(init_qp_attr), CALL(create_qp), CALL(create_qp_ex), WITH(destroy_qp, qp), CALL(create_srq),
	CALL(create_srq_ex), WITH(destroy_srq, srq), WITH(destroy_ep, qp), CALL(join_multicast),
	CALL(join_multicast_ex), WITH(leave_multicast, group), CALL(set_local_ece), CALL(get_remote_ece),
	CALL(resolve_addrinfo), CALL(query_addrinfo), CALL(cancel), CALL(service_register),
	CALL(service_unregister), CALL(service_list), CALL(service_remove), CALL(write_cm_event), CALL(get_src_port),
	CALL(get_dst_port),
	WITH(listen, request),
};

/* Those that wait on an id without a channel of the application's. */
static const struct call waits[] = {
	CALL(resolve_addr), CALL(resolve_route), CALL(connect), WITH(connect, qp), CALL(accept), WITH(accept, qp),
	CALL(disconnect), ENDLESS(join_multicast), CALL(resolve_addrinfo), ENDLESS(get_request),
	WITH(get_request, request),
	CALL(destroy), CALL(write_cm_event),
};

/* ---- The kernel answers what it is asked, and the end of an id waits for the other call to have begun ---- */

static atomic_int inside;			/* calls of the round that have not returned */
static atomic_bool silent;			/* the kernel answers nothing */

static atomic_int entered;

struct rcm_door __real_rcm_door_enter(struct rdma_cm_id *of);
struct rcm_door __wrap_rcm_door_enter(struct rdma_cm_id *of);

struct rcm_door __wrap_rcm_door_enter(struct rdma_cm_id *of)
{
	struct rcm_door door = __real_rcm_door_enter(of);

	if (on_id)
		atomic_fetch_add(&entered, 1);
	return door;
}

struct rcm_door __real_rcm_door_enter_to_end(struct rdma_cm_id *of);
struct rcm_door __wrap_rcm_door_enter_to_end(struct rdma_cm_id *of);

struct rcm_door __wrap_rcm_door_enter_to_end(struct rdma_cm_id *of)
{
	struct rcm_door door = __real_rcm_door_enter_to_end(of);

	if (on_id)
		atomic_fetch_add(&entered, 1);
	return door;
}

/* A call that begins when the id is gone is the caller's fault: each is inside, or has returned. */
static void wait_for_both(void)
{
	for (unsigned turn = 0; atomic_load(&inside) > 1 && atomic_load(&entered) < 2; turn++)
		rest(turn);
}

static void answer(uint32_t command)
{
	static const int events[] = {
		[RDMA_USER_CM_CMD_RESOLVE_ADDR] = RDMA_CM_EVENT_ADDR_RESOLVED + 1,
		[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = RDMA_CM_EVENT_ROUTE_RESOLVED + 1,
		[RDMA_USER_CM_CMD_CONNECT] = RDMA_CM_EVENT_CONNECT_RESPONSE + 1,
		[RDMA_USER_CM_CMD_ACCEPT] = RDMA_CM_EVENT_ESTABLISHED + 1,
		[RDMA_USER_CM_CMD_DISCONNECT] = RDMA_CM_EVENT_DISCONNECTED + 1,
	};

	if (!on_id)
		return;
	if (command == RDMA_USER_CM_CMD_DESTROY_ID)
		wait_for_both();
	else if (command < sizeof(events) / sizeof(events[0]) && events[command] && !atomic_load(&silent))
		rcm_fake_ucma_event_of(handle, (uint32_t)events[command] - 1, 0);
}

/* ---- The thread that takes the events ---- */

static int stop_fd;

static void take_all(struct rcm_channel *channel)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(&channel->pub, &event)) {
		struct rdma_cm_id *request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;

		rdma_ack_cm_event(event);
		if (request)
			rdma_destroy_id(request);
	}
}

static void *take_events(void *arg)
{
	struct pollfd p[] = {
		{ .fd = stop_fd, .events = POLLIN }, { .fd = rcm_world_channel->pub.fd, .events = POLLIN },
		{ .fd = second->pub.fd, .events = POLLIN },
	};

	(void)arg;
	while (poll(p, 3, -1) >= 0 && !p[0].revents) {
		take_all(rcm_world_channel);
		take_all(second);
	}
	return NULL;
}

/* ---- A round ---- */

static const struct call *now, *other;
static sem_t begin_call, begin_other, ended;

static void run(const struct call *what)
{
	int ret;

	on_id = true;
	ret = what->call();
	on_id = false;
	/* Of a descriptor that is closed no call may speak. */
	if (ret && (errno == EBADF || errno == EFAULT))
		abort();
	atomic_fetch_sub(&inside, 1);
	sem_post(&ended);
}

static void *run_calls(void *arg)
{
	(void)arg;
	for (;;) {
		sem_wait(&begin_call);
		if (!now)
			return NULL;
		run(now);
	}
}

static void *run_others(void *arg)
{
	(void)arg;
	for (;;) {
		sem_wait(&begin_other);
		if (!other)
			return NULL;
		run(other);
	}
}

static void free_queues(void)
{
	if (made_qp) {
		struct ibv_cq *cqs[] = { made_qp->send_cq, made_qp->recv_cq };

		rcm_qp_free(made_qp);
		for (int i = 0; i < 2; i++)
			rcm_cq_free(cqs[i]->channel, cqs[i]);
	}
	if (made_srq)
		rcm_srq_free(made_srq);
}

static void end_round(void)
{
	if (atomic_load(&gone)) {
		free_queues();
	} else {
		rdma_destroy_qp(id);
		rdma_destroy_srq(id);
		assert_int_equal(rdma_destroy_id(id), 0);
	}
}

static void run_round(bool sync, unsigned order)
{
	make_id(sync);
	if (now->prepare)
		now->prepare();
	rcm_fake_ucma_before(answer);
	atomic_store(&inside, 2);
	atomic_store(&entered, 0);
	sem_post(order & 1 ? &begin_call : &begin_other);
	sem_post(order & 1 ? &begin_other : &begin_call);
	sem_wait(&ended);
	sem_wait(&ended);
	rcm_fake_ucma_before(NULL);
	end_round();
}

/* ---- Priorities and processors ---- */

static pthread_t caller, otherer, taker;

static void set_idle(pthread_t of, bool idle)
{
	const struct sched_param none = { 0 };

	pthread_setschedparam(of, idle ? SCHED_IDLE : SCHED_OTHER, &none);
}

static void set_single(bool single)
{
	const pthread_t threads[] = { caller, otherer, taker, pthread_self() };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < (single ? 1 : CPU_SETSIZE); cpu++)
		CPU_SET(cpu, &cpus);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		pthread_setaffinity_np(threads[i], sizeof(cpus), &cpus);
}

static char pair[128];

static void too_long(int sig)
{
	(void)sig;
	if (write(STDERR_FILENO, pair, strlen(pair)) < 0)
		_exit(1);
	abort();
}

static void run_pair(const struct call *first, const struct call *against, bool sync)
{
	now = first;
	other = against;
	snprintf(pair, sizeof(pair), "%s and %s%s: not through\n", now->name, other->name, sync ? ", synchronous" : "");
	if (!strstr(pair, only))
		return;
	alarm(SECONDS_A_PAIR);
	for (unsigned i = 0; i < rounds; i++) {
		if (i % ((rounds + 5) / 6) == 0) {
			unsigned mode = i / ((rounds + 5) / 6);

			set_single(mode % 2);
			set_idle(caller, mode / 2 == 1);
			set_idle(otherer, mode / 2 == 2);
		}
		run_round(sync, i / 2);
	}
	alarm(0);
}

static void start_threads(void)
{
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(fcntl(second->pub.fd, F_SETFL, O_NONBLOCK), 0);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	signal(SIGALRM, too_long);
	sem_init(&begin_call, 0, 0);
	sem_init(&begin_other, 0, 0);
	sem_init(&ended, 0, 0);
	assert_int_equal(pthread_create(&taker, NULL, take_events, NULL), 0);
	assert_int_equal(pthread_create(&caller, NULL, run_calls, NULL), 0);
	assert_int_equal(pthread_create(&otherer, NULL, run_others, NULL), 0);
}

static void stop_threads(void)
{
	now = other = NULL;
	sem_post(&begin_call);
	sem_post(&begin_other);
	pthread_join(caller, NULL);
	pthread_join(otherer, NULL);
	eventfd_write(stop_fd, 1);
	pthread_join(taker, NULL);
	close(stop_fd);
	rcm_channel_close(second);
}

static void run_all(const struct call *first, size_t count, const struct call *against, bool sync)
{
	start_threads();
	for (size_t i = 0; i < count; i++)
		if (!first[i].endless || against->call != call_migrate_to_none)
			run_pair(&first[i], against, sync);
	stop_threads();
}

static const struct call destroying = CALL(destroy), moving = CALL(migrate), freeing = CALL(migrate_to_none),
			 disconnecting = CALL(disconnect);

static void test_pair_of_each_call_and_destroy_ends_well(void **state)
{
	(void)state;
	run_all(calls, sizeof(calls) / sizeof(calls[0]), &destroying, false);
}

static void test_pair_of_each_call_and_migrate_ends_well(void **state)
{
	(void)state;
	run_all(calls, sizeof(calls) / sizeof(calls[0]), &moving, false);
}

static void test_pair_of_each_call_and_disconnect_ends_well(void **state)
{
	(void)state;
	run_all(calls, sizeof(calls) / sizeof(calls[0]), &disconnecting, false);
}

/* What a call waits for comes, or never comes. */
static void test_pair_of_each_wait_and_destroy_ends_well(void **state)
{
	(void)state;
	run_all(waits, sizeof(waits) / sizeof(waits[0]), &destroying, true);
	atomic_store(&silent, true);
	run_all(waits, sizeof(waits) / sizeof(waits[0]), &destroying, true);
	atomic_store(&silent, false);
}

static void test_pair_of_each_wait_and_migrate_ends_well(void **state)
{
	(void)state;
	run_all(waits, sizeof(waits) / sizeof(waits[0]), &moving, true);
	run_all(waits, sizeof(waits) / sizeof(waits[0]), &freeing, true);
	atomic_store(&silent, true);
	run_all(waits, sizeof(waits) / sizeof(waits[0]), &moving, true);
	atomic_store(&silent, false);
}

/* Who waits to join a group that another leaves has it, or is told. */
static void test_pair_of_a_join_that_waits_and_leave_ends_well(void **state)
{
	static const struct call joins[] = { ENDLESS(join_multicast), ENDLESS(join_multicast_ex) };
	static const struct call leaving = CALL(leave_joining);

	(void)state;
	run_all(joins, sizeof(joins) / sizeof(joins[0]), &leaving, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pair_of_each_call_and_destroy_ends_well),
		TEST(test_pair_of_each_call_and_migrate_ends_well),
		TEST(test_pair_of_each_call_and_disconnect_ends_well),
		TEST(test_pair_of_each_wait_and_destroy_ends_well),
		TEST(test_pair_of_each_wait_and_migrate_ends_well),
		TEST(test_pair_of_a_join_that_waits_and_leave_ends_well),
	};
	int option;

	if (emulated())
		rounds = ROUNDS_EMULATED;
	while ((option = getopt(argc, argv, "lr:")) >= 0) {
		if (option == 'l')
			rounds = ROUNDS_LONG;
		else if (option == 'r')
			rounds = (unsigned)atoi(optarg);
		else
			return 64;
	}
	if (optind < argc)
		only = argv[optind];
	setenv("RAI_DEVICELESS", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
