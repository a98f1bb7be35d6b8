/* SPDX-License-Identifier: BSD-2-Clause */
/* An id that asks for records whatever they are for, and removes one: what the engine is asked, and what the id says. */
#include "cm/listing.h"

#include <errno.h>
#include <fcntl.h>

#include "addr/build.h"
#include "cm/life.h"
#include "cm/lookup.h"
#include "cm/migrate.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "one_id.h"
#include "test.h"


static void get(int type, int status, uint64_t arg)
{
	struct rcm_event *event = NULL;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_ptr_equal(event->pub.id, &id->pub);
	assert_int_equal(event->pub.event, type);
	assert_int_equal(event->pub.status, status);
	assert_true(event->pub.param.arg == arg);
	rcm_event_ack(event);
}

static void test_listing_without_a_filter_asks_for_all(void **state)
{
	const struct rcm_question *question = rcm_fake_engine_question();
	struct rdma_addrinfo *list = NULL;

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_listing_start(id, NULL), 0);
	assert_null(question->service);
	assert_int_equal(question->hints.flags, RAI_SA | RAI_NOROUTE);
	assert_true(question->hints.listing);
	assert_false(question->hints.by_id);
	assert_false(question->listing->by_gid || question->listing->by_pkey || question->listing->remove);
	assert_int_equal(question->port.raw[15], 1);
	rcm_fake_engine_resolve(3);
	get(RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0, 3);
	/* A list is no destination. */
	assert_int_equal(id->pub.route.addr.dst_storage.ss_family, AF_UNSPEC);
	assert_int_equal(rcm_lookup_query(id, &list), 0);
	rcm_addrinfo_free(list);
}

static void test_listing_asks_for_what_the_filter_has(void **state)
{
	const struct rai_service_filter filter = {
		.name = "0x10", .id = 7, .gid = { 0xfe, [15] = 9 }, .pkey = 0x8001,
	};
	const struct rcm_question *question = rcm_fake_engine_question();

	(void)state;
	bind_id(id, 1, 0);
	id->options.deadline_ms = 250;
	assert_int_equal(rcm_listing_start(id, &filter), 0);
	assert_string_equal(question->service, "0x10");
	assert_true(question->hints.by_id);
	assert_int_equal(question->hints.service_id, 7);
	assert_true(question->listing->by_gid && question->listing->by_pkey);
	assert_memory_equal(question->listing->gid.raw, filter.gid, 16);
	assert_int_equal(question->listing->pkey, 0x8001);
	assert_int_equal(question->deadline_ms, 250);
	assert_int_equal(rcm_listing_start(id, NULL), -EBUSY);
	rcm_fake_engine_fail(-ENOENT, 0x0300, "none");
	get(RDMA_CM_EVENT_ADDRINFO_ERROR, -ENOENT, 0x0300);
}

static void test_removal_asks_for_the_record_and_is_told_as_a_service(void **state)
{
	const struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 }, .pkey = 0x8001, .name = "x" };
	const struct rcm_question *question = rcm_fake_engine_question();
	struct rdma_addrinfo *list = NULL;

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_listing_remove(id, &record), 0);
	assert_null(question->service);
	assert_true(question->listing->remove && question->listing->by_gid && question->listing->by_pkey);
	assert_memory_equal(question->listing->gid.raw, record.gid, 16);
	assert_int_equal(question->listing->pkey, 0x8001);
	assert_int_equal(question->hints.service_id, 7);
	rcm_fake_engine_resolve(0);
	get(RAI_EVENT_SERVICE, 0, 0);
	assert_int_equal(rcm_lookup_query(id, &list), -ENOENT);
	assert_int_equal(rcm_listing_remove(id, &record), 0);
	rcm_fake_engine_fail(-EIO, 0x0700, "denied");
	get(RAI_EVENT_SERVICE, -EIO, 0);
}

static void test_removal_cancelled_is_told_as_a_service(void **state)
{
	const struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 } };

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_listing_remove(id, &record), 0);
	assert_int_equal(rcm_lookup_cancel(id), 0);
	get(RAI_EVENT_SERVICE, -ECANCELED, 0);
}

static void test_removal_of_what_has_no_id_or_no_gid_is_einval(void **state)
{
	struct rai_service_record record = { .gid = { 0xfe, [15] = 9 } };

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_listing_remove(id, &record), -EINVAL);
	record = (struct rai_service_record){ .id = 7 };
	assert_int_equal(rcm_listing_remove(id, &record), -EINVAL);
}

static void test_removal_of_a_record_with_a_reserved_field_is_einval(void **state)
{
	struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 }, .reserved = { [3] = 1 } };

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_listing_remove(id, &record), -EINVAL);
	record = (struct rai_service_record){ .id = 7, .gid = { 0xfe, [15] = 9 }, .reserved16 = 1 };
	assert_int_equal(rcm_listing_remove(id, &record), -EINVAL);
}

static void test_listing_at_a_port_without_an_sa_is_enotsup(void **state)
{
	const struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 } };

	(void)state;
	bind_id(id, 2, 0);
	assert_int_equal(rcm_listing_start(id, NULL), -ENOTSUP);
	assert_int_equal(rcm_listing_remove(id, &record), -ENOTSUP);
}

static void test_removal_where_umad_may_not_be_used_is_eacces(void **state)
{
	const struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 } };

	(void)state;
	bind_id(id, 3, 0);
	assert_int_equal(rcm_listing_remove(id, &record), -EACCES);
}

/* As any call that would wait; what was asked for comes later. */
static void test_listing_by_a_synchronous_id_with_o_nonblock_comes_later(void **state)
{
	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	assert_int_equal(fcntl(id->pub.channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rai_service_list(&id->pub, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(rcm_fake_engine_pending(), 1);
	assert_int_equal(rcm_fake_engine_cancels(), 0);
	assert_int_equal(rai_service_remove(&id->pub, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_removal_by_a_synchronous_id_is_enotsup(void **state)
{
	const struct rai_service_record record = { .id = 7, .gid = { 0xfe, [15] = 9 } };

	(void)state;
	bind_id(id, 1, 0);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	assert_int_equal(rcm_listing_remove(id, &record), -ENOTSUP);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_id, close_id)
	const struct CMUnitTest tests[] = {
		T(test_listing_without_a_filter_asks_for_all),
		T(test_listing_asks_for_what_the_filter_has),
		T(test_removal_asks_for_the_record_and_is_told_as_a_service),
		T(test_removal_cancelled_is_told_as_a_service),
		T(test_removal_of_what_has_no_id_or_no_gid_is_einval),
		T(test_removal_of_a_record_with_a_reserved_field_is_einval),
		T(test_listing_at_a_port_without_an_sa_is_enotsup),
		T(test_removal_where_umad_may_not_be_used_is_eacces),
		T(test_listing_by_a_synchronous_id_with_o_nonblock_comes_later),
		T(test_removal_by_a_synchronous_id_is_enotsup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
