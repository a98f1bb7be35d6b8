/* SPDX-License-Identifier: BSD-2-Clause */
/* RAI_SA through the library, as host hca2 of the fabric: what an application sees. */
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <poll.h>
#include <rdma/rai.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fabric.h"
#include "test.h"
#include "least.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static struct sockaddr_ib address_of(unsigned host)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB };

	rcm_fabric_gid(host, ib.sib_addr.sib_raw);
	return ib;
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *on)
{
	struct sockaddr_ib own = address_of(2);
	struct rdma_cm_id *new = NULL;

	assert_int_equal(rdma_create_id(on, &new, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(new, (struct sockaddr *)&own), 0);
	return new;
}

static int setup(void **state)
{
	(void)state;
	channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	id = bound_id(channel);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	return 0;
}

static void ask(struct rdma_cm_id *of, const char *service, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | flags };

	assert_int_equal(rdma_resolve_addrinfo(of, NULL, service, &hints), 0);
}

static void set_option(struct rdma_cm_id *of, int option, uint32_t value)
{
	assert_int_equal(rdma_set_option(of, RDMA_OPTION_RAI, option, &value, sizeof(value)), 0);
}

/* The next event, which must come within 20 s, and be of this kind and status; acked. Returns its argument. */
static uint64_t expect(struct rdma_cm_id *of, enum rdma_cm_event_type kind, int status)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event, seen;

	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	seen = *event;
	/* Before anything can fail: the end of the test destroys the id, which waits for this. */
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(seen.status, status);
	assert_int_equal(seen.event, kind);
	assert_ptr_equal(seen.id, of);
	return seen.param.arg;
}

static struct rdma_addrinfo *resolved(struct rdma_cm_id *of, uint64_t *ret_found)
{
	struct rdma_addrinfo *list = NULL;

	*ret_found = expect(of, RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
	assert_int_equal(rdma_query_addrinfo(of, &list), 0);
	return list;
}

static unsigned length(const struct rdma_addrinfo *list)
{
	unsigned n = 0;

	for (; list; list = list->ai_next)
		n++;
	return n;
}

/* F29: no IP address is needed or made up, and each part of the record comes through. */
static void test_resolve_service_by_name_fills_every_field(void **state)
{
	struct sockaddr_ib own = address_of(2), there = address_of(3), *dst, *src;
	struct rdma_addrinfo *list;
	struct rai_service_record record;
	struct ibv_path_data *path;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n whole -i 0x1000000000000042 -p 0x7fff -l 600"), 0);
	ask(id, "whole", 0);
	list = resolved(id, &found);
	assert_int_equal(found, 1);
	assert_null(list->ai_next);
	assert_int_equal(list->ai_flags, RAI_SA);
	assert_int_equal(list->ai_family, AF_IB);
	assert_int_equal(list->ai_port_space, RDMA_PS_IB);
	assert_int_equal(list->ai_dst_len, sizeof(*dst));
	dst = (struct sockaddr_ib *)list->ai_dst_addr;
	assert_int_equal(dst->sib_family, AF_IB);
	assert_int_equal(be16toh(dst->sib_pkey), 0x7fff);
	assert_int_equal(be64toh(dst->sib_sid), 0x1000000000000042);
	assert_int_equal(dst->sib_sid_mask, UINT64_MAX);
	assert_memory_equal(&dst->sib_addr, &there.sib_addr, sizeof(dst->sib_addr));
	src = (struct sockaddr_ib *)list->ai_src_addr;
	assert_non_null(src);
	assert_memory_equal(&src->sib_addr, &own.sib_addr, sizeof(src->sib_addr));
	assert_string_equal(list->ai_dst_canonname, "whole");
	assert_int_equal(rai_addrinfo_service(list, &record), 0);
	assert_int_equal(record.id, 0x1000000000000042);
	assert_memory_equal(record.gid, &there.sib_addr, sizeof(record.gid));
	assert_int_equal(record.pkey, 0x7fff);
	assert_int_equal(record.lease_s, 600);
	assert_string_equal(record.name, "whole");
	assert_int_equal(list->ai_route_len, sizeof(*path));
	path = list->ai_route;
	assert_memory_equal(&path->path.dgid, &there.sib_addr, 16);
	assert_memory_equal(&path->path.sgid, &own.sib_addr, 16);
	assert_int_not_equal(path->path.dlid, 0);
	rdma_freeaddrinfo(list);
}

static void test_resolve_service_by_id_in_every_notation_of_c(void **state)
{
	static const char *const notations[] = { "0x2000", "0X2000", "8192", "020000" };
	struct rdma_addrinfo *list;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n by-id -i 0x2000"), 0);
	for (unsigned i = 0; i < sizeof(notations) / sizeof(notations[0]); i++) {
		ask(id, notations[i], RAI_NOROUTE);
		list = resolved(id, &found);
		assert_int_equal(found, 1);
		assert_int_equal(be64toh(((struct sockaddr_ib *)list->ai_dst_addr)->sib_sid), 0x2000);
		rdma_freeaddrinfo(list);
	}
}

static void test_resolve_service_with_many_records_lists_them_all(void **state)
{
	static const unsigned counts[] = { 1, 2, 3, 50, 500 };
	struct rdma_addrinfo *list;
	uint64_t found;

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "list-%u", counts[i]);
		assert_int_equal(rcm_fabric_records("hca1", "-n %s -i 0x100000 -c %u", name, counts[i]), 0);
		ask(id, name, RAI_NOROUTE);
		list = resolved(id, &found);
		assert_int_equal(found, counts[i]);
		assert_int_equal(length(list), counts[i]);
		assert_int_equal(list->ai_route_len, 0);
		rdma_freeaddrinfo(list);
		assert_int_equal(rcm_fabric_records("hca1", "-d -n %s -i 0x100000 -c %u", name, counts[i]), 0);
	}
}

