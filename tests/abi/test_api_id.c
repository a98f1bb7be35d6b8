/* SPDX-License-Identifier: BSD-2-Clause */
/* CM IDs through the library, on a machine without a device: arguments, errnos, who waits for whom. */
#include "api.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Without a device and without RAI_DEVICELESS programs are to find out, and use TCP. */
static void test_create_without_any_device_says_enodev(void **state)
{
	struct rdma_cm_id *none = NULL;

	(void)state;
	if (!access("/dev/infiniband/rdma_cm", F_OK))
		skip();
	unsetenv("RAI_DEVICELESS");
	errno = 0;
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
	assert_errno(rdma_create_id(NULL, &none, NULL, RDMA_PS_TCP), ENODEV);
	assert_null(none);
	setenv("RAI_DEVICELESS", "1", 1);
}

static void test_create_id_fills_what_the_application_reads(void **state)
{
	struct rdma_cm_id *udp;
	int context;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &udp, &context, RDMA_PS_UDP), 0);
	assert_ptr_equal(udp->channel, channel);
	assert_ptr_equal(udp->context, &context);
	assert_int_equal(udp->ps, RDMA_PS_UDP);
	assert_int_equal(udp->qp_type, IBV_QPT_UD);
	assert_null(udp->verbs);
	assert_null(udp->event);
	assert_int_equal(rdma_get_local_addr(udp)->sa_family, 0);
	assert_int_equal(rdma_get_peer_addr(udp)->sa_family, 0);
	assert_int_equal(rdma_get_src_port(udp), 0);
	assert_int_equal(rdma_get_dst_port(udp), 0);
	assert_int_equal(rdma_destroy_id(udp), 0);
	assert_int_equal(id->qp_type, IBV_QPT_RC);
}

static void test_id_calls_refuse_null_and_nonsense(void **state)
{
	struct rdma_cm_id *none = NULL;
	struct sockaddr unix_address = { .sa_family = AF_UNIX };

	(void)state;
	assert_errno(rdma_create_id(channel, NULL, NULL, RDMA_PS_TCP), EINVAL);
	assert_errno(rdma_create_id(channel, &none, NULL, (enum rdma_port_space)0), EINVAL);
	assert_null(none);
	assert_errno(rdma_destroy_id(NULL), EINVAL);
	assert_errno(rdma_migrate_id(NULL, channel), EINVAL);
	assert_errno(rdma_bind_addr(NULL, &unix_address), EINVAL);
	assert_errno(rdma_bind_addr(id, NULL), EINVAL);
	assert_errno(rdma_bind_addr(id, &unix_address), EINVAL);
	assert_int_equal(rdma_get_src_port(NULL), 0);
	assert_int_equal(rdma_get_dst_port(NULL), 0);
}

static void test_bind_without_a_device_says_enodev(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_ib ib = { .sib_family = AF_IB };

	(void)state;
	if (!access("/dev/infiniband/rdma_cm", F_OK))
		skip();
	assert_errno(rdma_bind_addr(id, (struct sockaddr *)&in), ENODEV);
	ib.sib_addr.sib_raw[0] = 0xfe;
	assert_errno(rdma_bind_addr(id, (struct sockaddr *)&ib), ENODEV);
}

/* A wildcard belongs to no device: there is an address, with a service id, and the port of both. */
static void test_bind_to_the_ib_wildcard_gives_a_service_id(void **state)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB }, *bound;

	(void)state;
	if (!access("/dev/infiniband/rdma_cm", F_OK))
		skip();
	ib.sib_sid = htobe64(7471);
	ib.sib_sid_mask = htobe64(RDMA_IB_IP_PORT_MASK);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&ib), 0);
	bound = (struct sockaddr_ib *)(void *)rdma_get_local_addr(id);
	assert_true(be64toh(bound->sib_sid) == (RDMA_IB_IP_PS_TCP | 7471));
	assert_int_equal(rdma_get_src_port(id), htons(7471));
	assert_errno(rdma_bind_addr(id, (struct sockaddr *)&ib), EINVAL);
}

static void test_set_option_checks_level_name_length_and_value(void **state)
{
	uint32_t value = 1;

	(void)state;
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &value, 4), 0);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &value, 4), 0);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_SOURCE, &value, 4), 0);
	assert_errno(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &value, 8), EINVAL);
	assert_errno(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, NULL, 4), EINVAL);
	assert_errno(rdma_set_option(NULL, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &value, 4), EINVAL);
	assert_errno(rdma_set_option(id, RDMA_OPTION_RAI, 99, &value, 4), ENOSYS);
	assert_errno(rdma_set_option(id, 99, 1, &value, 4), ENOSYS);
	value = 2;
	assert_errno(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &value, 4), EINVAL);
}

