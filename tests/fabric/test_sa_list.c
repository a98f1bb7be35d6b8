/* SPDX-License-Identifier: BSD-2-Clause */
/* The SA's records whatever they are for: listed by what they have, and removed, as host hca2 of the fabric. */
#include <errno.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdio.h>

#include "fabric.h"
#include "test.h"

enum { MANY = 5000 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct rai_service_record records[MANY + 8];

static void bind_to_own_port(struct rdma_cm_id *made)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };

	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_bind_addr(made, (struct sockaddr *)&own), 0);
}

static int setup(void **state)
{
	(void)state;
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_IB))
		return -1;
	bind_to_own_port(id);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	return 0;
}

/* The next event, acknowledged. */
static struct rdma_cm_event next_event(char text[200])
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event, seen;

	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	seen = *event;
	if (text)
		rai_event_text(event, text, 200);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return seen;
}

/* How many there are, the first of them in records. */
static unsigned fetch(struct rdma_cm_id *of)
{
	struct rdma_addrinfo *list;
	unsigned count = 0;

	assert_int_equal(rdma_query_addrinfo(of, &list), 0);
	for (struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next) {
		assert_int_equal(ai->ai_route_len, 0);
		assert_true(count < sizeof(records) / sizeof(*records));
		assert_int_equal(rai_addrinfo_service(ai, &records[count++]), 0);
	}
	rdma_freeaddrinfo(list);
	return count;
}

static unsigned list(const struct rai_service_filter *filter)
{
	struct rdma_cm_event event;
	unsigned count;

	assert_int_equal(rai_service_list(id, filter), 0);
	event = next_event(NULL);
	if (event.event == RDMA_CM_EVENT_ADDRINFO_ERROR) {
		assert_int_equal(event.status, -ENOENT);
		return 0;
	}
	assert_int_equal(event.event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	count = fetch(id);
	assert_int_equal(event.param.arg, count);
	return count;
}

static struct rai_service_filter named(const char *name)
{
	return (struct rai_service_filter){ .name = name };
}

static unsigned list_named(const char *name)
{
	struct rai_service_filter filter = named(name);

	return list(&filter);
}

static int remove_record(const struct rai_service_record *record, char text[200])
{
	struct rdma_cm_event event;

	assert_int_equal(rai_service_remove(id, record), 0);
	event = next_event(text);
	assert_int_equal(event.event, RAI_EVENT_SERVICE);
	assert_int_equal(event.param.arg, 0);
	return event.status;
}

#define NAME_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_list_of_a_subnet_has_every_record_whole_and_in_order(void **state)
{
	unsigned char gid[16];

	(void)state;
	assert_int_equal(list(NULL), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n storage -i 0x20 -l 600"), 0);
	assert_int_equal(rcm_fabric_records("hca1", "-n " NAME_64 " -i 0x30"), 0);
	assert_int_equal(rcm_fabric_records("hca1", "-i 0x10"), 0);
	assert_int_equal(list(NULL), 3);
	rcm_fabric_gid(1, gid);
	assert_int_equal(records[0].id, 0x10);
	assert_string_equal(records[0].name, "");
	assert_memory_equal(records[0].gid, gid, 16);
	assert_int_equal(records[1].id, 0x30);
	assert_string_equal(records[1].name, NAME_64);
	assert_true(records[1].lease_s == UINT32_MAX);
	rcm_fabric_gid(3, gid);
	assert_int_equal(records[2].id, 0x20);
	assert_int_equal(records[2].lease_s, 600);
	assert_int_equal(records[2].pkey, 0xffff);
	assert_memory_equal(records[2].gid, gid, 16);
}

static void test_list_by_what_a_record_has_leaves_out_the_others(void **state)
{
	struct rai_service_filter filter = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n a -i 0x10"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n a -i 0x20"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n a -i 0x20 -p 0x7fff"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n 0x20 -i 0x40"), 0);
	assert_int_equal(list_named("a"), 3);
	assert_int_equal(list_named("0x20"), 1);
	assert_int_equal(list_named("A"), 0);
	filter.id = 0x20;
	assert_int_equal(list(&filter), 2);
	filter.pkey = 0x7fff;
	assert_int_equal(list(&filter), 1);
	assert_int_equal(records[0].pkey, 0x7fff);
	filter = named("a");
	rcm_fabric_gid(3, filter.gid);
	assert_int_equal(list(&filter), 2);
	filter.name = NULL;
	assert_true(list(&filter) >= 3);
	for (unsigned i = 0; i < 3; i++)
		assert_memory_equal(records[i].gid, filter.gid, 16);
	filter.id = 0x77;
	assert_int_equal(list(&filter), 0);
	assert_int_equal(list_named(&NAME_64[1]), 0);
}

/* More than a resolution has. */
static void test_list_of_thousands_has_them_all(void **state)
{
	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n many -i 0x100000 -c %d", MANY), 0);
	assert_int_equal(list_named("many"), MANY);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(records[i].id, 0x100000 + i);
	assert_int_equal(rcm_fabric_records("hca1", "-d -i 0x100000 -c %d", MANY), 0);
}

