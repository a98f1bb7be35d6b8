/* SPDX-License-Identifier: BSD-2-Clause */
/* Our SA client against OpenSM, as host hca2 of the fabric. */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "fabric.h"
#include "sa/sa.h"
#include "test.h"
#include "least.h"

static struct rcm_loop loop;
static struct rcm_sa *sa;
static struct rcm_gid own;

/* What a completion told. */
struct heard {
	unsigned calls, failed;
	int status;
	uint16_t mad_status;
	unsigned count, total;
	struct rcm_sa_service_record first, last;
	uint8_t path[64];
	char text[200];
};

static void hear(void *arg, const struct rcm_sa_answer *answer)
{
	struct heard *h = arg;

	h->calls++;
	h->failed += answer->status != 0;
	h->status = answer->status;
	h->mad_status = answer->mad_status;
	h->count = answer->count;
	h->total = answer->total;
	if (answer->services) {
		h->first = answer->services[0];
		h->last = answer->services[answer->count - 1];
	}
	if (answer->paths)
		memcpy(h->path, answer->paths[0], sizeof(h->path));
	if (answer->text)
		snprintf(h->text, sizeof(h->text), "%s", answer->text);
}

static uint64_t in_ms(unsigned ms)
{
	return rcm_clock_now() + ms * RCM_NS_PER_MS;
}

static void turn_until_heard(struct heard *h, unsigned calls)
{
	uint64_t give_up = in_ms(30000);

	while (h->calls < calls) {
		assert_true(rcm_clock_now() < give_up);
		assert_int_equal(rcm_loop_turn(&loop, 1000), 0);
	}
}

static struct rcm_sa_query *ask_name(const char *name, unsigned deadline_ms, struct heard *h)
{
	struct rcm_sa_service_query q = { .port = own, .by_name = true, .deadline = in_ms(deadline_ms) };
	struct rcm_sa_query *query;

	snprintf(q.service_name, sizeof(q.service_name), "%s", name);
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, h, &query), 0);
	return query;
}

static void ask_id(uint64_t id, struct heard *h)
{
	struct rcm_sa_service_query q = { .port = own, .by_id = true, .service_id = id, .deadline = in_ms(4000) };
	struct rcm_sa_query *query;

	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, h, &query), 0);
}

static void ask_path(unsigned host, struct heard *h)
{
	struct rcm_sa_path_query q = { .port = own, .pkey = 0xffff, .deadline = in_ms(4000) };
	struct rcm_sa_query *query;

	rcm_fabric_gid(host, q.dgid.raw);
	assert_int_equal(rcm_sa_umad.path(sa, &q, hear, h, &query), 0);
}

static int setup(void **state)
{
	(void)state;
	rcm_fabric_gid(2, own.raw);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_sa_umad.open(&loop, &sa), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sa_umad.close(sa);
	rcm_loop_done(&loop);
	return 0;
}

static void test_sa_port_list_has_the_hosts_port(void **state)
{
	struct rcm_sa_port ports[4], found;

	(void)state;
	assert_int_equal(rcm_sa_ports(ports, 4), 1);
	assert_string_equal(ports[0].device, "ibsim0");
	assert_int_equal(ports[0].number, 1);
	assert_true(ports[0].infiniband && ports[0].active);
	assert_memory_equal(&ports[0].gid, &own, sizeof(own));
	assert_int_equal(rcm_sa_port_by_gid(&own, &found), 0);
	assert_string_equal(found.device, "ibsim0");
	assert_int_equal(rcm_sa_umad_usable(&own), 0);
}

static void test_sa_port_of_another_host_is_enodev(void **state)
{
	struct rcm_sa_service_query q = { .by_id = true, .service_id = 1 };
	struct rcm_sa_query *query;
	struct rcm_sa_port found;
	struct heard h = { 0 };

	(void)state;
	rcm_fabric_gid(3, q.port.raw);
	assert_int_equal(rcm_sa_port_by_gid(&q.port, &found), -ENODEV);
	assert_int_equal(rcm_sa_umad_usable(&q.port), -ENODEV);
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), -ENODEV);
}

