/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread destroys or moves an id on the event that the call of another brought, while that call is on its way out: the
 * way an event thread ends connections. The caller has the lowest priority and both share one processor, so that the call
 * is often overtaken. VM_ROUNDS: rounds a pair, default 60.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "vm.h"

static unsigned rounds(void)
{
	const char *text = getenv("VM_ROUNDS");

	return text ? (unsigned)atoi(text) : 60;
}

/* ---- The caller ---- */

static struct rdma_cm_id *called;
static int (*call)(struct rdma_cm_id *id);
static sem_t begin, ended;
static pthread_t caller;

static void *run_calls(void *arg)
{
	const struct sched_param none = {0};

	(void)arg;
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	for (;;) {
		sem_wait(&begin);
		if (!call)
			return NULL;
		call(called);
		sem_post(&ended);
	}
}

static void start_caller(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	sem_init(&begin, 0, 0);
	sem_init(&ended, 0, 0);
	TRY(pthread_create(&caller, NULL, run_calls, NULL));
}

static void stop_caller(void)
{
	call = NULL;
	sem_post(&begin);
	pthread_join(caller, NULL);
}

/* ---- Calls, and what comes of them ---- */

static int call_resolve_addr(struct rdma_cm_id *id)
{
	return rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS);
}

static int call_resolve_route(struct rdma_cm_id *id)
{
	return rdma_resolve_route(id, VM_STEP_MS);
}

static int call_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = vm_param(NULL, 0);

	return rdma_connect(id, &param);
}

static int call_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = vm_param(NULL, 0);

	return rdma_accept(id, &param);
}

static int call_disconnect(struct rdma_cm_id *id)
{
	return rdma_disconnect(id);
}

enum end { DESTROY, MIGRATE };

/* The id's channel says that the call has come to something: the id goes, or moves. peer: what the other end does. */
static void end_on(enum rdma_cm_event_type type, struct rdma_event_channel *channel, enum end end,
		   void (*peer)(struct vm_pair *pair), struct vm_pair *pair)
{
	struct rdma_cm_id *id = called;
	struct rdma_event_channel *other = end == MIGRATE ? vm_channel() : NULL;

	sem_post(&begin);
	if (peer)
		peer(pair);
	TRY(rdma_ack_cm_event(vm_take(channel, type)));
	if (other)
		TRY(rdma_migrate_id(id, other));
	if (!other && id->qp)
		rdma_destroy_qp(id);
	if (!other)
		TRY(rdma_destroy_id(id));
	sem_wait(&ended);
	if (other) {
		if (id->qp)
			rdma_destroy_qp(id);
		TRY(rdma_destroy_id(id));
		rdma_destroy_event_channel(other);
	}
}

