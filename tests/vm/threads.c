/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread reads events while others create, move and destroy ids: nothing stale, nothing lost, nobody stuck. */
#include "vm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* For SECONDS, and on a slow machine up to PATIENCE longer until there were ROUNDS and an event. */
enum { WORKERS = 3, SECONDS = 4, PATIENCE = 40, ROUNDS = 100, HOLD_MS = 300, LIVES_MAX = 1 << 17 };

/* Context of an id; outlives it. */
struct life {
	struct rdma_cm_id *id;
	atomic_bool gone;	/* rdma_destroy_id() has returned */
};

struct stress {
	struct rdma_event_channel *channels[2];
	time_t until;
	atomic_bool workers_done;
	atomic_long events;
	atomic_long rounds;
};

/* Never used twice, so that a stale event is told from a good one. */
static struct life lives[LIVES_MAX];
static atomic_int lives_used;

static void *reader_run(void *arg)
{
	struct stress *stress = arg;

	while (!atomic_load(&stress->workers_done)) {
		struct pollfd due[2] = {
			{.fd = stress->channels[0]->fd, .events = POLLIN},
			{.fd = stress->channels[1]->fd, .events = POLLIN},
		};
		struct rdma_cm_event *event;

		if (poll(due, 2, 50) < 1)
			continue;
		/* Descriptors don't block: an event may be dropped with its id after poll() saw it. */
		if (rdma_get_cm_event(stress->channels[due[0].revents ? 0 : 1], &event)) {
			CHECK(errno == EAGAIN);
			continue;
		}
		struct life *life = event->id->context;

		CHECK(life && life->id == event->id);
		CHECK(!atomic_load(&life->gone));
		if (event->status)
			FAIL("event %s, status %d", rdma_event_str(event->event), event->status);
		atomic_fetch_add(&stress->events, 1);
		CHECK(!atomic_load(&life->gone));
		TRY(rdma_ack_cm_event(event));
	}
	return NULL;
}