/* F29: nothing but the SA is asked, and each field comes through whole. */
static void test_sa_service_by_name_gives_the_whole_record(void **state)
{
	struct rcm_gid gid;
	struct heard h = { 0 };

	(void)state;
	rcm_fabric_gid(3, gid.raw);
	assert_int_equal(rcm_fabric_records("hca3", "-n by-name -i 0x1000000000000042 -l 600"), 0);
	ask_name("by-name", 4000, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
	assert_int_equal(h.total, 1);
	assert_int_equal(h.first.id, 0x1000000000000042);
	assert_memory_equal(&h.first.gid, &gid, sizeof(gid));
	assert_int_equal(h.first.pkey, 0xffff);
	assert_int_equal(h.first.lease, 600);
	assert_string_equal(h.first.name, "by-name");
}

static void test_sa_service_by_id_gives_its_record(void **state)
{
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n by-id -i 0x2000"), 0);
	ask_id(0x2000, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
	assert_string_equal(h.first.name, "by-id");
}

static void test_sa_service_by_name_and_id_needs_both(void **state)
{
	struct rcm_sa_service_query q = { .port = own, .by_id = true, .by_name = true, .service_id = 0x3000,
					  .service_name = "both", .deadline = in_ms(4000) };
	struct rcm_sa_query *query;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n both -i 0x3000 -c 2"), 0);
	assert_int_equal(rcm_sa_umad.service(sa, &q, hear, &h, &query), 0);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
	assert_int_equal(h.first.id, 0x3000);
}

static void test_sa_service_with_many_records_gives_all_of_them(void **state)
{
	static const unsigned counts[] = { 1, 2, 3, 50, 500 };

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct heard h = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "many-%u", counts[i]);
		assert_int_equal(rcm_fabric_records("hca1", "-n %s -i 0x100000 -c %u", name, counts[i]), 0);
		ask_name(name, 4000, &h);
		turn_until_heard(&h, 1);
		assert_int_equal(h.status, 0);
		assert_int_equal(h.count, counts[i]);
		assert_int_equal(h.total, counts[i]);
		/* OpenSM tells the newest first. */
		assert_int_equal(h.first.id, 0x100000 + counts[i] - 1);
		assert_int_equal(h.last.id, 0x100000);
		assert_int_equal(rcm_fabric_records("hca1", "-d -n %s -i 0x100000 -c %u", name, counts[i]), 0);
	}
}

static void test_sa_service_with_more_records_than_a_list_has_tells_the_total(void **state)
{
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n flood -i 0x200000 -c 4100"), 0);
	ask_name("flood", 10000, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 4096);
	assert_int_equal(h.total, 4100);
	assert_int_equal(rcm_fabric_records("hca1", "-d -n flood -i 0x200000 -c 4100"), 0);
}

static void test_sa_service_that_is_unknown_is_enoent(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_name("nobody", 4000, &h);
	ask_id(0xdead, &h);
	turn_until_heard(&h, 2);
	assert_int_equal(h.status, -ENOENT);
	assert_string_not_equal(h.text, "");
}

static void test_sa_path_leads_to_the_port(void **state)
{
	struct rcm_gid gid;
	struct heard h = { 0 };

	(void)state;
	rcm_fabric_gid(3, gid.raw);
	ask_path(3, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
	assert_memory_equal(h.path + 8, &gid, sizeof(gid));
	assert_memory_equal(h.path + 24, &own, sizeof(own));
	assert_true(h.path[40] || h.path[41]);
}

static void test_sa_path_to_a_gid_that_is_unknown_is_enoent(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_path(77, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, -ENOENT);
}

static void test_sa_questions_beyond_the_window_are_all_answered(void **state)
{
	struct heard h = { 0 };
	struct rcm_sa_stats stats;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		ask_path(1 + i % 3, &h);
	turn_until_heard(&h, 200);
	assert_int_equal(h.status, 0);
	rcm_sa_umad.stats(sa, &stats);
	assert_int_equal(stats.queries, 200);
	assert_int_equal(stats.retries, 0);
}

static void test_sa_that_stands_still_for_a_while_is_asked_again(void **state)
{
	struct rcm_sa_stats stats;
	struct heard h = { 0 };
	int pid;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n pause -i 0x4000"), 0);
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_name("pause", 15000, &h);
	do {
		assert_int_equal(rcm_loop_turn(&loop, 1000), 0);
		rcm_sa_umad.stats(sa, &stats);
	} while (!stats.retries);
	assert_int_equal(h.calls, 0);
	pid = rcm_fabric_start("sm continue");
	turn_until_heard(&h, 1);
	assert_int_equal(rcm_fabric_wait(pid), 0);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 1);
}

/* How late, in ms, a question that nobody answers fails. */
static double lateness(void *arg)
{
	unsigned deadline_ms = *(unsigned *)arg;
	uint64_t due = in_ms(deadline_ms), now;
	struct heard h = { 0 };

	ask_name("silent", deadline_ms, &h);
	turn_until_heard(&h, 1);
	now = rcm_clock_now();
	assert_int_equal(h.status, -ETIMEDOUT);
	assert_true(now >= due);
	return (double)(now - due) / RCM_NS_PER_MS;
}

