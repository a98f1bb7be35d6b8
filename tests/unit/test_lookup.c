/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolutions of an id: one event each, results handed over once, cancel and destroy at every moment. */
#include "cm/lookup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "addr/build.h"
#include "cm/heir.h"
#include "cm/life.h"
#include "cm/migrate.h"
#include "cm/option.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "one_id.h"
#include "test.h"

static const struct rdma_addrinfo sa_hints = { .ai_flags = RAI_SA };

static void start(void)
{
	assert_int_equal(rcm_lookup_start(id, "host.test", "7471", NULL), 0);
}

static struct rcm_event *get(void)
{
	struct rcm_event *event = NULL;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_ptr_equal(event->pub.id, &id->pub);
	return event;
}

static void get_resolved(uint64_t results)
{
	struct rcm_event *event = get();

	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(event->pub.status, 0);
	assert_int_equal(event->pub.param.arg, results);
	rcm_event_ack(event);
}

static void get_nothing(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), -EAGAIN);
}

static void query_nothing(void)
{
	struct rdma_addrinfo *list = NULL;

	assert_int_equal(rcm_lookup_query(id, &list), -ENOENT);
	assert_null(list);
}

static void test_lookup_asks_with_what_its_id_accepts(void **state)
{
	uint32_t full = 1;

	(void)state;
	start();
	assert_null(rcm_fake_engine_question()->accept);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_FULL, &full, sizeof(full)), 0);
	start();
	assert_non_null(rcm_fake_engine_question()->accept);
	assert_ptr_equal(rcm_fake_engine_question()->accept, id->options.accept);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

static void test_lookup_resolved_hands_over_all_results_once(void **state)
{
	struct rdma_addrinfo *list;
	unsigned count = 0;

	(void)state;
	start();
	get_nothing();
	query_nothing();
	rcm_fake_engine_resolve(3);
	query_nothing();
	get_resolved(3);
	assert_int_equal(rcm_lookup_query(id, &list), 0);
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next)
		count++;
	assert_int_equal(count, 3);
	assert_int_equal(rcm_sockaddr_port(list->ai_dst_addr), htons(7471));
	rcm_addrinfo_free(list);
	query_nothing();
	get_nothing();
	assert_int_equal(rcm_fake_engine_cancels(), 0);
}

static void test_lookup_asks_what_was_asked_with_the_options_of_the_id(void **state)
{
	const struct rcm_question *question = rcm_fake_engine_question();
	struct rdma_addrinfo hints = { .ai_flags = RAI_DNS, .ai_family = AF_INET6 };

	(void)state;
	start();
	assert_string_equal(question->node, "host.test");
	assert_string_equal(question->service, "7471");
	assert_int_equal(question->deadline_ms, RCM_DEADLINE_DEFAULT);
	assert_false(question->fresh);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
	id->options = (struct rcm_options){ 250, true, RCM_DNS_HOSTS };
	assert_int_equal(rcm_lookup_start(id, "two.test", NULL, &hints), 0);
	assert_int_equal(question->deadline_ms, 250);
	assert_true(question->fresh);
	assert_int_equal(question->source, RCM_DNS_HOSTS);
	assert_int_equal(question->hints.family, AF_INET6);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

/* F20 */
static void test_lookup_failed_says_negative_errno_code_and_words(void **state)
{
	struct rcm_event *event;
	char text[64];

	(void)state;
	start();
	rcm_fake_engine_fail(-ENOENT, (uint64_t)EAI_NONAME, "no such host");
	event = get();
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(event->pub.status, -ENOENT);
	assert_true(event->pub.param.arg == (uint64_t)EAI_NONAME);
	assert_int_equal(rcm_event_text(event, text, sizeof(text)), 12);
	assert_string_equal(text, "no such host");
	rcm_event_ack(event);
	query_nothing();
	get_nothing();
}

static void test_lookup_that_ends_while_it_starts_gives_one_event(void **state)
{
	(void)state;
	rcm_fake_engine_immediate(true);
	start();
	get_resolved(1);
	get_nothing();
	start();
	get_resolved(1);
}

static void test_lookup_not_started_leaves_no_event_and_may_be_repeated(void **state)
{
	(void)state;
	rcm_fake_engine_refuse(-EAGAIN);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), -EAGAIN);
	get_nothing();
	rcm_fake_engine_refuse(0);
	start();
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