static void test_resolve_service_on_several_hosts_has_a_route_to_each(void **state)
{
	static const char *const hosts[] = { "hca1", "hca2", "hca3" };
	struct rdma_addrinfo *list;
	uint64_t found;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rcm_fabric_records(hosts[i], "-n spread -i 0x3000"), 0);
	ask(id, "spread", 0);
	list = resolved(id, &found);
	assert_int_equal(found, 3);
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next) {
		struct sockaddr_ib *dst = (struct sockaddr_ib *)each->ai_dst_addr;
		struct ibv_path_data *path = each->ai_route;

		assert_int_equal(each->ai_route_len, sizeof(*path));
		assert_memory_equal(&path->path.dgid, &dst->sib_addr, 16);
	}
	rdma_freeaddrinfo(list);
}

static void test_resolve_service_with_more_records_than_a_list_has_tells_how_many(void **state)
{
	struct rdma_addrinfo *list;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n flood -i 0x200000 -c 4100"), 0);
	set_option(id, RAI_OPTION_DEADLINE_MS, 15000);
	ask(id, "flood", RAI_NOROUTE);
	list = resolved(id, &found);
	assert_int_equal(found, 4100);
	assert_int_equal(length(list), 4096);
	rdma_freeaddrinfo(list);
	assert_int_equal(rcm_fabric_records("hca1", "-d -n flood -i 0x200000 -c 4100"), 0);
}

static void test_resolve_service_that_is_unknown_is_enoent_and_the_id_goes_on(void **state)
{
	struct rdma_addrinfo *list = NULL;
	uint64_t found;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n known -i 0x4000"), 0);
	ask(id, "unknown", 0);
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENOENT);
	ask(id, "0xdead", 0);
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENOENT);
	assert_int_equal(rdma_query_addrinfo(id, &list), -1);
	assert_int_equal(errno, ENOENT);
	ask(id, "known", 0);
	list = resolved(id, &found);
	assert_int_equal(found, 1);
	rdma_freeaddrinfo(list);
}

static void test_resolve_failure_is_told_in_words(void **state)
{
	struct rdma_cm_event *event;
	char text[200];

	(void)state;
	ask(id, "unknown", 0);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_true(rai_event_text(event, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "unknown"));
	assert_non_null(strstr(text, "SA"));
	assert_int_equal(rdma_ack_cm_event(event), 0);
}

static void test_resolve_on_an_id_that_is_not_bound_is_refused(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct sockaddr_ib other = address_of(3);
	struct rdma_cm_id *loose;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &loose, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_resolve_addrinfo(loose, NULL, "x", &hints), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_bind_addr(loose, (struct sockaddr *)&other), -1);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(rdma_destroy_id(loose), 0);
}

