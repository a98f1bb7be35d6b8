/* SPDX-License-Identifier: BSD-2-Clause */
/* CM IDs: their kernel side, who waits for which ack, what moves along. */
#include "cm/id.h"
#include "cm/life.h"
#include "cm/migrate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "cm/heir.h"
#include "cm/sync.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "fake_ports.h"
#include "fake_ucma.h"
#include "test.h"
#include "user_event.h"

static struct rcm_channel *channel;
static struct rcm_id *id;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_ports_clear();
	rcm_fake_ports_add(1, true, 0);
	rcm_fake_ucma_use();
	rcm_fake_ucma_open_result(-ENODEV);
	if (rcm_channel_new(&channel))
		return -1;
	return rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	rcm_fake_engine_reset();
	return 0;
}

static int set_up_kernel(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	return rcm_channel_new(&channel);
}

static int tear_down_kernel(void **state)
{
	(void)state;
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	return 0;
}

static void write_user(uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_user_event(id, 0, arg, &event), 0);
	assert_true(rcm_id_post(id, event));
}

static struct rcm_event *get_from(struct rcm_channel *from)
{
	struct rcm_event *event = NULL;

	assert_int_equal(fcntl(from->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_channel_get(from, &event), 0);
	return event;
}

static bool is_readable(struct rcm_channel *from)
{
	struct pollfd p = { .fd = from->pub.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_id_without_kernel_starts_empty(void **state)
{
	(void)state;
	assert_ptr_equal(id->pub.channel, &channel->pub);
	assert_int_equal(id->pub.ps, RDMA_PS_TCP);
	assert_int_equal(id->pub.qp_type, IBV_QPT_RC);
	assert_null(id->pub.verbs);
	assert_int_equal(id->pub.route.addr.src_addr.sa_family, 0);
	assert_false(id->has_handle);
}

static void test_id_with_unknown_port_space_is_refused(void **state)
{
	struct rcm_id *no = NULL;

	(void)state;
	assert_int_equal(rcm_id_new(channel, NULL, 0x0107, IBV_QPT_RC, &no), -EINVAL);
	assert_null(no);
}

static void test_id_in_kernel_is_created_and_destroyed_there(void **state)
{
	struct rdma_ucm_create_id_resp handle = { .id = 7 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_create_id, ps, RDMA_PS_UDP);
	rcm_fake_step_field(step, rdma_ucm_create_id, qp_type, IBV_QPT_UD);
	rcm_fake_step_answer(step, &handle, sizeof(handle));
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_fake_step_field(step, rdma_ucm_destroy_id, id, 7);

	assert_int_equal(rcm_id_new(channel, &handle, RDMA_PS_UDP, IBV_QPT_UD, &id), 0);
	assert_ptr_equal(id->pub.context, &handle);
	assert_true(id->entry.uid != 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static void test_id_refused_by_the_kernel_leaves_nothing(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);

	(void)state;
	rcm_fake_step_error(step, ENOMEM);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), -ENOMEM);
	assert_int_equal(atomic_load(&channel->refs), 1);
}

static void test_id_migrated_in_the_kernel_from_the_old_descriptor(void **state)
{
	struct rcm_fake_step *step;
	struct rcm_channel *second;

	(void)state;
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID);
	rcm_fake_step_field(step, rdma_ucm_migrate_id, fd, (uint32_t)channel->ucma.fd);
	assert_int_equal(rcm_id_migrate(id, second), 0);
	assert_ptr_equal(id->pub.channel, &second->pub);

	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID);
	rcm_fake_step_error(step, EINVAL);
	assert_int_equal(rcm_id_migrate(id, channel), -EINVAL);
	assert_ptr_equal(id->pub.channel, &second->pub);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
}

/* As a program has it that closed its standard input. */
static void test_id_migrated_to_descriptor_zero_is_migrated_in_the_kernel(void **state)
{
	int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
	struct rcm_channel *second;
	struct rcm_fake_step *step;

	(void)state;
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	close(0);
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(second->ucma.fd, 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID);
	rcm_fake_step_field(step, rdma_ucm_migrate_id, fd, (uint32_t)channel->ucma.fd);
	assert_int_equal(rcm_id_migrate(id, second), 0);
	assert_ptr_equal(id->pub.channel, &second->pub);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
}

