/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that an id publishes: what is refused, what is offered, what is told, and who may come in between. */
#include "cm/service.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/adopt.h"
#include "cm/life.h"
#include "cm/migrate.h"
#include "cm/take.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "one_id.h"
#include "test.h"

static struct rai_service service;
static uint64_t registration;

static int set_up_unbound(void **state)
{
	service = (struct rai_service){ .name = "storage" };
	registration = 0;
	return open_id(state);
}

static int set_up(void **state)
{
	int ret = set_up_unbound(state);

	if (!ret)
		bind_id(id, 1, 0);
	return ret;
}

static void start(void)
{
	assert_int_equal(rcm_service_register(id, &service, &registration), 0);
	assert_true(registration != 0);
}

static struct rcm_event *take_from(struct rcm_channel *from, int status, const char *text)
{
	struct rcm_event *event = NULL;
	char words[200];

	assert_int_equal(rcm_channel_get(from, &event), 0);
	assert_ptr_equal(event->pub.id, &id->pub);
	assert_int_equal(event->pub.event, RAI_EVENT_SERVICE);
	assert_int_equal(event->pub.status, status);
	assert_true(event->pub.param.arg == registration);
	assert_true(rcm_event_text(event, words, sizeof(words)) > 0);
	assert_string_equal(words, text);
	return event;
}

static struct rcm_event *take(int status, const char *text)
{
	return take_from(channel, status, text);
}

static void take_nothing(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), -EAGAIN);
}

static void test_service_offers_what_was_given(void **state)
{
	const struct rcm_service_offer *offer;

	(void)state;
	service = (struct rai_service){ .name = "storage", .id = 0x77, .pkey = 0x8001, .lease_s = 30, .data = { 1, [63] = 2 } };
	start();
	offer = rcm_fake_engine_offer();
	assert_string_equal(offer->name, "storage");
	assert_int_equal(offer->id, 0x77);
	assert_int_equal(offer->pkey, 0x8001);
	assert_int_equal(offer->lease_s, 30);
	assert_memory_equal(offer->data, service.data, sizeof(offer->data));
	assert_int_equal(offer->port.raw[15], 1);
}

static void test_service_without_id_lease_or_p_key_has_the_usual_ones(void **state)
{
	(void)state;
	start();
	assert_int_equal(rcm_fake_engine_offer()->id, RDMA_IB_IP_PS_TCP | 7471);
	assert_int_equal(rcm_fake_engine_offer()->lease_s, 120);
	assert_int_equal(rcm_fake_engine_offer()->pkey, 0);
}

static void test_service_without_a_p_key_is_in_the_partition_that_its_id_is_bound_in(void **state)
{
	(void)state;
	bind_id(id, 1, 0x8005);
	start();
	assert_int_equal(rcm_fake_engine_offer()->pkey, 0x8005);
}

static void refused(int error)
{
	assert_int_equal(rcm_service_register(id, &service, &registration), error);
	assert_int_equal(rcm_fake_engine_published(), 0);
	take_nothing();
}

static void test_service_of_wrong_arguments_is_refused(void **state)
{
	char name[70] = "";

	(void)state;
	service.name = NULL;
	refused(-EINVAL);
	service.name = "";
	refused(-EINVAL);
	service.name = "0x77";
	refused(-EINVAL);
	service.name = "99999999999999999999999";
	refused(-EINVAL);
	memset(name, 'n', 64);
	service.name = name;
	refused(-ENAMETOOLONG);
	service.name = "storage";
	service.lease_s = 86401;
	refused(-EINVAL);
	service.lease_s = 0;
	service.reserved[3] = 1;
	refused(-EINVAL);
	service.reserved[3] = 0;
	service.reserved16 = 1;
	refused(-EINVAL);
}

/* The id is bound by an IP address, which has none. */
static void test_service_without_id_of_an_id_bound_to_none_is_refused(void **state)
{
	(void)state;
	id->pub.route.addr.src_storage.ss_family = AF_INET;
	service.id = 0;
	assert_int_equal(rcm_service_register(id, &service, &registration), -EINVAL);
	service.id = 1;
	assert_int_equal(rcm_service_register(id, &service, &registration), 0);
	assert_int_equal(rcm_service_unregister(id, registration), 0);
	rcm_fake_engine_over();
}

static void test_service_with_a_name_of_63_bytes_is_taken(void **state)
{
	char name[64] = "";

	(void)state;
	memset(name, 'n', 63);
	service.name = name;
	start();
	assert_string_equal(rcm_fake_engine_offer()->name, name);
}

static void test_service_with_the_longest_lease_is_taken(void **state)
{
	(void)state;
	service.lease_s = 86400;
	start();
	assert_int_equal(rcm_fake_engine_offer()->lease_s, 86400);
}

static void test_service_of_an_id_that_is_not_bound_is_refused(void **state)
{
	(void)state;
	refused(-EINVAL);
}

static void test_service_at_a_port_without_an_sa_or_access_is_refused(void **state)
{
	(void)state;
	bind_id(id, 2, 0);
	refused(-ENOTSUP);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	bind_id(id, 3, 0);
	refused(-EACCES);
}

