/* SPDX-License-Identifier: BSD-2-Clause */
/* What the engine makes of SRV records: one lookup and one kept answer for all, an order for each. */
#include <errno.h>
#include <rdma/rai.h>
#include <stdatomic.h>
#include <stdio.h>

#include "addr/build.h"
#include "asker.h"
#include "base/clock.h"
#include "fake_dns.h"
#include "fake_time.h"
#include "resolve/engine.h"
#include "resolve/srv.h"
#include "test.h"

enum { MANY = 20 };

static struct rcm_asker askers[MANY];

/* As if by chance, but known. */
static atomic_ullong seed;

static struct rcm_dice dice(void)
{
	return (struct rcm_dice){ atomic_fetch_add(&seed, 1) };
}

static int setup(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	atomic_store(&seed, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		rcm_asker_done(&askers[i]);
	return rcm_fake_dns_under_way() != 0;
}

static struct rcm_question question(const char *owner)
{
	struct rcm_question q = rcm_question_name(owner);

	q.hints.flags = RAI_SRV;
	q.hints.family = AF_INET;
	return q;
}

/* The ports' last digits, in order; checks that each result is its record's. */
static unsigned order_of(unsigned asker)
{
	struct rcm_question q = question("");
	struct rdma_addrinfo *list;
	char target[8];
	unsigned order = 0;

	assert_int_equal(askers[asker].outcome.status, 0);
	assert_int_equal(rcm_answer_list(askers[asker].outcome.answer, &q.hints, 99, &list), 0);
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next) {
		const struct rcm_srv_rest *rest = rcm_addrinfo_srv(ai);
		const struct sockaddr_in *dst = (const void *)ai->ai_dst_addr;
		unsigned n = rest->port - 7000u;

		sprintf(target, "t%u", n);
		assert_string_equal(rest->target, target);
		assert_string_equal(ai->ai_dst_canonname, target);
		assert_int_equal(ntohs(dst->sin_port), rest->port);
		assert_int_equal(ntohl(dst->sin_addr.s_addr), 0x0a000000 + n);
		assert_int_equal(ai->ai_flags, RAI_SRV);
		order = order * 10 + n;
	}
	rdma_freeaddrinfo(list);
	return order;
}

static unsigned orders_seen(unsigned from, unsigned to)
{
	unsigned seen[MANY], count = 0;

	for (unsigned i = from; i < to; i++) {
		unsigned order = order_of(i), j = 0;

		while (j < count && seen[j] != order)
			j++;
		if (j == count)
			seen[count++] = order;
	}
	return count;
}

static void test_srv_answer_kept_has_another_order_each_time(void **state)
{
	struct rcm_question q = question("_a._tcp.a4.ttl60.example");
	unsigned orders[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(rcm_asker_ask(&askers[i], &q), 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	assert_true(orders_seen(0, MANY) > 5);
	/* The same numbers, the same orders. */
	for (unsigned i = 0; i < MANY; i++)
		orders[i] = order_of(i);
	atomic_store(&seed, 1);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(rcm_asker_ask(&askers[i], &q), 0);
		assert_int_equal(order_of(i), orders[i]);
	}
}

static void test_srv_answer_shared_has_an_order_for_each(void **state)
{
	struct rcm_question q = question("_a._tcp.a4.hold.example"), marker = rcm_question_name("marker.example");

	(void)state;
	for (unsigned i = 0; i < MANY - 1; i++)
		assert_int_equal(rcm_asker_start(&askers[i], &q), 0);
	assert_int_equal(rcm_asker_ask(&askers[MANY - 1], &marker), 0);
	rcm_fake_dns_release("_a._tcp.a4.hold.example");
	for (unsigned i = 0; i < MANY - 1; i++)
		assert_true(rcm_asker_wait(&askers[i]));
	assert_int_equal(rcm_fake_dns_started(), 2);
	assert_true(orders_seen(0, MANY - 1) > 5);
}

/* The same name's addresses are another question. */
static void test_srv_answer_is_no_address_of_its_name(void **state)
{
	struct rcm_question q = question("_a._tcp.a2.ttl60.example"), plain = rcm_question_name("_a._tcp.a2.ttl60.example");

	(void)state;
	plain.hints.family = AF_INET;
	assert_int_equal(rcm_asker_ask(&askers[0], &q), 0);
	assert_int_equal(rcm_asker_ask(&askers[1], &plain), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
	assert_int_equal(askers[1].outcome.answer->srvs_count, 0);
	/* A node that is a number is none here. */
	q.node = "10.0.0.1";
	assert_int_equal(rcm_asker_ask(&askers[2], &q), 0);
	assert_int_equal(rcm_fake_dns_started(), 3);
}

static void test_srv_answer_at_the_deadline_is_what_was_found(void **state)
{
	struct rcm_question q = question("_a._tcp.half.never.example");

	(void)state;
	q.deadline_ms = 20;
	rcm_fake_time_freeze();
	assert_int_equal(rcm_asker_start(&askers[0], &q), 0);
	rcm_fake_time_leap(RCM_NS_PER_S);
	assert_true(rcm_asker_wait(&askers[0]));
	rcm_fake_time_thaw();
	assert_int_equal(order_of(0), 1);
	assert_non_null(strstr(askers[0].outcome.text, "no address of 2 of its 3 targets"));
}

static void test_srv_answer_of_many_records_has_a_part_for_each(void **state)
{
	struct rcm_dns_srv *records = calloc(RCM_SRV_RECORDS_MAX, sizeof(*records));
	union rcm_dns_address *addresses = calloc(RCM_SRV_ADDRESSES_MAX, sizeof(*addresses));
	const struct rcm_dns_answer from = {
		.srv_count = RCM_SRV_RECORDS_MAX, .srv = records,
		.count = RCM_SRV_ADDRESSES_MAX, .addresses = addresses,
	};
	struct rcm_answer *answer;

	(void)state;
	assert_true(records && addresses);
	for (unsigned i = 0; i < RCM_SRV_ADDRESSES_MAX; i++)
		addresses[i].sa.sa_family = AF_INET;
	for (unsigned i = 0; i < RCM_SRV_RECORDS_MAX; i++)
		records[i] = (struct rcm_dns_srv){ .target = "t", .count = RCM_SRV_ADDRESSES_MAX };
	answer = rcm_srv_answer(&from);
	assert_int_equal(answer->status, 0);
	assert_int_equal(answer->count, RCM_RESULTS_MAX);
	assert_int_equal(answer->arg, RCM_SRV_RECORDS_MAX * RCM_SRV_ADDRESSES_MAX);
	assert_ptr_equal(answer->results[RCM_RESULTS_MAX - 1].srv, &answer->srvs[RCM_SRV_RECORDS_MAX - 1]);
	rcm_answer_put(answer);
	free(records);
	free(addresses);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_srv_answer_kept_has_another_order_each_time),
		T(test_srv_answer_shared_has_an_order_for_each),
		T(test_srv_answer_is_no_address_of_its_name),
		T(test_srv_answer_at_the_deadline_is_what_was_found),
		T(test_srv_answer_of_many_records_has_a_part_for_each),
	};

	rcm_fake_time_use();
	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns, .dice = dice });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