/* A request that waits has its new id on the descriptor that it came to, whatever becomes of the listener. */
static void test_id_migrated_has_what_waited_from_the_old_descriptor(void **state)
{
	struct rcm_channel *second;
	struct rcm_event *event;

	(void)state;
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID);
	assert_int_equal(rcm_id_migrate(id, second), 0);
	assert_false(is_readable(channel));
	event = get_from(second);
	assert_ptr_equal(event->id, id);
	assert_ptr_equal(rcm_kernel_event_of(event)->channel, channel);
	rcm_event_ack(event);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
}

static void test_id_bound_by_the_kernel_shows_what_the_kernel_says(void **state)
{
	struct sockaddr_in wanted = { .sin_family = AF_INET };
	struct rdma_ucm_query_addr_resp addr = { .port_num = 2, .src_size = sizeof(wanted) };
	struct rcm_fake_step *step;

	(void)state;
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	rcm_fake_step_error(step, EADDRINUSE);
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&wanted), -EADDRINUSE);

	wanted.sin_port = htons(4711);
	memcpy(&addr.src_addr, &wanted, sizeof(wanted));
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	rcm_fake_step_answer(step, &addr, sizeof(addr));
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&wanted), 0);
	assert_int_equal(id->pub.port_num, 2);
	assert_int_equal(id->pub.route.addr.src_sin.sin_port, htons(4711));
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(rcm_id_destroy(id), 0);
}

/* The kernel knows why: it is bound already, or its device has gone since. */
static void test_id_bound_twice_is_refused_by_the_kernel(void **state)
{
	static const int why[] = { EINVAL, ENXIO };
	struct sockaddr_in wanted = { .sin_family = AF_INET };
	struct rdma_ucm_query_addr_resp addr = { .port_num = 1, .src_size = sizeof(wanted) };
	struct rcm_fake_step *step;

	(void)state;
	memcpy(&addr.src_addr, &wanted, sizeof(wanted));
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	rcm_fake_step_answer(step, &addr, sizeof(addr));
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&wanted), 0);
	for (size_t i = 0; i < 2; i++) {
		rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND), why[i]);
		assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&wanted), -why[i]);
	}
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static struct sockaddr_ib gid_address(uint8_t n)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_pkey = htons(0xffff) };

	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[1] = 0x80;
	ib.sib_addr.sib_raw[15] = n;
	return ib;
}

static void test_id_without_kernel_binds_to_the_port_of_a_gid(void **state)
{
	struct sockaddr_ib ib = gid_address(1), *bound = (struct sockaddr_ib *)&id->pub.route.addr.src_storage;

	(void)state;
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&ib), 0);
	assert_int_equal(id->pub.port_num, 1);
	assert_null(id->pub.verbs);
	assert_int_equal(bound->sib_family, AF_IB);
	assert_int_equal(bound->sib_pkey, htons(0xffff));
	assert_memory_equal(&bound->sib_addr, &ib.sib_addr, 16);
	assert_true((be64toh(bound->sib_sid) & RDMA_IB_IP_PS_MASK) == RDMA_IB_IP_PS_TCP);
	assert_true((be64toh(bound->sib_sid) & RDMA_IB_IP_PORT_MASK) >= 32768);
	assert_true(bound->sib_sid_mask == UINT64_MAX);
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&ib), -EINVAL);
}

static void test_id_without_kernel_refuses_what_it_cannot_bind(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_ib ib = gid_address(9);
	struct sockaddr local = { .sa_family = AF_UNIX };

	(void)state;
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&in), -ENODEV);
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&ib), -ENODEV);
	assert_int_equal(rcm_id_bind(id, &local), -EINVAL);
	ib = gid_address(1);
	assert_int_equal(rcm_id_bind(id, (struct sockaddr *)&ib), 0);
}

