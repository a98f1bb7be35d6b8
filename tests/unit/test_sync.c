/* SPDX-License-Identifier: BSD-2-Clause */
/* Synchronous ids: a call waits for its own outcome, and acks that of the call before. */
#include "cm/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "cm/id.h"
#include "cm/life.h"
#include "cm/lookup.h"
#include "cm/migrate.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "fake_ucma.h"
#include "test.h"
#include "user_event.h"

static struct rcm_id *id;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_open_result(-ENODEV);
	return rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_fake_ucma_done();
	rcm_fake_engine_reset();
	return 0;
}

static void write_user(uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_user_event(id, 0, arg, &event), 0);
	assert_true(rcm_id_post(id, event));
}

static void test_sync_id_has_a_channel_of_its_own(void **state)
{
	(void)state;
	assert_true(rcm_id_is_sync(id));
	assert_non_null(id->pub.channel);
	assert_null(id->pub.event);
}

static void test_sync_completes_with_the_event_left_in_the_id(void **state)
{
	(void)state;
	rcm_fake_engine_immediate(true);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_non_null(id->pub.event);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(atomic_load(&id->unacked[0]), 1);
}

/* F15: an application never acks what a synchronous id has. */
static void test_sync_acks_the_event_of_the_call_before(void **state)
{
	struct rdma_cm_event *first;

	(void)state;
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	rcm_fake_engine_fail(-ETIMEDOUT, 0, "late");
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), -ETIMEDOUT);
	first = id->pub.event;
	assert_int_equal(first->status, -ETIMEDOUT);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_int_equal(rcm_channel_of(id->pub.channel)->own_awaited, 0);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(atomic_load(&id->unacked[0]), 1);
	rcm_sync_ack(id);
	assert_null(id->pub.event);
	assert_int_equal(atomic_load(&id->unacked[0]), 0);
	rcm_sync_ack(id);
}

/* Two threads in calls on one id: the event that the one left is not lost sight of by the other's. */
static void test_sync_event_that_replaces_another_acks_it(void **state)
{
	struct rcm_event *first, *second;

	(void)state;
	write_user(1);
	write_user(2);
	assert_int_equal(rcm_channel_get(id->channel, &first), 0);
	assert_int_equal(rcm_channel_get(id->channel, &second), 0);
	rcm_sync_keep(id, rcm_channel_of(id->pub.channel), first);
	assert_int_equal(id->unacked[0], 2);
	rcm_sync_keep(id, rcm_channel_of(id->pub.channel), second);
	assert_int_equal(id->unacked[0], 1);
	assert_ptr_equal(id->pub.event, &second->pub);
}

static void test_sync_passes_over_events_of_the_application(void **state)
{
	struct rcm_event *event;

	(void)state;
	write_user(5);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(rcm_channel_get(rcm_channel_of(id->pub.channel), &event), 0);
	assert_int_equal(event->pub.param.arg, 5);
	rcm_event_ack(event);
}

static void test_sync_status_of_any_sign_becomes_an_errno(void **state)
{
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_user_event(id, 28, 0, &event), 0);
	event->pub.event = RDMA_CM_EVENT_REJECTED;
	assert_true(rcm_id_post(id, event));
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), -ECONNREFUSED);
	assert_int_equal(rcm_user_event(id, ENETUNREACH, 0, &event), 0);
	event->pub.event = RDMA_CM_EVENT_UNREACHABLE;
	assert_true(rcm_id_post(id, event));
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), -ENETUNREACH);
}

static void write_as(enum rdma_cm_event_type type, int status)
{
	struct rcm_event *event;

	assert_int_equal(rcm_user_event(id, status, 0, &event), 0);
	event->pub.event = type;
	assert_true(rcm_id_post(id, event));
}

/* RTU, REP, REJ and DREQ are datagrams, any of which may be lost: each event that the states allow then ends the call. */
static void test_sync_call_ends_on_every_event_that_can_end_it(void **state)
{
	static const struct {
		uint32_t types;
		enum rdma_cm_event_type type;
		int status, ret;
	} ends[] = {
		{ RCM_SYNC_ADDRESS, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0 },
		{ RCM_SYNC_ADDRESS, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, -ETIMEDOUT },
		{ RCM_SYNC_ADDRESS, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, -ENODEV },
		{ RCM_SYNC_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0 },
		{ RCM_SYNC_ROUTE, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, -ETIMEDOUT },
		{ RCM_SYNC_ROUTE, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, -ENODEV },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_ESTABLISHED, 0, 0 },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, 0 },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, -EINVAL },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, -ETIMEDOUT },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_REJECTED, 28, -ECONNREFUSED },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_DISCONNECTED, 0, -ECONNRESET },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, -ECONNRESET },
		{ RCM_SYNC_CONNECT, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, -ENODEV },
		{ RCM_SYNC_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED, 0, 0 },
		{ RCM_SYNC_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT, -ETIMEDOUT },
		{ RCM_SYNC_DISCONNECT, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, 0 },
		{ RCM_SYNC_DISCONNECT, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, -ENODEV },
		{ RCM_SYNC_MCAST, RDMA_CM_EVENT_MULTICAST_JOIN, 0, 0 },
		{ RCM_SYNC_MCAST, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETDOWN, -ENETDOWN },
		{ RCM_SYNC_MCAST, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, -ENODEV },
	};

	(void)state;
	/* Instead of a hang where one is missing. */
	assert_int_equal(fcntl(id->pub.channel->fd, F_SETFL, O_NONBLOCK), 0);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		write_as(ends[i].type, ends[i].status);
		assert_int_equal(rcm_sync_complete(id, ends[i].types), ends[i].ret);
		assert_int_equal(id->pub.event->event, ends[i].type);
	}
}