static void test_service_of_a_synchronous_id_is_refused(void **state)
{
	struct rcm_id *sync;

	(void)state;
	assert_int_equal(rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &sync), 0);
	bind_id(sync, 1, 0);
	assert_int_equal(rcm_service_register(sync, &service, &registration), -ENOTSUP);
	assert_int_equal(rcm_id_destroy(sync), 0);
}

static void test_service_that_can_not_be_started_leaves_nothing(void **state)
{
	(void)state;
	rcm_fake_engine_refuse_publishing(-EAGAIN);
	refused(-EAGAIN);
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

/* By another thread, when all but the list has been looked at. */
static void test_service_of_an_id_being_destroyed_is_not_started(void **state)
{
	(void)state;
	id->dead = true;
	refused(-EINVAL);
	id->dead = false;
	assert_int_equal(atomic_load(&id->entry.refs), 1);
	assert_true(LIST_EMPTY(&id->services));
}

static void test_service_outcome_is_an_event_with_its_number_and_words(void **state)
{
	(void)state;
	start();
	take_nothing();
	rcm_fake_engine_tell(0, "registered");
	rcm_event_ack(take(0, "registered"));
	take_nothing();
	rcm_fake_engine_tell(-ENOENT, "gone");
	rcm_event_ack(take(-ENOENT, "gone"));
}

static void test_service_told_before_its_call_returned_has_its_number(void **state)
{
	(void)state;
	rcm_fake_engine_tell_early();
	start();
	rcm_event_ack(take(0, "registered"));
}

static void test_service_outcomes_that_nobody_reads_are_the_first_and_the_last(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	rcm_fake_engine_tell(-ENOENT, "gone");
	rcm_fake_engine_tell(0, "again");
	rcm_fake_engine_tell(-EIO, "refused");
	rcm_event_ack(take(0, "registered"));
	rcm_event_ack(take(-EIO, "refused"));
	take_nothing();
}

static void test_service_outcomes_wait_for_acks_and_are_not_lost(void **state)
{
	struct rcm_event *first, *second;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	first = take(0, "registered");
	rcm_fake_engine_tell(-ENOENT, "gone");
	second = take(-ENOENT, "gone");
	rcm_fake_engine_tell(0, "again");
	take_nothing();
	rcm_event_ack(second);
	rcm_event_ack(take(0, "again"));
	rcm_event_ack(first);
	take_nothing();
}

static void test_service_outcome_takes_the_place_of_the_later_one_whichever_was_acked_before(void **state)
{
	struct rcm_event *first;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	first = take(0, "registered");
	rcm_fake_engine_tell(-ENOENT, "gone");
	rcm_event_ack(first);
	rcm_fake_engine_tell(0, "again");
	rcm_fake_engine_tell(-EIO, "refused");
	rcm_event_ack(take(-ENOENT, "gone"));
	rcm_event_ack(take(-EIO, "refused"));
	take_nothing();
}

static void test_service_unregistered_is_stopped_and_tells_nothing_more(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	rcm_fake_engine_tell(-ENOENT, "gone");
	assert_int_equal(rcm_service_unregister(id, registration), 0);
	assert_int_equal(rcm_fake_engine_published(), 0);
	assert_int_equal(rcm_fake_engine_ending(), 1);
	take_nothing();
	assert_int_equal(rcm_service_unregister(id, registration), -ENOENT);
	rcm_fake_engine_over();
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

static void test_service_unregistered_with_an_event_taken_is_freed_by_its_ack(void **state)
{
	struct rcm_event *event;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	event = take(0, "registered");
	assert_int_equal(rcm_service_unregister(id, registration), 0);
	rcm_fake_engine_over();
	rcm_event_ack(event);
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

/* Between the look at the queue and the delivery. */
static void test_service_unregistered_while_its_event_is_being_taken_is_for_nobody(void **state)
{
	struct rcm_event *event;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	assert_int_equal(rcm_channel_take(channel, &event), 0);
	assert_int_equal(rcm_service_unregister(id, registration), 0);
	assert_int_equal(rcm_event_deliver(event), -ENOENT);
	rcm_event_untake(event);
	rcm_fake_engine_over();
	assert_int_equal(atomic_load(&id->entry.refs), 1);
}

static void test_service_of_another_number_is_enoent(void **state)
{
	(void)state;
	start();
	assert_int_equal(rcm_service_unregister(id, registration + 1), -ENOENT);
	assert_int_equal(rcm_fake_engine_published(), 1);
}

static void test_services_of_one_id_are_several_each_with_its_number(void **state)
{
	uint64_t first;

	(void)state;
	start();
	first = registration;
	service.pkey = 0x8001;
	start();
	assert_true(registration != first);
	assert_int_equal(rcm_fake_engine_published(), 2);
	assert_int_equal(rcm_service_unregister(id, first), 0);
	assert_int_equal(rcm_fake_engine_offer()->pkey, 0x8001);
}

static void test_services_end_with_their_id_and_no_event_follows(void **state)
{
	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	start();
	assert_int_equal(rcm_id_destroy(id), 0);
	id = NULL;
	assert_int_equal(rcm_fake_engine_published(), 0);
	assert_int_equal(rcm_fake_engine_ending(), 2);
	take_nothing();
}

static void test_service_events_go_with_an_id_that_moves(void **state)
{
	struct rcm_channel *other;

	(void)state;
	assert_int_equal(rcm_channel_new(&other), 0);
	assert_int_equal(fcntl(other->pub.fd, F_SETFL, O_NONBLOCK), 0);
	start();
	rcm_fake_engine_tell(0, "registered");
	assert_int_equal(rcm_id_migrate(id, other), 0);
	take_nothing();
	rcm_event_ack(take_from(other, 0, "registered"));
	rcm_fake_engine_tell(-EIO, "refused");
	rcm_event_ack(take_from(other, -EIO, "refused"));
	assert_int_equal(rcm_id_destroy(id), 0);
	id = NULL;
	rcm_channel_close(other);
}

/* As rdma_migrate_id(3) says: who goes on publishing without a channel reads the id's own. */
static void test_service_events_of_an_id_that_becomes_synchronous_wait_on_its_own_channel(void **state)
{
	struct rcm_channel *own;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	take_nothing();
	own = id->channel;
	assert_int_equal(poll(&(struct pollfd){ .fd = id->pub.channel->fd, .events = POLLIN }, 1, 0), 1);
	rcm_event_ack(take_from(own, 0, "registered"));
	rcm_fake_engine_tell(-EIO, "refused");
	assert_int_equal(poll(&(struct pollfd){ .fd = id->pub.channel->fd, .events = POLLIN }, 1, 0), 1);
	rcm_event_ack(take_from(own, -EIO, "refused"));
	assert_null(id->pub.event);
	rcm_fake_engine_tell(0, "nobody reads this");
}

static int child_of_a_publisher(void)
{
	struct rcm_event *event;

	rcm_adopt_enter();
	if (rcm_adopt_channel(channel) || rcm_fake_engine_forsaken() != 1 || rcm_fake_engine_published())
		return 1;
	if (rcm_channel_get(channel, &event) != -EAGAIN)
		return 2;
	if (rcm_service_unregister(id, registration) != -ENOENT || rcm_fake_engine_ending())
		return 3;
	if (rcm_service_register(id, &service, &registration))
		return 4;
	rcm_fake_engine_tell(0, "registered");
	if (rcm_channel_get(channel, &event) || event->pub.param.arg != registration)
		return 5;
	rcm_event_ack(event);
	return rcm_id_destroy(id) || rcm_fake_engine_ending() != 1 ? 6 : 0;
}

static void test_service_of_the_parent_is_none_of_the_childs(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	start();
	rcm_fake_engine_tell(0, "registered");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child_of_a_publisher());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_event_ack(take(0, "registered"));
	assert_int_equal(rcm_fake_engine_published(), 1);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, close_id)
#define U(test) cmocka_unit_test_setup_teardown(test, set_up_unbound, close_id)
	const struct CMUnitTest tests[] = {
		T(test_service_offers_what_was_given),
		T(test_service_without_id_lease_or_p_key_has_the_usual_ones),
		U(test_service_without_a_p_key_is_in_the_partition_that_its_id_is_bound_in),
		T(test_service_of_wrong_arguments_is_refused),
		T(test_service_without_id_of_an_id_bound_to_none_is_refused),
		T(test_service_with_a_name_of_63_bytes_is_taken),
		T(test_service_with_the_longest_lease_is_taken),
		U(test_service_of_an_id_that_is_not_bound_is_refused),
		U(test_service_at_a_port_without_an_sa_or_access_is_refused),
		T(test_service_of_a_synchronous_id_is_refused),
		T(test_service_that_can_not_be_started_leaves_nothing),
		T(test_service_of_an_id_being_destroyed_is_not_started),
		T(test_service_outcome_is_an_event_with_its_number_and_words),
		T(test_service_told_before_its_call_returned_has_its_number),
		T(test_service_outcomes_that_nobody_reads_are_the_first_and_the_last),
		T(test_service_outcomes_wait_for_acks_and_are_not_lost),
		T(test_service_outcome_takes_the_place_of_the_later_one_whichever_was_acked_before),
		T(test_service_unregistered_is_stopped_and_tells_nothing_more),
		T(test_service_unregistered_with_an_event_taken_is_freed_by_its_ack),
		T(test_service_unregistered_while_its_event_is_being_taken_is_for_nobody),
		T(test_service_of_another_number_is_enoent),
		T(test_services_of_one_id_are_several_each_with_its_number),
		T(test_services_end_with_their_id_and_no_event_follows),
		T(test_service_events_go_with_an_id_that_moves),
		T(test_service_events_of_an_id_that_becomes_synchronous_wait_on_its_own_channel),
		T(test_service_of_the_parent_is_none_of_the_childs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