static void test_migrate_moves_events_and_back(void **state)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	(void)state;
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 1), 0);
	assert_int_equal(rdma_migrate_id(id, other), 0);
	assert_ptr_equal(id->channel, other);
	assert_false(is_readable(channel->fd));
	assert_true(is_readable(other->fd));
	rdma_ack_cm_event(get_event(other));
	assert_int_equal(rdma_migrate_id(id, NULL), 0);
	assert_ptr_not_equal(id->channel, other);
	assert_int_equal(rdma_migrate_id(id, channel), 0);
	rdma_destroy_event_channel(other);
}

static atomic_bool destroyed;

static void *destroy(void *arg)
{
	rdma_destroy_id(arg);
	atomic_store(&destroyed, true);
	return NULL;
}

/* F13: an event taken and not acked holds up destroy; those not taken are dropped. */
static void test_destroy_waits_for_the_ack_and_drops_the_rest(void **state)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *other;
	pthread_t thread;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rdma_write_cm_event(other, RDMA_CM_EVENT_USER, 0, 0), 0);
	event = get_event(channel);
	atomic_store(&destroyed, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy, other), 0);
	while (is_readable(channel->fd))
		sched_yield();
	/* Not to see that it returns: it must not. */
	nanosleep(&pause, NULL);
	assert_false(atomic_load(&destroyed));
	assert_int_equal(rdma_ack_cm_event(event), 0);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&destroyed));
}

/* ---- F14 ---- */

enum { CHURNERS = 3, ROUNDS = 6000 / API_SLOWER };

static struct rdma_event_channel *channels[2];
static atomic_bool stop;

static void *read_events(void *arg)
{
	struct rdma_event_channel *from = arg;
	struct rdma_cm_event *event;

	while (!atomic_load(&stop)) {
		if (rdma_get_cm_event(from, &event)) {
			sched_yield();
			continue;
		}
		if (event->id->context != (void *)(uintptr_t)0x5aa5)
			abort();
		rdma_ack_cm_event(event);
	}
	return NULL;
}

static void *churn(void *arg)
{
	struct rdma_cm_id *mine;

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		if (rdma_create_id(channels[i & 1], &mine, (void *)(uintptr_t)0x5aa5, RDMA_PS_TCP) ||
		    rdma_resolve_addrinfo(mine, "192.0.2.1", "7471", NULL) ||
		    rdma_write_cm_event(mine, RDMA_CM_EVENT_USER, 0, 0) ||
		    rdma_migrate_id(mine, channels[~i & 1]) ||
		    rdma_write_cm_event(mine, RDMA_CM_EVENT_USER, 0, 0) || rdma_destroy_id(mine))
			abort();
	}
	return NULL;
}

/* F14: one thread reads events while others create, resolve, migrate and destroy. */
static void test_ids_churned_beside_readers_leave_no_stale_event(void **state)
{
	pthread_t readers[2], churners[CHURNERS];

	(void)state;
	atomic_store(&stop, false);
	for (int i = 0; i < 2; i++) {
		channels[i] = rdma_create_event_channel();
		set_nonblocking(channels[i]->fd);
		assert_int_equal(pthread_create(&readers[i], NULL, read_events, channels[i]), 0);
	}
	for (int i = 0; i < CHURNERS; i++)
		assert_int_equal(pthread_create(&churners[i], NULL, churn, NULL), 0);
	for (int i = 0; i < CHURNERS; i++)
		pthread_join(churners[i], NULL);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(readers[i], NULL);
		assert_false(is_readable(channels[i]->fd));
		rdma_destroy_event_channel(channels[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_without_any_device_says_enodev),
		API_TEST(test_create_id_fills_what_the_application_reads),
		API_TEST(test_id_calls_refuse_null_and_nonsense),
		API_TEST(test_bind_without_a_device_says_enodev),
		API_TEST(test_bind_to_the_ib_wildcard_gives_a_service_id),
		API_TEST(test_set_option_checks_level_name_length_and_value),
		API_TEST(test_migrate_moves_events_and_back),
		API_TEST(test_destroy_waits_for_the_ack_and_drops_the_rest),
		API_TEST(test_ids_churned_beside_readers_leave_no_stale_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