/* F31: the deadline is the caller's, and kept within 10 ms; silence is no "no". */
static void test_sa_that_is_silent_is_etimedout_at_each_deadline(void **state)
{
	static unsigned deadlines[] = { 1, 50, 700, 1500 };

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	for (unsigned i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
		assert_true(least(lateness, &deadlines[i], RCM_FABRIC_LATE_MS) <= RCM_FABRIC_LATE_MS);
	assert_int_equal(rcm_fabric("sm continue"), 0);
}

static void test_sa_that_restarts_is_asked_again(void **state)
{
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric("sm kill"), 0);
	ask_path(3, &h);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(rcm_fabric("sm start"), 0);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
}

/* Until the host's port is, or is not, active. */
static void await_port(bool active)
{
	uint64_t give_up = in_ms(10000);
	struct rcm_sa_port port;

	do {
		assert_true(rcm_clock_now() < give_up);
		assert_int_equal(rcm_loop_turn(&loop, 10), 0);
		assert_int_equal(rcm_sa_ports(&port, 1), 1);
	} while (port.active != active);
}

static void test_sa_port_that_goes_down_during_a_question_is_enetdown(void **state)
{
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_path(3, &h);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
	assert_int_equal(rcm_fabric("link down hca2"), 0);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, -ENETDOWN);
	assert_int_equal(rcm_fabric("link up hca2"), 0);
	assert_int_equal(rcm_fabric("sm continue"), 0);
	await_port(true);
	ask_path(3, &h);
	turn_until_heard(&h, 2);
	assert_int_equal(h.status, 0);
}

/* F28, the looking up: the standby becomes master at another LID while the question is under way. */
static void test_sa_that_is_taken_over_is_asked_at_its_new_place(void **state)
{
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric("sm start hca3"), 0);
	assert_int_equal(rcm_fabric("sm kill hca1"), 0);
	ask_path(3, &h);
	turn_until_heard(&h, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(rcm_fabric("sm start hca1"), 0);
	assert_int_equal(rcm_fabric("sm stop hca3"), 0);
}

static void ask_many(unsigned count, unsigned deadline_ms, struct heard *h)
{
	for (unsigned i = 0; i < count; i++)
		ask_name("stormy", deadline_ms, h);
	turn_until_heard(h, count);
}

/* F25: MADs get lost when everybody asks at once. */
static void test_sa_that_loses_every_tenth_mad_answers_all_the_same(void **state)
{
	struct rcm_sa_stats stats;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n stormy -i 0x5000 -c 3"), 0);
	rcm_fabric_faults(10, 0);
	ask_many(60, 18000, &h);
	rcm_fabric_faults(0, 0);
	assert_int_equal(h.failed, 0);
	assert_int_equal(h.count, 3);
	rcm_sa_umad.stats(sa, &stats);
	assert_true(stats.retries > 3);
}

/* F25: an SA that is busy half of the time. */
static void test_sa_that_is_often_busy_answers_all_the_same(void **state)
{
	struct rcm_sa_stats stats;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_fabric_records("hca3", "-n stormy -i 0x5000 -c 3"), 0);
	rcm_fabric_faults(0, 50);
	ask_many(60, 15000, &h);
	rcm_fabric_faults(0, 0);
	assert_int_equal(h.failed, 0);
	rcm_sa_umad.stats(sa, &stats);
	assert_true(stats.retries > 20);
}

static void test_sa_that_is_always_busy_is_ebusy(void **state)
{
	struct heard h = { 0 };

	(void)state;
	rcm_fabric_faults(0, 100);
	ask_name("stormy", 800, &h);
	turn_until_heard(&h, 1);
	rcm_fabric_faults(0, 0);
	assert_int_equal(h.status, -EBUSY);
	assert_int_equal(h.mad_status, 0x0001);
}

static void test_sa_query_that_is_cancelled_is_not_heard_of(void **state)
{
	struct heard gone = { 0 }, kept = { 0 };
	struct rcm_sa_query *query;

	(void)state;
	query = ask_name("nobody", 4000, &gone);
	ask_path(3, &kept);
	rcm_sa_umad.cancel(sa, query);
	turn_until_heard(&kept, 1);
	assert_int_equal(kept.status, 0);
	assert_int_equal(gone.calls, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sa_port_list_has_the_hosts_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_port_of_another_host_is_enodev, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_service_by_name_gives_the_whole_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_service_by_id_gives_its_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_service_by_name_and_id_needs_both, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_service_with_many_records_gives_all_of_them, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_sa_service_with_more_records_than_a_list_has_tells_the_total, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_service_that_is_unknown_is_enoent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_path_leads_to_the_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_path_to_a_gid_that_is_unknown_is_enoent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_questions_beyond_the_window_are_all_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_stands_still_for_a_while_is_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_is_silent_is_etimedout_at_each_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_port_that_goes_down_during_a_question_is_enetdown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_loses_every_tenth_mad_answers_all_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_is_often_busy_answers_all_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_is_always_busy_is_ebusy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_query_that_is_cancelled_is_not_heard_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_restarts_is_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa_that_is_taken_over_is_asked_at_its_new_place, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
