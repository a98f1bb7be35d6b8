/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: their names and words, and who frees them. */
#include "cm/event.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>

#include "cm/handlers.h"
#include "cm/id.h"
#include "cm/life.h"
#include "fake_engine.h"
#include "logged.h"
#include "test.h"
#include "user_event.h"

static struct rcm_channel *channel;
static struct rcm_id *id;
static unsigned drops, frees;

static void count_drop(struct rcm_event *event)
{
	(void)event;
	drops++;
}

static void count_free(struct rcm_event *event)
{
	frees++;
	free(event);
}

static const char *words(const struct rcm_event *event)
{
	(void)event;
	return "the name server 192.0.2.1 is silent";
}

static const struct rcm_event_ops counting_ops = {
	.drop = count_drop,
	.text = words,
	.free = count_free,
};

static int set_up(void **state)
{
	(void)state;
	drops = frees = 0;
	return rcm_channel_new(&channel) || rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_channel_close(channel);
	return 0;
}

static struct rcm_event *make_counting(void)
{
	struct rcm_event *event = calloc(1, sizeof(*event));

	assert_non_null(event);
	event->ops = &counting_ops;
	event->id = rcm_id_ref(id);
	event->pub.event = RDMA_CM_EVENT_ADDR_ERROR;
	return event;
}