static void one_life(struct stress *stress, struct life *life, unsigned int *seed)
{
	int first = rand_r(seed) % 2, what = rand_r(seed);

	TRY(rdma_create_id(stress->channels[first], &life->id, NULL, RDMA_PS_TCP));
	life->id->context = life;
	TRY(rdma_resolve_addr(life->id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
#ifdef VM_RAI
	if (what & 4)
		TRY(rdma_write_cm_event(life->id, RDMA_CM_EVENT_USER, 0, 1));
#endif
	if (what & 1)
		TRY(rdma_migrate_id(life->id, stress->channels[!first]));
	/* Some live long enough for their event to be taken, on a slow machine too. */
	if (what & 2)
		usleep((useconds_t)(rand_r(seed) % (what & 8 ? 30000 : 3000)));
	TRY(rdma_destroy_id(life->id));
	atomic_store(&life->gone, true);
	atomic_fetch_add(&stress->rounds, 1);
}

static bool has_enough(struct stress *stress)
{
	if (time(NULL) < stress->until)
		return false;
	return time(NULL) >= stress->until + PATIENCE ||
	       (atomic_load(&stress->rounds) >= ROUNDS && atomic_load(&stress->events));
}

static void *worker_run(void *arg)
{
	struct stress *stress = arg;
	unsigned int seed = (unsigned int)(uintptr_t)&seed;

	while (!has_enough(stress)) {
		int next = atomic_fetch_add(&lives_used, 1);

		if (next >= LIVES_MAX)
			break;
		one_life(stress, &lives[next], &seed);
	}
	return NULL;
}

static void unblock(struct rdma_event_channel *channel)
{
	struct pollfd due = {.fd = channel->fd};
	int flags = fcntl(due.fd, F_GETFL);

	CHECK_EQ(fcntl(due.fd, F_SETFL, flags | O_NONBLOCK), 0);
}

/* F14 */
static void test_reader_sees_no_event_of_a_destroyed_id(void)
{
	struct stress stress = {.channels = {vm_channel(), vm_channel()}, .until = time(NULL) + SECONDS};
	pthread_t reader, workers[WORKERS];

	unblock(stress.channels[0]);
	unblock(stress.channels[1]);
	CHECK_EQ(pthread_create(&reader, NULL, reader_run, &stress), 0);
	for (int i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_create(&workers[i], NULL, worker_run, &stress), 0);
	for (int i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_join(workers[i], NULL), 0);
	/* The reader goes last: a worker may wait for its ack. */
	atomic_store(&stress.workers_done, true);
	CHECK_EQ(pthread_join(reader, NULL), 0);
	if (atomic_load(&stress.rounds) < ROUNDS || !atomic_load(&stress.events))
		FAIL("%ld rounds, %ld events", atomic_load(&stress.rounds), atomic_load(&stress.events));
	rdma_destroy_event_channel(stress.channels[0]);
	rdma_destroy_event_channel(stress.channels[1]);
}

struct held {
	struct rdma_cm_event *event;
	atomic_ullong acked_us;
};

static void *ack_later(void *arg)
{
	struct held *held = arg;

	usleep(HOLD_MS * 1000);
	atomic_store(&held->acked_us, vm_now_us());
	TRY(rdma_ack_cm_event(held->event));
	return NULL;
}

/* F13 */
static void test_destroy_waits_for_the_ack_and_no_longer(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct held held = {.acked_us = 0};
	pthread_t thread;
	uint64_t back;

	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	held.event = vm_take(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_EQ(pthread_create(&thread, NULL, ack_later, &held), 0);
	TRY(rdma_destroy_id(id));
	back = vm_now_us();
	if (!atomic_load(&held.acked_us))
		FAIL("destroyed before the event was acked");
	CHECK(back - atomic_load(&held.acked_us) < 1000000);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	rdma_destroy_event_channel(channel);
}

/* F13 */
static void test_destroy_drops_events_not_taken(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	struct pollfd due = {.fd = channel->fd, .events = POLLIN};

	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7000), VM_STEP_MS));
	CHECK_EQ(poll(&due, 1, VM_STEP_MS), 1);
	TRY(rdma_destroy_id(id));
	vm_quiet(channel, 100);
	rdma_destroy_event_channel(channel);
}

/* F13: an established connection whose disconnect is held, destroyed by another thread. */
static void test_destroy_connected_waits_for_the_ack_of_disconnect(void)
{
	struct vm_pair pair = vm_pair_connected(vm_address());
	struct held held = {.acked_us = 0};
	pthread_t thread;

	TRY(rdma_disconnect(pair.client));
	held.event = vm_take(pair.server_channel, RDMA_CM_EVENT_DISCONNECTED);
	CHECK_EQ(pthread_create(&thread, NULL, ack_later, &held), 0);
	rdma_destroy_qp(pair.server);
	TRY(rdma_destroy_id(pair.server));
	CHECK(atomic_load(&held.acked_us));
	CHECK_EQ(pthread_join(thread, NULL), 0);
	pair.server = NULL;
	vm_pair_free(&pair);
}

static void *connect_loop(void *arg)
{
	for (int i = 0; i < 25; i++) {
		struct vm_pair pair = vm_pair_connected(vm_address());

		TRY(rdma_disconnect(i % 2 ? pair.client : pair.server));
		vm_pair_free(&pair);
	}
	return arg;
}

static void test_threads_connect_on_channels_of_their_own(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, connect_loop, NULL), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static const struct vm_test tests[] = {
	{"test_reader_sees_no_event_of_a_destroyed_id", test_reader_sees_no_event_of_a_destroyed_id, 60},
	{"test_destroy_waits_for_the_ack_and_no_longer", test_destroy_waits_for_the_ack_and_no_longer, 0},
	{"test_destroy_drops_events_not_taken", test_destroy_drops_events_not_taken, 0},
	{"test_destroy_connected_waits_for_the_ack_of_disconnect",
	 test_destroy_connected_waits_for_the_ack_of_disconnect, 0},
	{"test_threads_connect_on_channels_of_their_own", test_threads_connect_on_channels_of_their_own, 60},
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