/* F13 */
static void test_id_destroyed_drops_what_was_not_taken(void **state)
{
	struct rcm_id *second;

	(void)state;
	write_user(1);
	write_user(2);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &second), 0);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_false(is_readable(channel));
	id = second;
}

static atomic_bool destroyed;

static void *destroy(void *arg)
{
	rcm_id_destroy(arg);
	atomic_store(&destroyed, true);
	return NULL;
}

/* F13: waits for the ack, and for nothing else. */
static void test_id_destroyed_waits_for_the_ack_of_what_was_taken(void **state)
{
	struct rcm_event *first, *second;
	pthread_t thread;

	(void)state;
	write_user(1);
	write_user(2);
	first = get_from(channel);
	second = get_from(channel);
	atomic_store(&destroyed, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy, id), 0);
	while (!atomic_load(&id->awaiting))
		sched_yield();
	rcm_event_ack(first);
	assert_false(atomic_load(&destroyed));
	rcm_event_ack(second);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&destroyed));
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

static void test_id_destroyed_while_referenced_is_found_by_no_uid(void **state)
{
	struct rcm_id *old = rcm_id_ref(id);

	(void)state;
	assert_ptr_equal(rcm_id_find(old->entry.uid), old);
	rcm_id_put(old);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_null(rcm_id_find(old->entry.uid));
	assert_int_equal(atomic_load(&old->entry.refs), 1);
	rcm_id_put(old);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

/* A call that another thread is in, or an event of another id that names this one: memory stays, nothing is queued. */
static void test_id_destroyed_while_referenced_takes_no_events(void **state)
{
	struct rcm_id *old = rcm_id_ref(id);
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(rcm_id_destroy(old), -EINVAL);
	assert_int_equal(rcm_user_event(old, 0, 0, &event), 0);
	assert_false(rcm_id_post(old, event));
	rcm_event_discard(event);
	rcm_id_put(old);
	rcm_id_put(NULL);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

static void test_id_migrated_takes_its_events_along_in_order(void **state)
{
	struct rcm_channel *second;
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_channel_new(&second), 0);
	write_user(1);
	write_user(2);
	assert_int_equal(rcm_id_migrate(id, second), 0);
	write_user(3);
	assert_false(is_readable(channel));
	for (uint64_t i = 1; i <= 3; i++) {
		event = get_from(second);
		assert_int_equal(event->pub.param.arg, i);
		rcm_event_ack(event);
	}
	assert_int_equal(rcm_id_migrate(id, second), 0);
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	rcm_channel_close(second);
}

struct migration {
	struct rcm_channel *to;
	atomic_bool done;
};

static void *migrate(void *arg)
{
	struct migration *migration = arg;

	rcm_id_migrate(id, migration->to);
	atomic_store(&migration->done, true);
	return NULL;
}

static void test_id_migrated_waits_for_the_ack_of_what_was_taken(void **state)
{
	struct migration migration = { NULL };
	struct rcm_event *event;
	pthread_t thread;

	(void)state;
	assert_int_equal(rcm_channel_new(&migration.to), 0);
	write_user(1);
	event = get_from(channel);
	assert_int_equal(pthread_create(&thread, NULL, migrate, &migration), 0);
	while (!atomic_load(&id->awaiting))
		sched_yield();
	assert_false(atomic_load(&migration.done));
	rcm_event_ack(event);
	pthread_join(thread, NULL);
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	rcm_channel_close(migration.to);
}

static void test_id_migrated_to_none_becomes_synchronous_and_back(void **state)
{
	(void)state;
	write_user(1);
	assert_false(rcm_id_is_sync(id));
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	assert_true(rcm_id_is_sync(id));
	assert_ptr_not_equal(id->pub.channel, &channel->pub);
	assert_false(is_readable(channel));
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	assert_false(rcm_id_is_sync(id));
	assert_true(is_readable(channel));
	rcm_event_ack(get_from(channel));
}

/* ---- F14: one thread reads, others create, migrate, destroy ---- */

enum { ROUNDS = 2000 };

static atomic_bool stop;

static void *read_events(void *arg)
{
	struct rcm_channel *from = arg;
	struct rcm_event *event;

	while (!atomic_load(&stop)) {
		if (rcm_channel_get(from, &event)) {
			sched_yield();
			continue;
		}
		/* Whatever is handed out is of an id that is whole until the ack. */
		if (event->pub.param.arg != (uint64_t)(uintptr_t)rcm_id_of(event->pub.id)->pub.context)
			abort();
		rcm_event_ack(event);
	}
	return NULL;
}

static void *churn(void *arg)
{
	struct rcm_channel **channels = arg;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct rcm_event *event;
		struct rcm_id *mine;

		if (rcm_id_new(channels[i & 1], (void *)(uintptr_t)i, RDMA_PS_TCP, IBV_QPT_RC, &mine))
			abort();
		for (int n = 0; n < 3; n++) {
			if (rcm_user_event(mine, 0, i, &event) || !rcm_id_post(mine, event))
				abort();
			if (n == 1 && rcm_id_migrate(mine, channels[~i & 1]))
				abort();
		}
		rcm_id_destroy(mine);
	}
	return NULL;
}

