/* SPDX-License-Identifier: BSD-2-Clause */
/* Thousands of ids: on one source address, with a dead peer among them, and destroyed while they resolve. */
#include "vm.h"

#include <pthread.h>

enum { MANY = 5000, THREADS = 8, ROUNDS = 512 };

static const char dead_peer[] = "10.2.0.77";

/* Takes an event for each of count ids; those whose context is set are the ones that may fail, and must. */
static void take_all(struct rdma_event_channel *channel, int count, enum rdma_cm_event_type good)
{
	for (int i = 0; i < count; i++) {
		struct rdma_cm_event *event = vm_next(channel);
		bool bad = event->id->context;

		if (bad ? event->event == good || !event->status : event->event != good || event->status)
			FAIL("%s peer: event %s, status %d", bad ? "dead" : "live", rdma_event_str(event->event),
			     event->status);
		TRY(rdma_ack_cm_event(event));
	}
}

static void destroy_all(struct rdma_cm_id **ids, int count)
{
	for (int i = 0; i < count; i++)
		TRY(rdma_destroy_id(ids[i]));
}

/* F30 */
static void test_many_ids_with_one_source_address_resolve(void)
{
	static struct rdma_cm_id *ids[MANY];
	struct rdma_event_channel *channel = vm_channel();
	struct sockaddr *source = vm_sockaddr(vm_address(), 0), *target = vm_sockaddr(vm_address(), 7000);
	int dead = MANY / 2;

	for (int i = 0; i < MANY; i++)
		ids[i] = vm_id(channel, RDMA_PS_TCP);
	ids[dead]->context = ids[dead];
	for (int i = 0; i < MANY; i++) {
		struct sockaddr *to = i == dead ? vm_sockaddr(dead_peer, 7000) : target;

		TRY(rdma_resolve_addr(ids[i], source, to, 2000));
	}
	take_all(channel, MANY, RDMA_CM_EVENT_ADDR_RESOLVED);
	destroy_all(ids, MANY);
	rdma_destroy_event_channel(channel);
}

#ifdef VM_RAI
/* F30: resolving a name binds no port, so port numbers don't run out. */
static void test_many_names_with_one_source_address_bind_no_port(void)
{
	static struct rdma_cm_id *ids[MANY];
	struct rdma_event_channel *channel = vm_channel();
	struct sockaddr *source = vm_sockaddr(vm_address(), 0);
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_src_addr = source, .ai_src_len = sizeof(struct sockaddr_in)};

	for (int i = 0; i < MANY; i++) {
		ids[i] = vm_id(channel, RDMA_PS_TCP);
		TRY(rdma_resolve_addrinfo(ids[i], vm_address(), "7000", &hints));
	}
	take_all(channel, MANY, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(rdma_get_src_port(ids[i]), 0);
	destroy_all(ids, MANY);
	rdma_destroy_event_channel(channel);
}
#endif

static void start_resolving(struct rdma_cm_id *id, int round)
{
#ifdef VM_RAI
	if (round % 2) {
		TRY(rdma_resolve_addrinfo(id, "localhost", "7000", NULL));
		return;
	}
#endif
	(void)round;
	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
}

static void *create_resolve_destroy(void *arg)
{
	struct rdma_event_channel *channel = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

		start_resolving(id, i);
		TRY(rdma_destroy_id(id));
	}
	return NULL;
}

static void run_threads(void *(*run)(void *), void *arg)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, run, arg), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* F16: nobody reads the channel; each id goes while its resolution runs. */
static void test_parallel_create_resolve_destroy_leaves_no_event(void)
{
	struct rdma_event_channel *channel = vm_channel();

	run_threads(create_resolve_destroy, channel);
	vm_quiet(channel, 200);
	rdma_destroy_event_channel(channel);
}

#ifdef VM_RAI
static void *sit_in_get_event(void *arg)
{
	struct rdma_event_channel *channel = arg;
	struct rdma_cm_event *event;

	TRY(rdma_get_cm_event(channel, &event));
	CHECK_EQ(event->event, RDMA_CM_EVENT_USER);
	CHECK_EQ(event->status, 5);
	CHECK_EQ(event->param.arg, 0x123456789abcdefLL);
	TRY(rdma_ack_cm_event(event));
	return NULL;
}

/* F16: on every kernel. */
static void test_user_event_wakes_a_blocked_reader(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		CHECK_EQ(pthread_create(&thread, NULL, sit_in_get_event, channel), 0);
		if (i % 10 == 0)
			usleep(20000);	/* lets some readers block first; either order is to work */
		TRY(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 5, 0x123456789abcdefLL));
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
	REFUSED(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0), EINVAL);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}
#endif

static const struct vm_test tests[] = {
	{"test_many_ids_with_one_source_address_resolve", test_many_ids_with_one_source_address_resolve, 90},
	{"test_parallel_create_resolve_destroy_leaves_no_event", test_parallel_create_resolve_destroy_leaves_no_event, 90},
#ifdef VM_RAI
	{"test_many_names_with_one_source_address_bind_no_port", test_many_names_with_one_source_address_bind_no_port, 90},
	{"test_user_event_wakes_a_blocked_reader", test_user_event_wakes_a_blocked_reader, 0},
#endif
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