/* Of a call that was interrupted, or didn't wait. */
static void test_sync_route_does_not_end_with_the_address_of_an_earlier_call(void **state)
{
	(void)state;
	write_as(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	write_as(RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_ROUTE), -ETIMEDOUT);
	assert_int_equal(atomic_load(&id->unacked[0]), 1);
}

/* As with librdmacm: the event comes on the id's channel. */
static void test_sync_id_with_o_nonblock_gets_the_event_later(void **state)
{
	struct rcm_channel *channel = rcm_channel_of(id->pub.channel);
	struct rcm_event *event;

	(void)state;
	assert_int_equal(fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), -EAGAIN);
	assert_null(id->pub.event);
	write_as(RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ESTABLISHED);
	rcm_event_ack(event);
}

/* Whoever takes it next finds none that is acked already. */
static void test_sync_call_that_ends_without_an_event_leaves_none_of_the_call_before(void **state)
{
	(void)state;
	write_as(RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), 0);
	assert_int_equal(atomic_load(&id->unacked[0]), 1);
	assert_int_equal(fcntl(id->pub.channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_DISCONNECT), -EAGAIN);
	assert_null(id->pub.event);
	assert_int_equal(atomic_load(&id->unacked[0]), 0);
}

static void test_sync_of_an_asynchronous_id_waits_for_nothing(void **state)
{
	struct rcm_channel *channel;

	(void)state;
	assert_int_equal(rcm_channel_new(&channel), 0);
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_null(id->pub.event);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	rcm_channel_close(channel);
}

/* A synchronous id on which one of its asynchronous time is under way. */
static void start_and_become_sync(struct rcm_channel **ret_channel)
{
	assert_int_equal(rcm_channel_new(ret_channel), 0);
	assert_int_equal(rcm_id_migrate(id, *ret_channel), 0);
	assert_int_equal(rcm_lookup_start(id, "old.test", NULL, NULL), 0);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
}

static void resolve_anew(struct rcm_channel *channel)
{
	rcm_fake_engine_immediate(true);
	assert_int_equal(rcm_lookup_start(id, "new.test", NULL, NULL), 0);
	assert_int_equal(rcm_fake_engine_pending(), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_true(TAILQ_EMPTY(&id->undelivered));
	rcm_channel_close(channel);
}

static void test_sync_id_gives_up_the_lookup_of_its_asynchronous_time(void **state)
{
	struct rcm_channel *channel;

	(void)state;
	start_and_become_sync(&channel);
	resolve_anew(channel);
	assert_int_equal(rcm_fake_engine_cancels(), 1);
}

static void test_sync_id_gives_up_the_outcome_queued_in_its_asynchronous_time(void **state)
{
	struct rcm_channel *channel;

	(void)state;
	start_and_become_sync(&channel);
	rcm_fake_engine_fail(-ETIMEDOUT, 0, "late");
	resolve_anew(channel);
}

static void test_sync_id_whose_call_is_waiting_is_busy(void **state)
{
	(void)state;
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), -EBUSY);
}

static void *resolve_soon(void *arg)
{
	(void)arg;
	while (!rcm_fake_engine_pending())
		sched_yield();
	rcm_fake_engine_resolve(1);
	return NULL;
}

/* F2: the outcome can be queued and another thread can use the id while the call waits. */
static void test_sync_waits_without_a_lock(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, resolve_soon, NULL), 0);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	pthread_join(thread, NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Once the call is interrupted the id is free for the next one. */
static void test_sync_interrupted_by_a_signal_can_be_repeated(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm };
	timer_t timer;
	struct itimerspec soon = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 };

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), -EINTR);
	timer_delete(timer);
	rcm_lookup_abandon(id);
	assert_int_equal(rcm_fake_engine_pending(), 0);
	rcm_fake_engine_immediate(true);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sync_id_has_a_channel_of_its_own),
		TEST(test_sync_completes_with_the_event_left_in_the_id),
		TEST(test_sync_acks_the_event_of_the_call_before),
		TEST(test_sync_event_that_replaces_another_acks_it),
		TEST(test_sync_passes_over_events_of_the_application),
		TEST(test_sync_status_of_any_sign_becomes_an_errno),
		TEST(test_sync_call_ends_on_every_event_that_can_end_it),
		TEST(test_sync_route_does_not_end_with_the_address_of_an_earlier_call),
		TEST(test_sync_id_with_o_nonblock_gets_the_event_later),
		TEST(test_sync_call_that_ends_without_an_event_leaves_none_of_the_call_before),
		TEST(test_sync_of_an_asynchronous_id_waits_for_nothing),
		TEST(test_sync_id_gives_up_the_lookup_of_its_asynchronous_time),
		TEST(test_sync_id_gives_up_the_outcome_queued_in_its_asynchronous_time),
		TEST(test_sync_id_whose_call_is_waiting_is_busy),
		TEST(test_sync_waits_without_a_lock),
		TEST(test_sync_interrupted_by_a_signal_can_be_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