/* F14 */
static void test_id_churn_beside_readers_leaves_no_stale_event(void **state)
{
	struct rcm_channel *channels[2] = { channel };
	pthread_t readers[2], churners[2];

	(void)state;
	assert_int_equal(rcm_channel_new(&channels[1]), 0);
	atomic_store(&stop, false);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fcntl(channels[i]->pub.fd, F_SETFL, O_NONBLOCK), 0);
		assert_int_equal(pthread_create(&readers[i], NULL, read_events, channels[i]), 0);
		assert_int_equal(pthread_create(&churners[i], NULL, churn, channels), 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(churners[i], NULL);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	assert_false(is_readable(channels[0]));
	assert_false(is_readable(channels[1]));
	rcm_channel_close(channels[1]);
}

/* In a child of a fork: what waits until its channel is used there. */
static void test_id_that_rests_is_handed_over_once_with_one_reference(void **state)
{
	unsigned before = atomic_load(&id->entry.refs);

	(void)state;
	rcm_channel_rest(channel, id);
	assert_ptr_equal(rcm_channel_next_resting(channel), id);
	assert_int_equal(atomic_load(&id->entry.refs), before + 1);
	assert_null(rcm_channel_next_resting(channel));
	rcm_id_put(id);
}

#define PLAIN(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define KERNEL(name) cmocka_unit_test_setup_teardown(name, set_up_kernel, tear_down_kernel)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_id_without_kernel_starts_empty),
		PLAIN(test_id_with_unknown_port_space_is_refused),
		KERNEL(test_id_in_kernel_is_created_and_destroyed_there),
		KERNEL(test_id_refused_by_the_kernel_leaves_nothing),
		KERNEL(test_id_migrated_in_the_kernel_from_the_old_descriptor),
		KERNEL(test_id_migrated_to_descriptor_zero_is_migrated_in_the_kernel),
		KERNEL(test_id_migrated_has_what_waited_from_the_old_descriptor),
		KERNEL(test_id_bound_by_the_kernel_shows_what_the_kernel_says),
		KERNEL(test_id_bound_twice_is_refused_by_the_kernel),
		PLAIN(test_id_without_kernel_binds_to_the_port_of_a_gid),
		PLAIN(test_id_without_kernel_refuses_what_it_cannot_bind),
		PLAIN(test_id_destroyed_drops_what_was_not_taken),
		PLAIN(test_id_destroyed_waits_for_the_ack_of_what_was_taken),
		PLAIN(test_id_destroyed_while_referenced_is_found_by_no_uid),
		PLAIN(test_id_destroyed_while_referenced_takes_no_events),
		PLAIN(test_id_migrated_takes_its_events_along_in_order),
		PLAIN(test_id_migrated_waits_for_the_ack_of_what_was_taken),
		PLAIN(test_id_migrated_to_none_becomes_synchronous_and_back),
		PLAIN(test_id_that_rests_is_handed_over_once_with_one_reference),
		PLAIN(test_id_churn_beside_readers_leaves_no_stale_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
