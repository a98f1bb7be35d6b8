/* SPDX-License-Identifier: BSD-2-Clause */
/* The nth allocation of a resolution fails, for every n: it is refused or ends once, and nothing leaks. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "addr/build.h"
#include "asker.h"
#include "fake_dns.h"
#include "fake_malloc.h"
#include "fake_sa.h"
#include "resolve/engine.h"
#include "test.h"

static const struct rcm_fake_sa_step *script;
static unsigned script_len;

/* Asks with the nth allocation failing. True where none failed: there are fewer than n. */
static bool asked_without_failure(struct rcm_question *q, unsigned nth, int good)
{
	struct rcm_asker asker = { 0 };
	struct rdma_addrinfo *list = NULL;
	int ret, listed = 0;
	bool failed;

	rcm_fake_sa_script(script, script_len);
	rcm_fake_malloc_fail(nth);
	ret = rcm_asker_start(&asker, q);
	if (!ret) {
		assert_true(rcm_asker_wait(&asker));
		if (!asker.outcome.status && asker.outcome.answer->count)
			listed = rcm_answer_list(asker.outcome.answer, &q->hints, 0, &list);
	}
	failed = rcm_fake_malloc_calm();
	assert_true(!ret || ret == -ENOMEM);
	assert_int_equal(rcm_asker_times(&asker), !ret);
	assert_true(!listed || listed == -ENOMEM);
	if (!ret)
		assert_true(asker.outcome.status == good || asker.outcome.status == -ENOMEM);
	if (!failed)
		assert_true(!ret && asker.outcome.status == good && !listed);
	rcm_addrinfo_free(list);
	rcm_asker_done(&asker);
	return !failed;
}

static void for_each_allocation(struct rcm_question *q, const char *node_format, int good)
{
	char node[64];
	unsigned nth = 1;
	bool done;

	do {
		snprintf(node, sizeof(node), node_format ? node_format : "%u", nth);
		if (node_format)
			q->node = node;
		done = asked_without_failure(q, nth++, good);
		assert_true(nth < 1000);
	} while (!done);
	/* A resolution has more than the request itself. */
	assert_true(nth > 3);
	assert_int_equal(rcm_fake_dns_under_way(), 0);
}

static void test_nomem_name_is_refused_or_ends_once(void **state)
{
	struct rcm_question q = rcm_question_name(NULL);

	(void)state;
	q.service = "http";
	for_each_allocation(&q, "n%u.a9.ttl60.example", 0);
}

static void test_nomem_name_that_fails_is_refused_or_ends_once(void **state)
{
	struct rcm_question q = rcm_question_name(NULL);

	(void)state;
	for_each_allocation(&q, "n%u.e2.example", -ENOENT);
}

static void test_nomem_number_is_refused_or_ends_once(void **state)
{
	struct rcm_question q = rcm_question_name("192.0.2.1");

	(void)state;
	for_each_allocation(&q, NULL, 0);
	q.node = NULL;
	for_each_allocation(&q, NULL, 0);
}

/* A route that could not be asked for is left out, as any that can't be had. */
static void test_nomem_service_is_refused_or_ends_once(void **state)
{
	static const struct rcm_fake_sa_step steps[] = {
		{ .port = 1, .name = "storage", .count = 2, .total = 2, .services = {
			{ .gid = { { [15] = 5 } }, .pkey = 1, .id = 1 },
			{ .gid = { { [15] = 6 } }, .pkey = 1, .id = 2 } } },
		{ .path = true, .port = 1, .dgid = 5, .pkey = 1, .slid = 50 },
		{ .path = true, .port = 1, .dgid = 6, .pkey = 1, .slid = 60 },
	};
	struct rcm_question q = {
		.service = "storage", .hints.flags = RAI_SA, .port = rcm_fake_sa_gid(1),
		.deadline_ms = RCM_DEADLINE_DEFAULT,
	};

	(void)state;
	script = steps;
	script_len = 3;
	for_each_allocation(&q, NULL, 0);
	script = NULL;
	script_len = 0;
}

static void test_nomem_srv_records_are_refused_or_end_once(void **state)
{
	struct rcm_question q = rcm_question_name(NULL);

	(void)state;
	q.hints.flags = RAI_SRV;
	q.hints.family = AF_INET;
	for_each_allocation(&q, "n%u.a3.ttl60.srv.example", 0);
	/* Kept. */
	for_each_allocation(&q, "n.a3.ttl60.srv.example", 0);
}

static void test_nomem_removal_of_a_record_is_refused_or_ends_once(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { { .remove = true, .port = 1, .gid = 5, .id = 7, .pkey = 0x8001 } };
	const struct rcm_listing listing = {
		.remove = true, .by_gid = true, .gid = rcm_fake_sa_gid(5), .by_pkey = true, .pkey = 0x8001,
	};
	struct rcm_question q = {
		.hints = { .flags = RAI_SA | RAI_NOROUTE, .listing = true, .by_id = true, .service_id = 7 },
		.port = rcm_fake_sa_gid(1), .listing = &listing, .deadline_ms = RCM_DEADLINE_DEFAULT,
	};

	(void)state;
	script = steps;
	script_len = 1;
	for_each_allocation(&q, NULL, 0);
	script = NULL;
	script_len = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nomem_service_is_refused_or_ends_once),
		cmocka_unit_test(test_nomem_name_is_refused_or_ends_once),
		cmocka_unit_test(test_nomem_name_that_fails_is_refused_or_ends_once),
		cmocka_unit_test(test_nomem_number_is_refused_or_ends_once),
		cmocka_unit_test(test_nomem_srv_records_are_refused_or_end_once),
		cmocka_unit_test(test_nomem_removal_of_a_record_is_refused_or_ends_once),
	};

	rcm_engine_use(&(struct rcm_backends){ &rcm_fake_dns, &rcm_fake_sa, rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