static void test_lookup_with_bad_arguments_never_reaches_the_engine(void **state)
{
	(void)state;
	assert_int_equal(rcm_lookup_start(id, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(rcm_lookup_start(id, "", "1", NULL), -EINVAL);
	assert_null(rcm_fake_engine_question()->node);
	get_nothing();
}

static void test_lookup_is_busy_until_its_event_is_taken(void **state)
{
	struct rcm_event *event;

	(void)state;
	start();
	assert_int_equal(rcm_lookup_start(id, "other.test", NULL, NULL), -EBUSY);
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_lookup_start(id, "other.test", NULL, NULL), -EBUSY);
	event = get();
	assert_int_equal(rcm_lookup_start(id, "other.test", NULL, NULL), 0);
	rcm_event_ack(event);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

static void test_lookup_started_again_gives_up_what_was_not_queried(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_resolve(2);
	get_resolved(2);
	start();
	query_nothing();
	rcm_fake_engine_fail(-ENOENT, 0, "");
	rcm_event_ack(get());
	query_nothing();
}

static void test_lookup_queried_without_memory_can_be_queried_again(void **state)
{
	struct rdma_addrinfo *list = NULL;

	(void)state;
	start();
	rcm_fake_engine_resolve(1);
	get_resolved(1);
	rcm_fake_engine_no_memory();
	assert_int_equal(rcm_lookup_query(id, &list), -ENOMEM);
	assert_null(list);
	assert_int_equal(rcm_lookup_query(id, &list), 0);
	rcm_addrinfo_free(list);
}

static void test_lookup_cancelled_ends_with_ecanceled(void **state)
{
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_lookup_cancel(id), -ENOENT);
	start();
	assert_int_equal(rcm_lookup_cancel(id), 0);
	event = get();
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(event->pub.status, -ECANCELED);
	rcm_event_ack(event);
	assert_int_equal(rcm_lookup_cancel(id), -ENOENT);
	get_nothing();
}

static void test_lookup_cancelled_after_its_outcome_was_queued_keeps_it(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_lookup_cancel(id), 0);
	get_resolved(1);
	get_nothing();
}

static void test_lookup_cancelled_twice_is_cancelled_once(void **state)
{
	(void)state;
	rcm_fake_engine_hold_cancels(true);
	start();
	assert_int_equal(rcm_lookup_cancel(id), 0);
	assert_int_equal(rcm_lookup_cancel(id), 0);
	assert_int_equal(rcm_fake_engine_cancels(), 1);
	rcm_fake_engine_fail(-ECANCELED, 0, "");
	rcm_event_ack(get());
	get_nothing();
}