static void test_resolve_while_the_sa_stands_still_waits_for_it(void **state)
{
	struct rdma_addrinfo *list;
	struct rai_stats stats;
	uint64_t found, before;
	int pid;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n patience -i 0x5000"), 0);
	assert_int_equal(rcm_fabric("sm pause"), 0);
	assert_int_equal(rai_get_stats(&stats, sizeof(stats)), 0);
	before = stats.sa_retries;
	set_option(id, RAI_OPTION_DEADLINE_MS, 15000);
	ask(id, "patience", 0);
	do {
		struct pollfd p = { .fd = channel->fd, .events = POLLIN };

		assert_int_equal(poll(&p, 1, 20), 0);
		assert_int_equal(rai_get_stats(&stats, sizeof(stats)), 0);
	} while (stats.sa_retries == before);
	pid = rcm_fabric_start("sm continue");
	list = resolved(id, &found);
	assert_int_equal(rcm_fabric_wait(pid), 0);
	assert_int_equal(found, 1);
	rdma_freeaddrinfo(list);
}

/* How late, in ms, the event of a question is that nobody answers. */
static double lateness(void *arg)
{
	unsigned deadline_ms = *(unsigned *)arg;
	double due = now_ms() + deadline_ms, late;

	set_option(id, RAI_OPTION_DEADLINE_MS, deadline_ms);
	ask(id, "silence", 0);
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	late = now_ms() - due;
	assert_true(late > -1);
	return late;
}

/* F31 */
static void test_resolve_with_a_silent_sa_is_etimedout_within_10_ms_of_the_deadline(void **state)
{
	static unsigned deadlines[] = { 20, 300, 1200 };

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	for (unsigned i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
		assert_true(least(lateness, &deadlines[i], RCM_FABRIC_LATE_MS) <= RCM_FABRIC_LATE_MS);
	assert_int_equal(rcm_fabric("sm continue"), 0);
}

/* F31: this program once more, with the deadline in its environment. */
static void test_resolve_takes_its_deadline_from_the_environment(void **state)
{
	char *argv[] = { "test_sa_resolve", "deadline", NULL };
	double start = now_ms();
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	assert_int_equal(setenv("RAI_DEADLINE_MS", "250", 1), 0);
	assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
	assert_int_equal(unsetenv("RAI_DEADLINE_MS"), 0);
	assert_int_equal(rcm_fabric_wait(pid), 0);
	assert_true(now_ms() - start >= 250);
	assert_int_equal(rcm_fabric("sm continue"), 0);
}

static int ask_until_the_deadline(void)
{
	struct rdma_cm_id *later;

	setup(NULL);
	later = bound_id(channel);
	set_option(later, RAI_OPTION_DEADLINE_MS, 2000);
	ask(later, "silence", 0);
	ask(id, "silence", 0);
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	expect(later, RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	assert_int_equal(rdma_destroy_id(later), 0);
	teardown(NULL);
	return 0;
}

static double cancelled_and_destroyed_ms(void *arg)
{
	double start;

	(void)arg;
	ask(id, "silence", 0);
	start = now_ms();
	assert_int_equal(rai_cancel(id), 0);
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ECANCELED);
	ask(id, "silence", 0);
	assert_int_equal(rdma_destroy_id(id), 0);
	start = now_ms() - start;
	id = bound_id(channel);
	return start;
}

/* F35, in part: neither call waits for the SA. */
static void test_resolve_destroyed_or_cancelled_under_way_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	assert_true(least(cancelled_and_destroyed_ms, NULL, 500) <= 500);
	assert_int_equal(rcm_fabric("sm continue"), 0);
}

