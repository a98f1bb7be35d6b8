/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths to many records of one service: one question for all, and singly for what it leaves open. */
#include <errno.h>

#include "addr/build.h"
#include "asker.h"
#include "fake_sa.h"
#include "resolve/engine.h"
#include "test.h"

enum { MANY = 70 };

static struct rcm_asker asker;
static struct rdma_addrinfo *list;
static struct rcm_question question;
static struct rcm_sa_service_record many[MANY];
static uint8_t paths[MANY][64];
static struct rcm_fake_sa_step steps[2 + MANY];

#define ALL .path = true, .port = 1, .to_all = true, .pkey = 0x8001, .id = 7

static int setup(void **state)
{
	(void)state;
	question = (struct rcm_question){
		.service = "storage", .hints.flags = RAI_SA, .port = rcm_fake_sa_gid(1),
		.deadline_ms = RCM_DEADLINE_DEFAULT,
	};
	rcm_engine_the()->sa_hosts = 0;
	for (uint8_t i = 0; i < MANY; i++) {
		many[i] = (struct rcm_sa_service_record){ .gid = rcm_fake_sa_gid(20 + i), .pkey = 0x8001, .id = 7,
							  .name = "storage" };
		/* The last comes first. */
		memset(paths[MANY - 1 - i], 0, 64);
		memcpy(&paths[MANY - 1 - i][8], many[i].gid.raw, 16);
		paths[MANY - 1 - i][43] = 20 + i;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_addrinfo_free(list);
	list = NULL;
	return !rcm_fake_sa_verify();
}

/* The records, so many of them; all paths but those to the first of them; and those singly. */
static void script(unsigned count, struct rcm_fake_sa_step all, unsigned singly)
{
	steps[0] = (struct rcm_fake_sa_step){
		.port = 1, .name = "storage", .count = count, .total = count, .many = many,
	};
	steps[1] = all;
	for (uint8_t i = 0; i < singly; i++)
		steps[2 + i] = (struct rcm_fake_sa_step){ .path = true, .port = 1, .dgid = 20 + i, .pkey = 0x8001,
							  .id = 7, .slid = 20 + i };
	rcm_fake_sa_script(steps, 2 + singly);
}

/* Each entry has its own path, and none is left out. */
static void assert_all_have_paths(unsigned count)
{
	const struct rdma_addrinfo *ai;
	unsigned seen = 0;

	assert_int_equal(rcm_asker_ask(&asker, &question), 0);
	assert_int_equal(rcm_answer_list(asker.outcome.answer, &question.hints, asker.outcome.port, &list), 0);
	for (ai = list; ai; ai = ai->ai_next, seen++) {
		const struct sockaddr_ib *dst = (const struct sockaddr_ib *)ai->ai_dst_addr;
		const struct ibv_path_data *route = ai->ai_route;

		assert_int_equal(ai->ai_route_len, sizeof(*route));
		assert_int_equal(be16toh(route->path.slid), dst->sib_addr.sib_raw[15]);
	}
	assert_int_equal(seen, count);
}

static void test_paths_to_many_are_one_question(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .count = MANY, .paths = paths }, 0);
	assert_all_have_paths(MANY);
}

static void test_paths_that_the_answer_for_all_misses_are_asked_for_singly(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .count = MANY - 3, .paths = paths }, 3);
	assert_all_have_paths(MANY);
}

static void test_paths_of_an_sa_that_refuses_all_are_asked_for_singly(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .status = -EIO }, MANY);
	assert_all_have_paths(MANY);
}

static void test_paths_of_a_client_that_cannot_ask_for_all_are_asked_for_singly(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .start = -EOPNOTSUPP }, MANY);
	assert_all_have_paths(MANY);
}

/* A record of another service is none of those. */
static void test_paths_to_records_of_another_id_are_asked_for_by_that(void **state)
{
	(void)state;
	many[0].id = 8;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .count = MANY, .paths = paths }, 1);
	steps[2].id = 8;
	many[MANY - 1].id = 8;
	steps[3] = steps[2];
	steps[3].dgid = steps[3].slid = 20 + MANY - 1;
	rcm_fake_sa_script(steps, 4);
	assert_all_have_paths(MANY);
}

static void test_paths_to_a_few_are_asked_for_singly(void **state)
{
	(void)state;
	script(63, (struct rcm_fake_sa_step){ 0 }, 63);
	memmove(&steps[1], &steps[2], 63 * sizeof(*steps));
	rcm_fake_sa_script(steps, 64);
	assert_all_have_paths(63);
}

/* Once an answer had four times what was wanted. */
static void test_paths_to_few_of_many_hosts_are_asked_for_singly(void **state)
{
	static uint8_t hosts[300][64];

	(void)state;
	memcpy(hosts, paths, sizeof(paths));
	script(MANY, (struct rcm_fake_sa_step){ ALL, .count = 300, .paths = hosts }, 0);
	assert_all_have_paths(MANY);
	teardown(NULL);
	script(MANY, (struct rcm_fake_sa_step){ 0 }, MANY);
	memmove(&steps[1], &steps[2], MANY * sizeof(*steps));
	rcm_fake_sa_script(steps, 1 + MANY);
	assert_all_have_paths(MANY);
}

/* It would be as large the next time. */
static void test_paths_that_are_too_many_for_an_answer_are_not_asked_for_so_again(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .status = -EIO, .too_large = true }, MANY);
	assert_all_have_paths(MANY);
	rcm_asker_done(&asker);
	rcm_addrinfo_free(list);
	script(MANY, (struct rcm_fake_sa_step){ 0 }, MANY);
	memmove(&steps[1], &steps[2], MANY * sizeof(*steps));
	rcm_fake_sa_script(steps, 1 + MANY);
	assert_all_have_paths(MANY);
}

/* Half of the time is left for asking singly; what comes then comes with what was had. */
static void test_paths_that_nobody_tells_leave_time_to_ask_singly(void **state)
{
	(void)state;
	question.deadline_ms = 400;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .ms = 200, .status = -ETIMEDOUT, .late = true }, MANY);
	assert_all_have_paths(MANY);
}

static void test_paths_that_are_awaited_are_cancelled_with_their_question(void **state)
{
	(void)state;
	script(MANY, (struct rcm_fake_sa_step){ ALL, .ms = RCM_FAKE_SA_NEVER }, 0);
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	rcm_fake_sa_wait_asked(2);
	rcm_request_cancel(asker.request);
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(rcm_fake_sa_cancelled(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_paths_to_many_are_one_question),
		TEST(test_paths_that_the_answer_for_all_misses_are_asked_for_singly),
		TEST(test_paths_of_an_sa_that_refuses_all_are_asked_for_singly),
		TEST(test_paths_of_a_client_that_cannot_ask_for_all_are_asked_for_singly),
		TEST(test_paths_to_records_of_another_id_are_asked_for_by_that),
		TEST(test_paths_to_a_few_are_asked_for_singly),
		TEST(test_paths_that_are_too_many_for_an_answer_are_not_asked_for_so_again),
		TEST(test_paths_that_nobody_tells_leave_time_to_ask_singly),
		TEST(test_paths_that_are_awaited_are_cancelled_with_their_question),
		TEST(test_paths_to_few_of_many_hosts_are_asked_for_singly),
	};

	rcm_engine_use(&(struct rcm_backends){ .sa = &rcm_fake_sa, .sa_ports = rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