static void test_event_every_number_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(rcm_event_name(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
	assert_string_equal(rcm_event_name(15), "RDMA_CM_EVENT_TIMEWAIT_EXIT");
	assert_string_equal(rcm_event_name(16), "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
	assert_string_equal(rcm_event_name(17), "RDMA_CM_EVENT_ADDRINFO_ERROR");
	assert_string_equal(rcm_event_name(18), "RDMA_CM_EVENT_USER");
	assert_string_equal(rcm_event_name(19), "RDMA_CM_EVENT_INTERNAL");
	for (unsigned type = 0; type < RCM_EVENT_TYPES; type++)
		assert_memory_equal(rcm_event_name(type), "RDMA_CM_EVENT_", 14);
	assert_string_equal(rcm_event_name(20), "UNKNOWN EVENT");
	assert_string_equal(rcm_event_name(RAI_EVENT_SERVICE), "RAI_EVENT_SERVICE");
	assert_string_equal(rcm_event_name(RAI_EVENT_SERVICE - 1), "UNKNOWN EVENT");
	assert_string_equal(rcm_event_name(RAI_EVENT_SERVICE + 1), "UNKNOWN EVENT");
	assert_string_equal(rcm_event_name((enum rdma_cm_event_type)-1), "UNKNOWN EVENT");
}

static void test_event_of_kernel_always_is_delivered_and_freed_by_its_kind(void **state)
{
	(void)state;
	for (unsigned type = 0; type < RCM_EVENT_TYPES + 2; type++) {
		const struct rcm_event_ops *ops = rcm_event_kernel_ops(type);

		assert_non_null(ops);
		assert_true(ops->deliver && ops->free);
		/* Those that the kernel doesn't have are for nobody. */
		if (type > RDMA_CM_EVENT_TIMEWAIT_EXIT)
			assert_int_equal(ops->deliver(NULL), -ENOSYS);
		else
			assert_ptr_not_equal(ops, rcm_event_kernel_ops((enum rdma_cm_event_type)-1));
	}
}

static void test_event_of_user_carries_what_was_given(void **state)
{
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_user_event(id, -5, UINT64_MAX - 1, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_USER);
	assert_int_equal(event->pub.status, -5);
	assert_true(event->pub.param.arg == UINT64_MAX - 1);
	assert_ptr_equal(event->pub.id, &id->pub);
	assert_null(event->pub.listen_id);
	assert_int_equal(atomic_load(&id->entry.refs), 2);
	rcm_event_discard(event);
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

static void test_event_discarded_is_dropped_and_freed_once(void **state)
{
	struct rcm_event_list list = TAILQ_HEAD_INITIALIZER(list);
	struct rcm_event *one = make_counting(), *two = make_counting();

	(void)state;
	TAILQ_INSERT_TAIL(&list, one, in_channel);
	TAILQ_INSERT_TAIL(&list, two, in_channel);
	rcm_event_discard_all(&list);
	assert_true(TAILQ_EMPTY(&list));
	assert_int_equal(drops, 2);
	assert_int_equal(frees, 2);
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

static void test_event_acked_is_freed_not_dropped(void **state)
{
	struct rcm_event *event = make_counting();

	(void)state;
	rcm_id_taken(id, event);
	assert_int_equal(atomic_load(&id->unacked[0]), 1);
	rcm_event_ack(event);
	assert_int_equal(atomic_load(&id->unacked[0]), 0);
	assert_int_equal(drops, 0);
	assert_int_equal(frees, 1);
}

static void assert_owed(unsigned place)
{
	for (unsigned i = 0; i < RCM_EVENT_PLACES; i++)
		assert_int_equal(atomic_load(&id->unacked_of[i]), i == place);
}

/* What a destroy that waits tells of: also of one that became another. */
static void test_event_of_each_kind_is_owed_until_its_ack(void **state)
{
	(void)state;
	for (unsigned place = 0; place < RCM_EVENT_PLACES; place++) {
		unsigned other = (place + 1) % RCM_EVENT_PLACES;
		struct rcm_event *event = make_counting();

		event->pub.event = rcm_event_at_place(place);
		rcm_id_taken(id, event);
		assert_owed(place);
		rcm_event_retype(event, rcm_event_at_place(other), 0);
		assert_owed(other);
		rcm_event_ack(event);
		assert_owed(RCM_EVENT_PLACES);
	}
}

static struct rcm_event *owed[2];

static void *ack_once_awaited(void *unused)
{
	while (!atomic_load(&id->awaiting))
		sched_yield();
	for (unsigned i = 0; i < 2; i++)
		rcm_event_ack(owed[i]);
	return unused;
}

/* Of the first place and of the last. */
static void wait_for_two(void)
{
	static const unsigned places[2] = { 0, RCM_EVENT_PLACES - 1 };
	pthread_t thread;

	if (set_up(NULL))
		_exit(1);
	for (unsigned i = 0; i < 2; i++) {
		owed[i] = make_counting();
		owed[i]->pub.event = rcm_event_at_place(places[i]);
		rcm_id_taken(id, owed[i]);
	}
	if (pthread_create(&thread, NULL, ack_once_awaited, NULL))
		_exit(2);
	rcm_id_wait_acked(id, 0);
	pthread_join(thread, NULL);
	tear_down(NULL);
}

/* First, as what is logged is known from the first line on. */
static void test_event_that_is_waited_for_is_named_in_the_trace(void **state)
{
	const char *text = logged_by(wait_for_two, "trace", NULL), *rest;

	(void)state;
	rest = strstr(text, " waits for rdma_ack_cm_event() of 1 RDMA_CM_EVENT_ADDR_RESOLVED\n");
	assert_non_null(rest);
	rest = strstr(rest + 1, " waits for ");
	assert_non_null(rest);
	assert_memory_equal(rest, " waits for rdma_ack_cm_event() of 1 RAI_EVENT_SERVICE\n", 54);
	assert_null(strstr(rest + 1, " waits for "));
}

static void test_event_untaken_is_dropped_and_owes_no_ack(void **state)
{
	struct rcm_event *event = make_counting();

	(void)state;
	rcm_id_taken(id, event);
	rcm_event_untake(event);
	assert_int_equal(atomic_load(&id->unacked[0]), 0);
	assert_int_equal(drops, 1);
	assert_int_equal(frees, 1);
}

static void test_event_text_is_its_own_words_cut_to_the_buffer(void **state)
{
	struct rcm_event *event = make_counting();
	char buf[9];

	(void)state;
	assert_int_equal(rcm_event_text(event, buf, sizeof(buf)), 35);
	assert_string_equal(buf, "the name");
	assert_int_equal(rcm_event_text(event, NULL, 0), 35);
	rcm_event_discard(event);
}

static void expect_text(enum rdma_cm_event_type type, int status, const char *text)
{
	struct rcm_event *event;
	char buf[128];

	assert_int_equal(rcm_user_event(id, status, 0, &event), 0);
	event->pub.event = type;
	assert_int_equal(rcm_event_text(event, buf, sizeof(buf)), strlen(text));
	assert_string_equal(buf, text);
	rcm_event_discard(event);
}

static void test_event_without_words_tells_its_status(void **state)
{
	(void)state;
	expect_text(RDMA_CM_EVENT_USER, 0, "Success");
	expect_text(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, "No such device");
	expect_text(RDMA_CM_EVENT_USER, 12345, "status 12345");
	expect_text(RDMA_CM_EVENT_USER, -12345, "status -12345");
	expect_text(RDMA_CM_EVENT_USER, ENODEV, "status 19");
	expect_text(RDMA_CM_EVENT_USER, INT_MIN, "status -2147483648");
	expect_text(RDMA_CM_EVENT_REJECTED, 28, "rejected by the peer, reason 28");
	expect_text(RDMA_CM_EVENT_REJECTED, 1, "rejected by the peer, reason 1");
	expect_text(RDMA_CM_EVENT_REJECTED, 0, "Success");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_that_is_waited_for_is_named_in_the_trace),
		cmocka_unit_test(test_event_every_number_has_its_name),
		cmocka_unit_test(test_event_of_kernel_always_is_delivered_and_freed_by_its_kind),
		cmocka_unit_test_setup_teardown(test_event_of_user_carries_what_was_given, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_discarded_is_dropped_and_freed_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_acked_is_freed_not_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_of_each_kind_is_owed_until_its_ack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_untaken_is_dropped_and_owes_no_ack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_text_is_its_own_words_cut_to_the_buffer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_event_without_words_tells_its_status, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