/* F13: no event, no wait; the engine's answer comes to nobody. */
static void test_lookup_of_a_destroyed_id_is_cancelled_without_event(void **state)
{
	(void)state;
	rcm_fake_engine_hold_cancels(true);
	start();
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(rcm_fake_engine_cancels(), 1);
	rcm_fake_engine_resolve(1);
	get_nothing();
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

/* Between the moment that no event is queued any more and the cancelling. */
static void test_lookup_ending_in_the_middle_of_destroy_is_forgotten(void **state)
{
	(void)state;
	start();
	rcm_lock_acquire(&id->lock);
	id->dead = true;
	rcm_lock_release(&id->lock);
	rcm_fake_engine_resolve(1);
	assert_null(id->lookup);
	rcm_lookup_abandon(id);
	id->dead = false;
	get_nothing();
}

/* F35: nothing is touched afterwards, not even where the channel is gone too. */
static void test_lookup_answered_after_its_channel_is_closed_hurts_nobody(void **state)
{
	(void)state;
	rcm_fake_engine_hold_cancels(true);
	start();
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(channel);
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_channel_new(&channel), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

static void test_lookup_with_queued_event_is_dropped_by_destroy(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_id_destroy(id), 0);
	get_nothing();
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
}

static void test_lookup_abandoned_with_queued_event_leaves_the_id_free(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_resolve(1);
	rcm_lookup_abandon(id);
	get_nothing();
	start();
	rcm_lookup_abandon(id);
	get_nothing();
	query_nothing();
}

static bool is_readable(const struct rcm_channel *c)
{
	struct pollfd p = { .fd = c->pub.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void nobody_is_woken(void)
{
	assert_false(is_readable(channel));
}

static void test_lookups_that_end_together_wake_once_all_are_there(void **state)
{
	struct rcm_event *event;
	struct rcm_id *other;

	(void)state;
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	start();
	assert_int_equal(rcm_lookup_start(other, "other.test", "7471", NULL), 0);
	rcm_fake_engine_resolve_all(nobody_is_woken);
	assert_true(is_readable(channel));
	get_resolved(1);
	assert_int_equal(rcm_channel_get(channel, &event), 0);
	rcm_event_ack(event);
	get_nothing();
	assert_false(is_readable(channel));
	rcm_id_destroy(other);
}

/* The last goes to another channel: what came before shows all the same. */
static void test_lookups_that_end_together_show_on_each_channel(void **state)
{
	struct rcm_channel *second;
	struct rcm_id *other;

	(void)state;
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(rcm_id_new(second, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	start();
	assert_int_equal(rcm_lookup_start(other, "other.test", "7471", NULL), 0);
	rcm_fake_engine_resolve_all(nobody_is_woken);
	assert_true(is_readable(channel));
	assert_true(is_readable(second));
	get_resolved(1);
	rcm_id_destroy(other);
	rcm_channel_close(second);
}

/* And where nobody wants the last. */
static void test_lookups_that_end_together_show_without_the_last(void **state)
{
	struct rcm_id *other;

	(void)state;
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	start();
	assert_int_equal(rcm_lookup_start(other, "other.test", "7471", NULL), 0);
	rcm_fake_engine_hold_cancels(true);
	rcm_id_destroy(other);
	rcm_fake_engine_resolve_all(nobody_is_woken);
	assert_true(is_readable(channel));
	get_resolved(1);
}

static void *end_burst(void *arg)
{
	rcm_fake_engine_end_burst();
	return arg;
}

static void another_thread_ends_its_own(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, end_burst, NULL), 0);
	pthread_join(thread, NULL);
	nobody_is_woken();
}

/* As one that ends what came late to an engine that was lost, while the next engine's is at work. */
static void test_lookups_that_end_together_show_by_their_own_thread(void **state)
{
	struct rcm_id *other;

	(void)state;
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	start();
	assert_int_equal(rcm_lookup_start(other, "other.test", "7471", NULL), 0);
	rcm_fake_engine_resolve_all(another_thread_ends_its_own);
	assert_true(is_readable(channel));
	get_resolved(1);
	rcm_id_destroy(other);
}

static void test_lookup_of_a_migrated_id_ends_on_the_new_channel(void **state)
{
	struct rcm_channel *first = channel;

	(void)state;
	start();
	assert_int_equal(rcm_channel_new(&channel), 0);
	assert_int_equal(fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	rcm_channel_close(first);
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

/* As the child of a fork has it, until its channel is used there. */
static void test_lookup_of_the_parents_rests_with_its_channel(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_rest();
	rcm_lookup_renew(id, true);
	assert_ptr_equal(rcm_channel_next_resting(channel), id);
	rcm_id_put(id);
	assert_null(rcm_channel_next_resting(channel));
	rcm_fake_engine_resolve(1);
	get_resolved(1);
}

static void test_lookup_of_a_service_asks_the_port_that_the_id_is_bound_to(void **state)
{
	const struct rcm_question *question = rcm_fake_engine_question();

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_lookup_start(id, NULL, "lustre", &sa_hints), 0);
	assert_int_equal(question->port.raw[15], 1);
	assert_string_equal(question->sa->name, "fake");
	rcm_fake_engine_resolve(2);
	assert_int_equal(id->pub.route.addr.dst_addr.sa_family, 0);
	get_resolved(2);
	/* The first record is where rdma_resolve_route() goes. */
	assert_int_equal(id->pub.route.addr.dst_addr.sa_family, AF_INET);
	assert_int_equal(id->pub.route.addr.dst_sin.sin_addr.s_addr, htonl(0xC0000201));
	/* By way of its address, which nobody has resolved yet. */
	assert_true(id->chain.address_due);
}

static void test_lookup_of_a_service_that_fails_leaves_the_peer_address_alone(void **state)
{
	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_lookup_start(id, NULL, "lustre", &sa_hints), 0);
	rcm_fake_engine_fail(-ENOENT, 0, "none");
	rcm_event_ack(get());
	assert_int_equal(id->pub.route.addr.dst_addr.sa_family, 0);
	assert_false(id->chain.address_due);
}

static void test_lookup_of_a_service_needs_a_usable_infiniband_port(void **state)
{
	(void)state;
	assert_int_equal(rcm_lookup_start(id, NULL, "lustre", &sa_hints), -EINVAL);
	bind_id(id, 2, 0);
	assert_int_equal(rcm_lookup_start(id, NULL, "lustre", &sa_hints), -ENOTSUP);
	rcm_id_destroy(id);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	bind_id(id, 3, 0);
	assert_int_equal(rcm_lookup_start(id, NULL, "lustre", &sa_hints), -EACCES);
	get_nothing();
}

static void test_lookup_of_a_name_leaves_the_peer_address_alone(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_resolve(1);
	get_resolved(1);
	assert_int_equal(id->pub.route.addr.dst_addr.sa_family, 0);
	assert_false(id->chain.address_due);
}

/* ---- F3: one thread takes, queries and acks while another resolves, cancels or destroys ---- */

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 20000 };
#else
enum { ROUNDS = 100000 };
#endif

static atomic_bool stop;
static atomic_uint events, lists;

static void *take_query_ack(void *arg)
{
	struct rdma_addrinfo *list;
	struct rcm_event *event;

	(void)arg;
	while (!atomic_load(&stop)) {
		if (rcm_channel_get(channel, &event)) {
			sched_yield();
			continue;
		}
		atomic_fetch_add(&events, 1);
		if (!rcm_lookup_query(rcm_id_of(event->pub.id), &list)) {
			atomic_fetch_add(&lists, 1);
			rcm_addrinfo_free(list);
		}
		rcm_event_ack(event);
	}
	return NULL;
}

/* F3: until the ack the id is whole; a result goes to one caller, or to none. */
static void test_lookup_queried_beside_resolve_and_destroy_has_one_owner(void **state)
{
	pthread_t reader;

	(void)state;
	atomic_store(&stop, false);
	rcm_fake_engine_immediate(true);
	assert_int_equal(pthread_create(&reader, NULL, take_query_ack, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		int ret = rcm_lookup_start(id, "host.test", NULL, NULL);

		assert_true(!ret || ret == -EBUSY);
		if (i % 3 == 0)
			rcm_lookup_cancel(id);
		if (i % 7 == 0) {
			rcm_id_destroy(id);
			assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
		}
	}
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
	assert_true(atomic_load(&events) >= atomic_load(&lists));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_id, close_id)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lookup_asks_with_what_its_id_accepts),
		TEST(test_lookup_resolved_hands_over_all_results_once),
		TEST(test_lookup_asks_what_was_asked_with_the_options_of_the_id),
		TEST(test_lookup_failed_says_negative_errno_code_and_words),
		TEST(test_lookup_that_ends_while_it_starts_gives_one_event),
		TEST(test_lookup_not_started_leaves_no_event_and_may_be_repeated),
		TEST(test_lookup_with_bad_arguments_never_reaches_the_engine),
		TEST(test_lookup_is_busy_until_its_event_is_taken),
		TEST(test_lookup_started_again_gives_up_what_was_not_queried),
		TEST(test_lookup_queried_without_memory_can_be_queried_again),
		TEST(test_lookup_cancelled_ends_with_ecanceled),
		TEST(test_lookup_cancelled_after_its_outcome_was_queued_keeps_it),
		TEST(test_lookup_cancelled_twice_is_cancelled_once),
		TEST(test_lookup_of_a_destroyed_id_is_cancelled_without_event),
		TEST(test_lookup_ending_in_the_middle_of_destroy_is_forgotten),
		TEST(test_lookup_answered_after_its_channel_is_closed_hurts_nobody),
		TEST(test_lookup_with_queued_event_is_dropped_by_destroy),
		TEST(test_lookup_abandoned_with_queued_event_leaves_the_id_free),
		TEST(test_lookups_that_end_together_wake_once_all_are_there),
		TEST(test_lookups_that_end_together_show_on_each_channel),
		TEST(test_lookups_that_end_together_show_without_the_last),
		TEST(test_lookups_that_end_together_show_by_their_own_thread),
		TEST(test_lookup_of_a_migrated_id_ends_on_the_new_channel),
		TEST(test_lookup_of_the_parents_rests_with_its_channel),
		TEST(test_lookup_of_a_service_asks_the_port_that_the_id_is_bound_to),
		TEST(test_lookup_of_a_service_that_fails_leaves_the_peer_address_alone),
		TEST(test_lookup_of_a_service_needs_a_usable_infiniband_port),
		TEST(test_lookup_of_a_name_leaves_the_peer_address_alone),
		TEST(test_lookup_queried_beside_resolve_and_destroy_has_one_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
