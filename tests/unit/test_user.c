/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the application's own: what becomes of their memory. */
#include "cm/user.h"

#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "base/limits.h"
#include "cm/life.h"
#include "cm/wait.h"
#include "fake_ucma.h"
#include "test.h"
#include "user_event.h"
#include "world.h"

static struct rcm_id *id;

static int set_up(void **state)
{
	int ret = rcm_world_before(state);

	if (!ret)
		ret = rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
	return ret;
}

static int tear_down(void **state)
{
	rcm_id_destroy(id);
	return rcm_world_after(state);
}

static struct rcm_event *get_user(uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(rcm_world_channel, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_USER);
	assert_int_equal(event->pub.param.arg, arg);
	return event;
}

static void test_user_event_takes_the_memory_of_one_acked(void **state)
{
	struct rcm_event *first, *second;

	(void)state;
	assert_int_equal(rcm_user_post(id, 0, 1), 0);
	first = get_user(1);
	rcm_event_ack(first);
	assert_int_equal(rcm_user_post(id, -3, 2), 0);
	second = get_user(2);
	assert_ptr_equal(first, second);
	assert_int_equal(second->pub.status, -3);
	rcm_event_ack(second);
}

/* Many at once, and one after the other: what is counted is what is there. */
static void test_user_events_beyond_the_limit_are_freed(void **state)
{
	struct rcm_event *events[RCM_USER_SPARES_MAX + 3];
	unsigned there = 0;

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < RCM_USER_SPARES_MAX + 3; i++)
			assert_int_equal(rcm_user_post(id, 0, i), 0);
		assert_int_equal(atomic_load(&id->spares), 0);
		for (unsigned i = 0; i < RCM_USER_SPARES_MAX + 3; i++)
			events[i] = get_user(i);
		for (unsigned i = 0; i < RCM_USER_SPARES_MAX + 3; i++)
			rcm_event_ack(events[i]);
		assert_int_equal(atomic_load(&id->spares), RCM_USER_SPARES_MAX);
	}
	for (const struct rcm_event *event = atomic_load(&id->spare); event; event = event->spare)
		there++;
	assert_int_equal(there, RCM_USER_SPARES_MAX);
}

static void test_user_event_that_reaches_nobody_gives_its_memory_back_too(void **state)
{
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_user_event(id, 0, 1, &event), 0);
	rcm_event_discard(event);
	assert_int_equal(atomic_load(&id->spares), 1);
}

static void test_user_event_of_an_id_that_dies_is_refused(void **state)
{
	struct rcm_id *dying;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &dying), 0);
	rcm_id_ref(dying);
	assert_int_equal(rcm_id_destroy(dying), 0);
	assert_int_equal(rcm_user_post(dying, 0, 1), -EINVAL);
	rcm_id_put(dying);
	rcm_world_expect_quiet();
}

enum { ROUNDS = 5000 };

static void *write_events(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(rcm_user_post(id, 0, 7), 0);
	return NULL;
}

static void *take_events(void *count)
{
	struct rcm_event *event;
	int ret;

	while (atomic_load((atomic_int *)count) < 2 * ROUNDS) {
		ret = rcm_channel_get(rcm_world_channel, &event);
		if (ret)
			continue;
		assert_int_equal(event->pub.param.arg, 7);
		atomic_fetch_add((atomic_int *)count, 1);
		rcm_event_ack(event);
	}
	return NULL;
}

static void test_user_events_of_two_writers_come_to_two_readers_once_each(void **state)
{
	void *(*const starts[])(void *) = { write_events, write_events, take_events, take_events };
	atomic_int count = 0;
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, starts[i], &count), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&count), 2 * ROUNDS);
	rcm_world_expect_quiet();
}

/* Written and taken with a cancellation pending, which comes after that. */
static void *cancelled_thread(void *done)
{
	struct rdma_event_channel *channel = &rcm_world_channel->pub;
	struct rdma_cm_event *event;

	pthread_cancel(pthread_self());
	assert_int_equal(rdma_write_cm_event(&id->pub, RDMA_CM_EVENT_USER, 0, 1), 0);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	*(bool *)done = true;
	pthread_testcancel();
	return NULL;
}

static void test_user_event_that_is_there_passes_no_cancellation_point(void **state)
{
	pthread_t thread;
	bool done = false;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, cancelled_thread, &done), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(done);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_user_event_takes_the_memory_of_one_acked),
		TEST(test_user_events_beyond_the_limit_are_freed),
		TEST(test_user_event_that_reaches_nobody_gives_its_memory_back_too),
		TEST(test_user_event_of_an_id_that_dies_is_refused),
		TEST(test_user_events_of_two_writers_come_to_two_readers_once_each),
		TEST(test_user_event_that_is_there_passes_no_cancellation_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