static void test_list_on_a_synchronous_id_is_there_when_the_call_returns(void **state)
{
	struct rai_service_filter filter = named("synchronous");
	struct rdma_cm_id *sync;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n synchronous -i 0x50"), 0);
	assert_int_equal(rdma_create_id(NULL, &sync, NULL, RDMA_PS_IB), 0);
	bind_to_own_port(sync);
	assert_int_equal(rai_service_list(sync, &filter), 0);
	assert_int_equal(fetch(sync), 1);
	filter.id = 0x51;
	assert_int_equal(rai_service_list(sync, &filter), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(rdma_destroy_id(sync), 0);
}

static void test_list_at_a_silent_sa_ends_at_its_deadline_or_when_cancelled(void **state)
{
	struct rdma_cm_event event;
	uint32_t ms = 300;
	char text[200];

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	assert_int_equal(rai_service_list(id, NULL), 0);
	assert_int_equal(rai_service_list(id, NULL), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(rai_cancel(id), 0);
	event = next_event(text);
	assert_int_equal(event.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(event.status, -ECANCELED);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
	assert_int_equal(rai_service_list(id, NULL), 0);
	event = next_event(text);
	assert_int_equal(event.status, -ETIMEDOUT);
	assert_non_null(strstr(text, "services at the SA: no answer from the SA"));
	assert_int_equal(rcm_fabric("sm continue"), 0);
}

static void test_record_of_another_host_is_removed_and_no_other(void **state)
{
	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n stale -i 0x60"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n stale -i 0x60"), 0);
	assert_int_equal(list_named("stale"), 2);
	assert_int_equal(remove_record(&records[1], NULL), 0);
	assert_int_equal(list_named("stale"), 1);
	assert_int_equal(records[0].gid[15], 1);
}

static void test_record_that_is_not_there_is_enoent_to_remove(void **state)
{
	struct rai_service_record record = { .id = 0x61, .pkey = 0xffff };
	char text[200];

	(void)state;
	rcm_fabric_gid(1, record.gid);
	assert_int_equal(remove_record(&record, text), -ENOENT);
	assert_non_null(strstr(text, "SA"));
}

/* What it was registered with random keys by does not protect it, and it is set again: the publisher sees it. */
static void test_record_of_a_publisher_that_runs_comes_back(void **state)
{
	struct rai_service service = { .name = "alive", .id = 0x62, .lease_s = 12 };
	struct rdma_cm_id *publisher;
	uint64_t registration;
	int status = -ENOENT;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &publisher, NULL, RDMA_PS_IB), 0);
	bind_to_own_port(publisher);
	assert_int_equal(rai_service_register(publisher, &service, &registration), 0);
	assert_int_equal(next_event(NULL).status, 0);
	assert_int_equal(list_named("alive"), 1);
	assert_int_equal(remove_record(&records[0], NULL), 0);
	/* Told as lost first. */
	for (unsigned i = 0; status && i < 5; i++) {
		struct rdma_cm_event event = next_event(NULL);

		assert_int_equal(event.event, RAI_EVENT_SERVICE);
		assert_true(event.param.arg == registration);
		status = event.status;
	}
	assert_int_equal(list_named("alive"), 1);
	assert_int_equal(rdma_destroy_id(publisher), 0);
}

/* Of a P_Key that is told OpenSM asks whether the record's port is there. */
static void test_record_of_a_host_that_has_gone_is_removed(void **state)
{
	int status = 0;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n orphan -i 0x63"), 0);
	assert_int_equal(list_named("orphan"), 1);
	assert_int_equal(rcm_fabric("link down hca3"), 0);
	/* Until the SM has seen it: a registration for the port is refused then. */
	for (unsigned i = 0; !status && i < 600; i++) {
		status = rcm_fabric_records("hca1", "-n probe -i 0x64 -g fe80::10:5 -l 1 2>/dev/null");
		if (!status)
			poll(NULL, 0, 100);
	}
	assert_int_equal(status, 1);
	assert_int_equal(list_named("orphan"), 1);
	assert_int_equal(remove_record(&records[0], NULL), 0);
	assert_int_equal(list_named("orphan"), 0);
	assert_int_equal(rcm_fabric("link up hca3"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_list_of_a_subnet_has_every_record_whole_and_in_order),
		TEST(test_list_by_what_a_record_has_leaves_out_the_others),
		TEST(test_list_of_thousands_has_them_all),
		TEST(test_list_on_a_synchronous_id_is_there_when_the_call_returns),
		TEST(test_list_at_a_silent_sa_ends_at_its_deadline_or_when_cancelled),
		TEST(test_record_of_another_host_is_removed_and_no_other),
		TEST(test_record_that_is_not_there_is_enoent_to_remove),
		TEST(test_record_of_a_publisher_that_runs_comes_back),
		TEST(test_record_of_a_host_that_has_gone_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