static void resolve_round(enum end end)
{
	struct rdma_event_channel *channel = vm_channel();

	call = call_resolve_addr;
	called = vm_id(channel, RDMA_PS_TCP);
	end_on(RDMA_CM_EVENT_ADDR_RESOLVED, channel, end, NULL, NULL);
	call = call_resolve_route;
	called = vm_id(channel, RDMA_PS_TCP);
	TRY(rdma_resolve_addr(called, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	end_on(RDMA_CM_EVENT_ROUTE_RESOLVED, channel, end, NULL, NULL);
	rdma_destroy_event_channel(channel);
}

/* Nobody listens: the answer comes at once. */
static void refused_round(enum end end)
{
	struct rdma_event_channel *channel = vm_channel();

	call = call_connect;
	called = vm_id(channel, RDMA_PS_TCP);
	vm_resolve(called, vm_sockaddr(vm_address(), 7999));
	vm_qp(called, IBV_QPT_RC);
	end_on(RDMA_CM_EVENT_REJECTED, channel, end, NULL, NULL);
	rdma_destroy_event_channel(channel);
}

static void client_establishes(struct vm_pair *pair)
{
	CHECK_EQ(vm_expect(pair->client_channel, RDMA_CM_EVENT_ESTABLISHED), 0);
}

static void accept_round(enum end end)
{
	struct vm_pair pair = vm_pair_resolved(vm_address());

	vm_pair_request(&pair, NULL);
	call = call_accept;
	called = pair.server;
	vm_qp(called, IBV_QPT_RC);
	pair.server = NULL;
	end_on(RDMA_CM_EVENT_ESTABLISHED, pair.listener.channel, end, client_establishes, &pair);
	vm_pair_free(&pair);
}

static void server_disconnects(struct vm_pair *pair)
{
	CHECK_EQ(vm_expect(pair->server_channel, RDMA_CM_EVENT_DISCONNECTED), 0);
	TRY(rdma_disconnect(pair->server));
}

static void disconnect_round(enum end end)
{
	struct vm_pair pair = vm_pair_connected(vm_address());

	call = call_disconnect;
	called = pair.client;
	pair.client = NULL;
	end_on(RDMA_CM_EVENT_DISCONNECTED, pair.client_channel, end, server_disconnects, &pair);
	vm_pair_free(&pair);
}

static void run_rounds(void (*round)(enum end end), enum end end)
{
	start_caller();
	for (unsigned i = 0; i < rounds(); i++)
		round(end);
	stop_caller();
}

static void test_life_of_an_id_destroyed_on_the_end_of_its_resolution(void)
{
	run_rounds(resolve_round, DESTROY);
}

static void test_life_of_an_id_moved_on_the_end_of_its_resolution(void)
{
	run_rounds(resolve_round, MIGRATE);
}

static void test_life_of_an_id_destroyed_when_it_is_refused(void)
{
	run_rounds(refused_round, DESTROY);
}

static void test_life_of_an_id_moved_when_it_is_refused(void)
{
	run_rounds(refused_round, MIGRATE);
}

static void test_life_of_an_id_destroyed_when_it_is_established(void)
{
	run_rounds(accept_round, DESTROY);
}

static void test_life_of_an_id_moved_when_it_is_established(void)
{
	run_rounds(accept_round, MIGRATE);
}

static void test_life_of_an_id_destroyed_when_it_is_disconnected(void)
{
	run_rounds(disconnect_round, DESTROY);
}

static void test_life_of_an_id_moved_when_it_is_disconnected(void)
{
	run_rounds(disconnect_round, MIGRATE);
}

/* ---- A listener that goes under its requests ---- */

static struct rdma_event_channel *requests;
static int stop_fd[2];
static unsigned astray, taken;

/* Each request is on the channel of its listener, and is refused. */
static void *take_requests(void *arg)
{
	struct pollfd p[] = {{.fd = stop_fd[0], .events = POLLIN}, {.fd = requests->fd, .events = POLLIN}};
	struct rdma_cm_event *event;

	(void)arg;
	while (poll(p, 2, -1) >= 0 && !p[0].revents) {
		while (!rdma_get_cm_event(requests, &event)) {
			struct rdma_cm_id *id = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;

			rdma_ack_cm_event(event);
			if (!id)
				continue;
			taken++;
			astray += id->channel != requests;
			rdma_reject(id, NULL, 0);
			rdma_destroy_id(id);
		}
	}
	return NULL;
}

static void test_life_of_a_listener_destroyed_under_its_requests(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_conn_param param = vm_param(NULL, 0);
	pthread_t taker;

	requests = vm_channel();
	TRY(fcntl(requests->fd, F_SETFL, O_NONBLOCK));
	TRY(pipe(stop_fd));
	TRY(pthread_create(&taker, NULL, take_requests, NULL));
	for (unsigned i = 0; i < rounds(); i++) {
		struct rdma_cm_id *listener = vm_id(requests, RDMA_PS_TCP), *client = vm_id(channel, RDMA_PS_TCP);

		TRY(rdma_bind_addr(listener, vm_sockaddr(vm_address(), 0)));
		TRY(rdma_listen(listener, 4));
		vm_resolve(client, vm_sockaddr(vm_address(), ntohs(rdma_get_src_port(listener))));
		vm_qp(client, IBV_QPT_RC);
		TRY(rdma_connect(client, &param));
		usleep(i % 16 * 100);
		TRY(rdma_destroy_id(listener));
		CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_REJECTED) != 0, 1);
		rdma_destroy_qp(client);
		TRY(rdma_destroy_id(client));
	}
	CHECK_EQ(write(stop_fd[1], "", 1), 1);
	pthread_join(taker, NULL);
	CHECK_EQ(astray, 0);
	rdma_destroy_event_channel(requests);
	rdma_destroy_event_channel(channel);
}

#define TEST(name) {#name, name, 300}

static const struct vm_test tests[] = {
	TEST(test_life_of_an_id_destroyed_on_the_end_of_its_resolution),
	TEST(test_life_of_an_id_moved_on_the_end_of_its_resolution),
	TEST(test_life_of_an_id_destroyed_when_it_is_refused),
	TEST(test_life_of_an_id_moved_when_it_is_refused),
	TEST(test_life_of_an_id_destroyed_when_it_is_established),
	TEST(test_life_of_an_id_moved_when_it_is_established),
	TEST(test_life_of_an_id_destroyed_when_it_is_disconnected),
	TEST(test_life_of_an_id_moved_when_it_is_disconnected),
	TEST(test_life_of_a_listener_destroyed_under_its_requests),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