static void test_resolve_asked_equally_by_many_ids_is_asked_once(void **state)
{
	enum { IDS = 50 };
	struct rdma_cm_id *ids[IDS];
	struct rai_stats before, after;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n common -i 0x6000"), 0);
	assert_int_equal(rcm_fabric("sm pause"), 0);
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	for (unsigned i = 0; i < IDS; i++) {
		ids[i] = bound_id(channel);
		set_option(ids[i], RAI_OPTION_DEADLINE_MS, 15000);
		ask(ids[i], "common", RAI_NOROUTE);
	}
	assert_int_equal(rcm_fabric("sm continue"), 0);
	for (unsigned i = 0; i < IDS; i++) {
		struct rdma_cm_event *event;

		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		assert_int_equal(event->status, 0);
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(after.shared - before.shared, IDS - 1);
	assert_int_equal(after.sa_queries - before.sa_queries - (after.sa_retries - before.sa_retries), 1);
	for (unsigned i = 0; i < IDS; i++)
		assert_int_equal(rdma_destroy_id(ids[i]), 0);
}

static void test_resolve_of_more_ids_than_the_window_all_end(void **state)
{
	enum { IDS = 60 };
	struct rdma_cm_id *ids[IDS];

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n window -i 0x7000 -c %d", IDS), 0);
	for (unsigned i = 0; i < IDS; i++) {
		char service[32];

		ids[i] = bound_id(channel);
		snprintf(service, sizeof(service), "0x%x", 0x7000 + i);
		ask(ids[i], service, 0);
	}
	for (unsigned i = 0; i < IDS; i++) {
		struct rdma_cm_event *event;

		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		assert_int_equal(event->status, 0);
		assert_int_equal(event->param.arg, 1);
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	for (unsigned i = 0; i < IDS; i++)
		assert_int_equal(rdma_destroy_id(ids[i]), 0);
}

static void test_resolve_while_the_sm_restarts_waits_for_it(void **state)
{
	struct rdma_addrinfo *list;
	uint64_t found;

	(void)state;
	set_option(id, RAI_OPTION_DEADLINE_MS, 15000);
	assert_int_equal(rcm_fabric("sm kill"), 0);
	ask(id, "restart", 0);
	assert_int_equal(rcm_fabric("sm start"), 0);
	/* Its records are gone with it: only now may "no such record" be said. */
	expect(id, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENOENT);
	assert_int_equal(rcm_fabric_records("hca3", "-n restart -i 0x8000"), 0);
	ask(id, "restart", 0);
	list = resolved(id, &found);
	assert_int_equal(found, 1);
	rdma_freeaddrinfo(list);
}

static void test_resolve_on_an_id_without_a_channel_waits_for_its_event(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;
	struct rdma_cm_id *sync = bound_id(NULL);

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n sync -i 0x9000"), 0);
	assert_int_equal(rdma_resolve_addrinfo(sync, NULL, "sync", &hints), 0);
	assert_int_equal(rdma_query_addrinfo(sync, &list), 0);
	assert_int_equal(length(list), 1);
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_resolve_addrinfo(sync, NULL, "unknown", &hints), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(rdma_destroy_id(sync), 0);
}

static void test_getaddrinfo_asks_the_sa_of_every_port(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n plain -i 0xa000 -c 2"), 0);
	assert_int_equal(rdma_getaddrinfo(NULL, "plain", &hints, &list), 0);
	assert_int_equal(length(list), 2);
	assert_non_null(list->ai_src_addr);
	rdma_freeaddrinfo(list);
	assert_int_not_equal(rdma_getaddrinfo(NULL, "unknown", &hints, &list), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_resolve_service_by_name_fills_every_field),
		TEST(test_resolve_service_by_id_in_every_notation_of_c),
		TEST(test_resolve_service_with_many_records_lists_them_all),
		TEST(test_resolve_service_on_several_hosts_has_a_route_to_each),
		TEST(test_resolve_service_with_more_records_than_a_list_has_tells_how_many),
		TEST(test_resolve_service_that_is_unknown_is_enoent_and_the_id_goes_on),
		TEST(test_resolve_failure_is_told_in_words),
		TEST(test_resolve_on_an_id_that_is_not_bound_is_refused),
		TEST(test_resolve_while_the_sa_stands_still_waits_for_it),
		TEST(test_resolve_with_a_silent_sa_is_etimedout_within_10_ms_of_the_deadline),
		TEST(test_resolve_takes_its_deadline_from_the_environment),
		TEST(test_resolve_destroyed_or_cancelled_under_way_does_not_wait),
		TEST(test_resolve_asked_equally_by_many_ids_is_asked_once),
		TEST(test_resolve_of_more_ids_than_the_window_all_end),
		TEST(test_resolve_on_an_id_without_a_channel_waits_for_its_event),
		TEST(test_getaddrinfo_asks_the_sa_of_every_port),
		TEST(test_resolve_while_the_sm_restarts_waits_for_it),
	};

	if (argc == 2 && !strcmp(argv[1], "deadline"))
		return ask_until_the_deadline();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
